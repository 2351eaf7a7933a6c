//! Serving update requests: which frame is taken, and what is answered.

use super::answer::no_scope;
use super::frames::{self, Frame};
use super::{ObjectMapNode, respond};
use nalgebra::{Isometry3, Point3, Translation3, Vector3};
use prehend_convert as convert;
use prehend_convert::ConvertError;
use prehend_geometry::OrientedBox;
use prehend_msgs::builtin_interfaces::msg::Time;
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::UpdateMap;
use prehend_msgs::std_msgs::msg::Header;
use prehend_perception::map::Tool;
use prehend_perception::{
    Keyframe, KeyframeError, LabelImage, PartLabels, RoomBuilder, RoomSettings, Skipped, UpdateReport,
};
use prehend_ros::{ParameterError, Parameters, ServiceRequest, TfError, nanoseconds, time_from_nanoseconds};
use prehend_scene::{Object, ObjectKey, Scope};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Wall time an update may wait for its frame when the request names none, and the longest it may name.
const DEFAULT_PATIENCE: f64 = 5.0;
const LONGEST_PATIENCE: f64 = 60.0;
/// Time before the frame at which the camera must have been where it is in the frame.
const REST_NS: i64 = 120_000_000;
/// How far the camera may have moved in that time and still count as resting: metres and radians.
const REST_DISTANCE: f64 = 0.001;
const REST_ANGLE: f64 = 0.003;
/// Frames that are tried before an update gives up on what they show.
const ATTEMPTS: u32 = 3;
/// More frames a second than any camera has: the first version of a life is its time times this.
const FASTEST_CAMERA: f64 = 100.0;
/// Things this near to the tool that touch nothing below are held, metres.
const HELD_RADIUS: f64 = 0.12;

/// An update that waits for its frame.
pub(super) struct Pending {
    request: ServiceRequest<UpdateMap::Service>,
    /// Only frames after this will do.
    since: Time,
    deadline: Instant,
    heard: [u64; 7],
    tried: u32,
    /// Frames taken into the map so far, what they changed, and the seconds that took.
    taken: u32,
    report: UpdateReport,
    seconds: f64,
    /// Stamps of the frames that were taken, nanoseconds.
    frames: Vec<i64>,
    /// Of these, those that came with what a detector of parts saw.
    with_parts: Vec<i64>,
    /// Stamp of the last frame that was looked at.
    last: i64,
    why: Option<Failure>,
}

impl Pending {
    pub(super) fn new(request: ServiceRequest<UpdateMap::Service>, since: Time, heard: [u64; 7]) -> Self {
        let asked = request.message.timeout;
        let patience =
            if asked.is_finite() && asked > 0.0 { asked.min(LONGEST_PATIENCE) } else { DEFAULT_PATIENCE };
        let deadline = Instant::now() + Duration::from_secs_f64(patience);
        Self {
            request,
            since,
            deadline,
            heard,
            tried: 0,
            taken: 0,
            report: UpdateReport::default(),
            seconds: 0.0,
            frames: Vec::new(),
            with_parts: Vec::new(),
            last: i64::MIN,
            why: None,
        }
    }
}

impl Pending {
    /// Notes what one more frame changed. A thing that is new in the first frame and seen again in the next is new.
    fn add(&mut self, report: UpdateReport, seconds: f64) {
        let fresh = |known: &[ObjectKey], keys: Vec<ObjectKey>| -> Vec<ObjectKey> {
            keys.into_iter().filter(|key| !known.contains(key)).collect()
        };
        self.taken += 1;
        self.seconds += seconds;
        let merged = fresh(&self.report.added, fresh(&self.report.merged, report.merged));
        self.report.merged.extend(merged);
        let moved = fresh(&self.report.added, fresh(&self.report.moved, report.moved));
        self.report.moved.extend(moved);
        self.report.added.retain(|key| !report.removed.contains(key));
        self.report.added.extend(report.added);
        self.report.removed.extend(report.removed);
        self.report.joined.extend(report.joined);
        self.report.skipped = report.skipped;
        self.report.held = report.held;
    }
}

/// The volume of the gripper in the tool frame, where points belong to the robot.
#[derive(Clone, Copy, Debug)]
pub(super) struct SelfFilter {
    tool_from_box: Isometry3<f64>,
    size: Vector3<f64>,
}

impl SelfFilter {
    /// Reads `gripper_center` and `gripper_size` (tool frame, metres); the defaults fit the xArm gripper.
    pub(super) fn read(parameters: &Parameters) -> Result<Self, ParameterError> {
        let triple = |name: &'static str, default: [f64; 3]| -> Result<Vector3<f64>, ParameterError> {
            if !parameters.has(name) {
                return Ok(Vector3::from(default));
            }
            let list = parameters.f64_list(name)?;
            parameters
                .describe(name, "Box of the gripper, whose points are the robot's own: tool frame, metres.");
            Ok(<[f64; 3]>::try_from(list).map_or(Vector3::from(default), Vector3::from))
        };
        let center = triple("gripper_center", [0.0, 0.0, -0.085])?;
        let size = triple("gripper_size", [0.08, 0.20, 0.20])?;
        Ok(Self {
            tool_from_box: Isometry3::from_parts(Translation3::from(center), Default::default()),
            size,
        })
    }
}

/// Why a frame could not be taken.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("no frame newer than the request came within {waited:.1} s; silent: {silent}")]
    NoFrame { waited: f64, silent: String },
    #[error("the camera did not come to rest within {waited:.1} s")]
    Moving { waited: f64 },
    #[error("no transform from {camera} to {base} at the frame's time: {source}")]
    Transform { base: String, camera: String, source: TfError },
    #[error("the transform from {camera} to {base} is invalid: {source}")]
    BadTransform { base: String, camera: String, source: ConvertError },
    #[error(
        "depth is in `{depth}`, colour in `{color}`: the depth topic must be the one that is aligned with colour"
    )]
    Unaligned { depth: String, color: String },
    #[error("the frame cannot be read: {0}")]
    Message(#[from] ConvertError),
    #[error(transparent)]
    Frame(#[from] KeyframeError),
    #[error(
        "nothing that the detector sees can be measured: {undrawn} things without a mask, {unmeasured} without depth"
    )]
    NoPoints { undrawn: usize, unmeasured: usize },
    #[error("the map update failed; the map was reset")]
    Broken,
}

impl Failure {
    fn code(&self) -> i32 {
        match self {
            Self::NoFrame { .. } | Self::Moving { .. } => ErrorCode::MAP_NO_FRAME,
            Self::Transform { .. } | Self::BadTransform { .. } => ErrorCode::MAP_NO_TRANSFORM,
            Self::Message(_) | Self::Broken => ErrorCode::MAP_BAD_REQUEST,
            Self::Unaligned { .. } => ErrorCode::MAP_BAD_DEPTH,
            Self::NoPoints { .. } | Self::Frame(KeyframeError::BadDepth { .. }) => ErrorCode::MAP_BAD_DEPTH,
            Self::Frame(KeyframeError::Size { image: "depth", .. }) => ErrorCode::MAP_BAD_DEPTH,
            Self::Frame(KeyframeError::Pose) => ErrorCode::MAP_NO_TRANSFORM,
            Self::Frame(KeyframeError::Empty) => ErrorCode::MAP_NOTHING_SEEN,
            Self::Frame(KeyframeError::Model(_)) => ErrorCode::MAP_NO_MODEL,
            Self::Frame(KeyframeError::Intrinsics(_) | KeyframeError::Size { .. }) => ErrorCode::MAP_NO_FRAME,
        }
    }
}

/// How far the x side of a pose is turned about z, radians.
fn turn(pose: &Isometry3<f64>) -> f64 {
    let side = pose.rotation * Vector3::x();
    side.y.atan2(side.x)
}

/// An object as the trace tells it: what it is called with which share of the votes, its colours with their share of its pixels, where its
/// box is (middle, map frame), how large, millimetres, and how far it is turned about z, degrees.
fn traced(object: &Object) -> Value {
    let millimetres =
        |vector: Vector3<f64>| [vector.x, vector.y, vector.z].map(|value| (value * 1e3).round());
    let hundredths = |share: f64| (share * 100.0).round() / 100.0;
    let colors = object.color_fractions.iter().take(2).map(|(word, share)| (word, hundredths(*share)));
    json!({ "key": object.key.0, "class": object.class_name, "confidence": hundredths(object.confidence),
        "colors": colors.collect::<Vec<_>>(),
        "center_mm": millimetres(object.bounds.pose.translation.vector), "size_mm": millimetres(object.bounds.size),
        "turn_deg": turn(&object.bounds.pose).to_degrees().round() })
}

/// Where things that are held would be; `gripped` is the key of what the gripper closed on, empty when that is not known.
fn held_at(map_from_tool: Option<Isometry3<f64>>, gripped: &str) -> Option<Tool> {
    let holds = (!gripped.is_empty()).then(|| ObjectKey(gripped.to_owned()));
    map_from_tool.map(|pose| Tool {
        position: Point3::from(pose.translation.vector),
        radius: HELD_RADIUS,
        holds,
    })
}

/// The version before a life's first map: ahead of every map of an earlier life, because those who heard it wait for newer ones.
fn first_version(keyframe: &Keyframe) -> u64 {
    (keyframe.stamp.max(0.0) * FASTEST_CAMERA) as u64
}

/// The frame of the map of the room.
fn room_frame(robot: &prehend_robots::RobotConfig) -> String {
    robot.navigation.as_ref().map_or_else(String::new, |navigation| navigation.frame.clone())
}

enum Poses {
    /// Camera and tool in the map frame.
    Known(Isometry3<f64>, Option<Isometry3<f64>>),
    /// The transforms have not arrived yet, or the camera moves.
    Wait(Failure),
}

impl ObjectMapNode<'_> {
    /// Looks at every waiting update: takes the newest frame into the map when it will do, answers what is decided.
    pub(super) async fn serve_updates(&mut self) {
        for mut pending in std::mem::take(&mut self.waiting) {
            let asked = &pending.request.message.scope;
            let scope = match Scope::parse(asked) {
                Some(Scope::Room) if self.room.is_none() => None,
                scope => scope,
            };
            let Some(scope) = scope else {
                let response = UpdateMap::Response {
                    error_code: ErrorCode::MAP_BAD_REQUEST,
                    error_message: format!(
                        "{} (a map of the room has only a robot that drives)",
                        no_scope(asked)
                    ),
                    ..Default::default()
                };
                respond(pending.request, response);
                continue;
            };
            let replayed = self.replayed.as_ref().and_then(|last| last.get(&scope)).copied();
            let fresh = self.newest.as_ref().filter(|frame| {
                let stamp = nanoseconds(&frame.stamp);
                stamp > nanoseconds(&pending.since)
                    && stamp > pending.last
                    && replayed.is_none_or(|last| stamp > last)
            });
            if let Some(frame) = fresh.cloned() {
                match self.poses(&frame, scope) {
                    Poses::Wait(why) => pending.why = Some(why),
                    Poses::Known(camera, tool) => {
                        pending.last = nanoseconds(&frame.stamp);
                        pending.tried += 1;
                        let reset = pending.request.message.reset && pending.taken == 0;
                        let asked = pending.request.message.clone();
                        let taken = self.take(scope, &frame, camera, tool, &asked, reset).await;
                        match taken {
                            Ok((report, seconds)) => {
                                pending.frames.push(pending.last);
                                pending.with_parts.extend(frame.parts.is_some().then_some(pending.last));
                                if let Some(replayed) = &mut self.replayed {
                                    replayed.insert(scope, pending.last);
                                }
                                pending.add(report, seconds);
                                self.tell_taken(&frame, &asked.view);
                            }
                            Err(why) => pending.why = Some(why),
                        }
                    }
                }
            }
            let enough = i64::from(pending.taken) >= self.frames_per_update.get();
            if enough || (pending.taken > 0 && Instant::now() >= pending.deadline) {
                self.finish(pending);
            } else if pending.tried >= ATTEMPTS + pending.taken || Instant::now() >= pending.deadline {
                self.fail(pending);
            } else {
                self.waiting.push(pending);
            }
        }
    }

    fn tell_taken(&self, frame: &Frame, view: &str) {
        let taken = Header { stamp: frame.stamp.clone(), frame_id: view.to_owned() };
        if let Err(error) = self.taken.publish(&taken) {
            tracing::warn!("a frame that was taken was not told: {error}");
        }
    }

    /// Where camera and tool were at a time, in the frame of the scope's map, when the camera was at rest.
    fn poses(&self, frame: &Frame, scope: Scope) -> Poses {
        let frames = &self.shell.robot.frames;
        let navigation = self.shell.robot.navigation.as_ref().filter(|_| scope == Scope::Room);
        let map_frame = navigation.map_or(&frames.base, |navigation| &navigation.frame);
        // The localisation may be corrected while the robot stands; whether it stands, the odometry knows.
        let rest_frame = navigation.map_or(&frames.base, |navigation| &navigation.odom);
        // The images say which frame they are in; the robot file only says where it should be.
        let (at, optical) = (&frame.stamp, frame.color.header.frame_id.as_str());
        if frame.depth.header.frame_id != optical {
            let (depth, color) = (frame.depth.header.frame_id.clone(), optical.to_owned());
            return Poses::Wait(Failure::Unaligned { depth, color });
        }
        let find_in = |target: &str, source: &str, time: &Time| {
            let transform = self.tf.lookup(target, source, time);
            transform.map_err(|error| Failure::Transform {
                base: target.to_owned(),
                camera: source.to_owned(),
                source: error,
            })
        };
        let find = |source: &str, time: &Time| find_in(map_frame, source, time);
        let camera = match find(optical, at) {
            Ok(transform) => transform,
            Err(why) => return Poses::Wait(why),
        };
        let camera = match convert::isometry(camera.translation, camera.rotation) {
            Ok(camera) => camera,
            Err(source) => {
                let (base, camera) = (map_frame.clone(), optical.to_owned());
                return Poses::Wait(Failure::BadTransform { base, camera, source });
            }
        };
        let earlier = time_from_nanoseconds((nanoseconds(at) - REST_NS).max(1));
        let (now, before) = match (find_in(rest_frame, optical, at), find_in(rest_frame, optical, &earlier)) {
            (Ok(now), before) => (now.isometry(), before),
            (Err(why), _) => return Poses::Wait(why),
        };
        match before {
            Ok(before) => {
                let before = convert::isometry(before.translation, before.rotation);
                let rests = before.is_ok_and(|before| {
                    let moved = before.inverse() * now;
                    moved.translation.vector.norm() < REST_DISTANCE && moved.rotation.angle() < REST_ANGLE
                });
                if !rests {
                    return Poses::Wait(Failure::Moving { waited: 0.0 });
                }
            }
            Err(why) => return Poses::Wait(why),
        }
        let tool = find(&frames.tool, at)
            .ok()
            .and_then(|tool| convert::isometry(tool.translation, tool.rotation).ok());
        Poses::Known(camera, tool)
    }

    /// A frame as a keyframe, its poses in the frame of the map it is for.
    fn keyframe(
        &self,
        frame: &Frame,
        map_from_camera: Isometry3<f64>,
        map_from_tool: Option<Isometry3<f64>>,
        view: &str,
    ) -> Result<Keyframe, Failure> {
        let gripper = map_from_tool.map(|map_from_tool| OrientedBox {
            pose: map_from_tool * self.self_filter.tool_from_box,
            size: self.self_filter.size,
        });
        let color = convert::color_image_from_msg(&frame.color)?;
        let (labels, detections) = match &frame.detected {
            Some((labels, detections)) => (frames::label_image(labels)?, frames::detections(detections)),
            None => (LabelImage::blank(color.width, color.height), Vec::new()),
        };
        let keyframe = Keyframe {
            view: if view.is_empty() { "view".to_owned() } else { view.to_owned() },
            stamp: convert::seconds(&frame.stamp),
            color,
            depth: convert::depth_image_from_msg(&frame.depth)?,
            labels,
            detections,
            parts: match &frame.parts {
                Some((labels, detections)) => Some(PartLabels {
                    labels: frames::label_image(labels)?,
                    detections: frames::detections(detections),
                }),
                None => None,
            },
            intrinsics: convert::intrinsics_from_msg(&frame.info)?,
            map_from_camera,
            robot: gripper.into_iter().collect(),
        };
        Ok(keyframe.turned(self.turn))
    }

    /// Takes a frame into the map of a scope; gives what it changed and how long it took, seconds.
    async fn take(
        &mut self,
        scope: Scope,
        frame: &Frame,
        map_from_camera: Isometry3<f64>,
        map_from_tool: Option<Isometry3<f64>>,
        asked: &UpdateMap::Request,
        reset: bool,
    ) -> Result<(UpdateReport, f64), Failure> {
        let started = Instant::now();
        let keyframe = self.keyframe(frame, map_from_camera, map_from_tool, &asked.view)?;
        let tool = held_at(map_from_tool, &asked.gripped);
        let report = match scope {
            Scope::Local => self.take_here(keyframe, tool, reset).await?,
            Scope::Room => self.take_room(keyframe, tool, reset).await?,
        };
        Ok((report, started.elapsed().as_secs_f64()))
    }

    async fn take_room(
        &mut self,
        mut keyframe: Keyframe,
        tool: Option<Tool>,
        reset: bool,
    ) -> Result<UpdateReport, Failure> {
        let sight = self.sight.clone().unwrap_or_default();
        let Some(room) = &mut self.room else { return Err(Failure::Broken) };
        let empty = RoomBuilder::new(&room_frame(&self.shell.robot), RoomSettings::default());
        let mut builder = std::mem::replace(&mut room.builder, empty);
        if builder.map().version == 0 {
            builder.continue_from(first_version(&keyframe));
        }
        let work = tokio::task::spawn_blocking(move || {
            // A map of the room takes masks: a box alone has no edge against what is behind it.
            let looked = sight.look(&mut keyframe).map_err(KeyframeError::from);
            let result = looked.and_then(|_| builder.update(&keyframe, tool.as_ref(), reset));
            (builder, result)
        });
        let (builder, result) = work.await.map_err(|_| Failure::Broken)?;
        if let Some(room) = &mut self.room {
            room.builder = builder;
        }
        Ok(result?)
    }

    async fn take_here(
        &mut self,
        mut keyframe: Keyframe,
        tool: Option<Tool>,
        reset: bool,
    ) -> Result<UpdateReport, Failure> {
        let sight = self.sight.clone().unwrap_or_default();
        let holds = tool.as_ref().is_some_and(|tool| tool.holds.is_some());
        self.leave_place();
        self.stood = self.stood.or_else(|| self.base_pose());
        // The heartbeat must go on during the update.
        let empty = prehend_perception::MapBuilder::new(&self.shell.robot.frames.base, Default::default());
        let mut builder = std::mem::replace(&mut self.builder, empty);
        if builder.map().version == 0 {
            builder.continue_from(first_version(&keyframe));
        }
        let work = tokio::task::spawn_blocking(move || {
            let looked = sight.look(&mut keyframe).map_err(KeyframeError::from);
            let result =
                looked.and_then(|seen| builder.update_named(&keyframe, &seen, tool.as_ref(), reset, 0));
            (builder, result)
        });
        let (builder, result) = work.await.map_err(|_| Failure::Broken)?;
        self.builder = builder;
        let report = result?;
        // Names without anything behind them: the depth or the masks are missing, the table need not be empty. What is measured and
        // no thing of its own, as the table or what the hand hides, is not meant, and neither is what the picture's border cuts off.
        // What is held may be too near for the camera.
        let Skipped { undrawn, unmeasured, .. } = report.skipped;
        let unmeasured = unmeasured.saturating_sub(usize::from(holds));
        let seen = report.added.len() + report.merged.len() + report.moved.len() + report.held;
        if seen == 0 && undrawn + unmeasured > 0 {
            return Err(Failure::NoPoints { undrawn, unmeasured });
        }
        Ok(report)
    }

    fn finish(&mut self, pending: Pending) {
        let scope = Scope::parse(&pending.request.message.scope).unwrap_or_default();
        match scope {
            Scope::Local => self.publish(),
            Scope::Room => self.publish_room(),
        }
        let Pending { request, report, seconds, taken, frames, with_parts, .. } = pending;
        let map = self.map_of(scope);
        let names = |keys: &[ObjectKey]| keys.iter().map(|key| key.0.clone()).collect::<Vec<_>>();
        let mut changes = Vec::new();
        for (what, keys) in [("new", &report.added), ("moved", &report.moved), ("gone", &report.removed)] {
            if !keys.is_empty() {
                changes.push(format!("{what}: {}", names(keys).join(", ")));
            }
        }
        let view = if request.message.view.is_empty() { "view" } else { &request.message.view };
        self.shell.trace.event(
            "",
            TraceEvent::KIND_PERCEPTION,
            "update",
            "done",
            format!(
                "{}map {} from {view}, {taken} frame(s): {} objects, {} seen again{}{} ({:.0} ms)",
                if scope == Scope::Room { "room " } else { "" },
                map.version,
                map.objects.len(),
                report.merged.len(),
                if changes.is_empty() { "" } else { "; " },
                changes.join("; "),
                seconds * 1e3
            ),
            json!({ "version": map.version, "added": names(&report.added), "merged": names(&report.merged),
                "moved": names(&report.moved), "removed": names(&report.removed), "joined": report.joined,
                "held": report.held,
                "homeless_parts": report.homeless_parts,
                "skipped_undrawn": report.skipped.undrawn, "skipped_slivers": report.skipped.slivers,
                "skipped_without_points": report.skipped.without_points,
                "unknown_labels": report.skipped.unknown_labels, "seconds": seconds,
                "frames": frames, "with_parts": with_parts, "view": request.message.view, "reset": request.message.reset,
                "scope": request.message.scope, "gripped": request.message.gripped,
                "objects": map.objects.iter().map(traced).collect::<Vec<_>>() }),
        );
        let response = UpdateMap::Response {
            version: map.version,
            added: names(&report.added),
            merged: names(&report.merged),
            moved: names(&report.moved),
            removed: names(&report.removed),
            seconds,
            ..Default::default()
        };
        respond(request, response);
    }

    fn fail(&self, pending: Pending) {
        let robot = &self.shell.robot;
        let topics = [
            robot.camera.color.as_str(),
            &robot.camera.depth,
            &robot.camera.info,
            &robot.detector.label_image,
            &robot.detector.detections,
        ];
        let asked = pending.request.message.timeout;
        let waited =
            if asked.is_finite() && asked > 0.0 { asked.min(LONGEST_PATIENCE) } else { DEFAULT_PATIENCE };
        let why = match pending.why {
            Some(Failure::Moving { .. }) => Failure::Moving { waited },
            Some(why) => why,
            None => {
                // Nobody waits for a detector where models look.
                let awaited = if self.sight.is_some() { 3 } else { topics.len() };
                let silent = self.joiner.silent(&pending.heard, &topics[..awaited]);
                let silent = if silent.is_empty() {
                    format!("none, but no {awaited} share a stamp")
                } else {
                    silent.join(", ")
                };
                Failure::NoFrame { waited, silent }
            }
        };
        let (error_code, error_message) = (why.code(), why.to_string());
        self.shell.trace.event(
            "",
            TraceEvent::KIND_WARNING,
            "update",
            "failed",
            format!("no map update: {error_message}"),
            json!({ "error_code": error_code }),
        );
        let response = UpdateMap::Response {
            error_code,
            error_message,
            version: self.builder.map().version,
            ..Default::default()
        };
        respond(pending.request, response);
    }
}
