//! The camera thread: draws frames of the world and publishes them with what the simulated detector sees in them.

use super::judge::{CameraFault, DepthFault, DetectorFault, Faults, FrameFault, InfoFault};
use prehend_convert::{color_image_to_msg, depth_image_to_msg, header, intrinsics_to_msg, u16_image_to_msg};
use prehend_geometry::DepthImage;
use prehend_msgs::sensor_msgs::msg::{CameraInfo, Image};
use prehend_msgs::vision_msgs::msg::{
    BoundingBox2D, Detection2D, Detection2DArray, ObjectHypothesis, ObjectHypothesisWithPose, Point2D, Pose2D,
};
use prehend_robots::RobotConfig;
use prehend_ros::{Node, Publisher, QosProfile, RosError};
use prehend_sim::body::Frame;
use prehend_sim::sensors::{Capture, Detections, Detector, RgbdCamera, Stage};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// A moment to draw.
#[derive(Clone, Debug)]
pub(super) struct FrameToDraw {
    pub(super) frame: Frame,
    /// Number of the frame since the start; noise is a function of it.
    pub(super) number: u64,
    pub(super) faults: Faults,
}

#[derive(Debug, Default)]
struct Slot {
    frame: Option<FrameToDraw>,
    closed: bool,
}

/// Room for the newest frame: a camera that is too slow leaves frames out, as a real one does.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameSlot {
    shared: Arc<(Mutex<Slot>, Condvar)>,
}

impl FrameSlot {
    pub(super) fn put(&self, frame: FrameToDraw) {
        let (slot, filled) = &*self.shared;
        slot.lock().unwrap_or_else(PoisonError::into_inner).frame = Some(frame);
        filled.notify_one();
    }

    pub(super) fn close(&self) {
        let (slot, filled) = &*self.shared;
        slot.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        filled.notify_all();
    }

    /// Waits for a frame; `None` when closed.
    fn take(&self) -> Option<FrameToDraw> {
        let (slot, filled) = &*self.shared;
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if slot.closed {
                return None;
            }
            if let Some(frame) = slot.frame.take() {
                return Some(frame);
            }
            slot = filled.wait(slot).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The simulated detectors.
pub(super) struct Detectors {
    pub(super) objects: Detector,
    /// Finds handles, knobs and buttons.
    pub(super) parts: Detector,
}

/// Topics of one detector.
struct DetectorPublishers {
    labels: Publisher<Image>,
    detections: Publisher<Detection2DArray>,
}

impl DetectorPublishers {
    fn create(node: &Node, labels: &str, detections: &str, qos: QosProfile) -> Result<Self, RosError> {
        Ok(Self {
            labels: node.create_publisher(labels, qos)?,
            detections: node.create_publisher(detections, qos)?,
        })
    }

    fn publish(
        &self,
        found: &Detections,
        fault: DetectorFault,
        frame_id: &str,
        at: f64,
    ) -> Result<(), RosError> {
        let (width, height) = (found.labels.width, found.labels.height);
        let mut labels = u16_image_to_msg(&found.labels.labels, width, height, frame_id, at);
        let mut items: Vec<Detection2D> = found
            .items
            .iter()
            .enumerate()
            .map(|(index, item)| detection(index + 1, &item.class_name, item.score, item.bbox, frame_id, at))
            .collect();
        match fault {
            DetectorFault::Ok | DetectorFault::Silent => {}
            DetectorFault::Garbage => {
                labels.data.truncate(labels.data.len() / 2);
                items.push(detection(9999, "", f64::NAN, [0, 0, 0, 0], frame_id, at));
            }
            DetectorFault::Empty => labels.data.fill(0),
            DetectorFault::Small => {
                let small = halved(&found.labels.labels, width, height);
                labels = u16_image_to_msg(&small, width / 2, height / 2, frame_id, at);
            }
            DetectorFault::Names => {
                let names = ["\u{1b}[2Jred block\u{0}".to_owned(), "plate ".repeat(5_000), String::new()];
                for (item, name) in items.iter_mut().zip(names.iter().cycle()) {
                    item.results.iter_mut().for_each(|r| r.hypothesis.class_id.clone_from(name));
                }
            }
        }
        self.labels.publish(&labels)?;
        self.detections.publish(&Detection2DArray { header: header(frame_id, at), detections: items })
    }
}

/// The camera with its detectors and their topics.
pub(super) struct Camera {
    pub(super) camera: RgbdCamera,
    pub(super) detectors: Detectors,
    pub(super) stage: Arc<Stage>,
    frame_id: String,
    color: Publisher<Image>,
    depth: Publisher<Image>,
    info: Publisher<CameraInfo>,
    objects: DetectorPublishers,
    parts: Option<DetectorPublishers>,
}

impl Camera {
    pub(super) fn create(
        node: &Node,
        robot: &RobotConfig,
        camera: RgbdCamera,
        detectors: Detectors,
        stage: Arc<Stage>,
    ) -> Result<Self, RosError> {
        // Reliable, so that a subscriber of either kind matches; shallow, so that nobody lags behind.
        let qos = QosProfile::default().depth(2);
        Ok(Self {
            camera,
            detectors,
            stage,
            frame_id: robot.frames.camera.clone(),
            color: node.create_publisher(&robot.camera.color, qos)?,
            depth: node.create_publisher(&robot.camera.depth, qos)?,
            info: node.create_publisher(&robot.camera.info, qos)?,
            objects: DetectorPublishers::create(
                node,
                &robot.detector.label_image,
                &robot.detector.detections,
                qos,
            )?,
            parts: match &robot.detector.parts {
                Some(topics) => {
                    Some(DetectorPublishers::create(node, &topics.label_image, &topics.detections, qos)?)
                }
                None => None,
            },
        })
    }

    /// Draws and publishes until the slot is closed.
    pub(super) fn run(mut self, frames: &FrameSlot) {
        while let Some(moment) = frames.take() {
            if moment.faults.camera == CameraFault::Silent {
                continue;
            }
            let pose = moment.frame.base_from_camera;
            let drawn = self.stage.drawables(&moment.frame).map_err(|error| error.to_string()).and_then(
                |drawables| {
                    let capture = self.camera.capture(&pose, &drawables, moment.number);
                    capture.map_err(|error| error.to_string())
                },
            );
            match drawn {
                Ok(capture) => {
                    if let Err(error) = self.publish(&capture, &moment) {
                        tracing::debug!("frame not sent: {error}");
                    }
                }
                Err(error) => tracing::warn!("frame not drawn: {error}"),
            }
        }
    }

    fn publish(&self, capture: &Capture, moment: &FrameToDraw) -> Result<(), RosError> {
        let at = moment.frame.time;
        let frame_id = match moment.faults.frame {
            FrameFault::Ok => self.frame_id.as_str(),
            FrameFault::Unknown => "a_frame_nobody_knows",
        };
        let (pose, number) = (&moment.frame.base_from_camera, moment.number);
        let objects = self.detectors.objects.detect(capture, pose, number);
        let depth = match moment.faults.depth {
            DepthFault::Ok => depth_image_to_msg(&capture.depth, frame_id, at),
            DepthFault::Unaligned => depth_image_to_msg(&capture.depth, "camera_depth_optical_frame", at),
            DepthFault::Zero => {
                let nothing = DepthImage {
                    millimetres: vec![0; capture.depth.millimetres.len()],
                    ..capture.depth.clone()
                };
                depth_image_to_msg(&nothing, frame_id, at)
            }
            DepthFault::Holes => {
                let mut holes = capture.depth.clone();
                for (depth, label) in holes.millimetres.iter_mut().zip(&objects.labels.labels) {
                    *depth = if *label == 0 { *depth } else { 0 };
                }
                depth_image_to_msg(&holes, frame_id, at)
            }
            DepthFault::Small => {
                let (width, height) = (capture.depth.width, capture.depth.height);
                let millimetres = halved(&capture.depth.millimetres, width, height);
                let small = DepthImage { width: width / 2, height: height / 2, millimetres };
                depth_image_to_msg(&small, frame_id, at)
            }
            DepthFault::Nan => {
                let (width, height) = (capture.depth.width as u32, capture.depth.height as u32);
                let nan = f32::NAN.to_le_bytes().repeat(capture.depth.millimetres.len());
                Image {
                    header: header(frame_id, at),
                    width,
                    height,
                    step: 4 * width,
                    encoding: "32FC1".to_owned(),
                    data: nan,
                    ..Default::default()
                }
            }
        };
        let mut info = intrinsics_to_msg(&self.camera.intrinsics(), frame_id, at);
        if moment.faults.info == InfoFault::Zero {
            info.k.fill(0.0);
            info.p.fill(0.0);
            (info.width, info.height) = (0, 0);
        }
        self.info.publish(&info)?;
        let fault = moment.faults.detector;
        if fault != DetectorFault::Silent {
            // Parts come first: who waits for the objects has the parts.
            if let Some(publishers) = &self.parts {
                let found = self.detectors.parts.detect_parts(capture, pose, number);
                publishers.publish(&found, fault, frame_id, at)?;
            }
            self.objects.publish(&objects, fault, frame_id, at)?;
        }
        self.depth.publish(&depth)?;
        // Colour comes last: who waits for it has the rest.
        self.color.publish(&color_image_to_msg(&capture.color, frame_id, at))
    }
}

/// Every second pixel of every second row.
fn halved<T: Copy>(pixels: &[T], width: usize, height: usize) -> Vec<T> {
    let rows = pixels.chunks(width.max(1)).step_by(2).take(height / 2);
    rows.flat_map(|row| row.iter().copied().step_by(2).take(width / 2)).collect()
}

fn detection(
    number: usize,
    class: &str,
    score: f64,
    bbox: [usize; 4],
    frame_id: &str,
    at: f64,
) -> Detection2D {
    let [x, y, width, height] = bbox.map(|pixels| pixels as f64);
    Detection2D {
        header: header(frame_id, at),
        results: vec![ObjectHypothesisWithPose {
            hypothesis: ObjectHypothesis { class_id: class.to_owned(), score },
            ..Default::default()
        }],
        bbox: BoundingBox2D {
            center: Pose2D {
                position: Point2D { x: x + (width - 1.0) / 2.0, y: y + (height - 1.0) / 2.0 },
                theta: 0.0,
            },
            size_x: width,
            size_y: height,
        },
        id: number.to_string(),
    }
}
