//! Serving update requests: which frame is taken, and what is answered.

use super::ObjectMapNode;
use super::answer::no_scope;
use super::failure::Failure;
use super::frames::Frame;
use super::poses::Poses;
use crate::waiting::respond;
use nalgebra::{Isometry3, Vector3};
use prehend_msgs::builtin_interfaces::msg::Time;
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::UpdateMap;
use prehend_msgs::std_msgs::msg::Header;
use prehend_perception::UpdateReport;
use prehend_perception::segment::counted;
use prehend_ros::{ServiceRequest, nanoseconds};
use prehend_scene::{Object, ObjectKey, Scope};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Wall time an update may wait for its frame when the request names none, and the longest it may name.
const DEFAULT_PATIENCE: f64 = 5.0;
const LONGEST_PATIENCE: f64 = 60.0;
/// Frames that are tried before an update gives up on what they show.
const ATTEMPTS: u32 = 3;

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
        let deadline = Instant::now() + Duration::from_secs_f64(patience(&request.message));
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
        self.report.left_out = report.left_out;
    }
}

/// How long an update may wait for its frame, seconds.
fn patience(asked: &UpdateMap::Request) -> f64 {
    let seconds = asked.timeout;
    if seconds.is_finite() && seconds > 0.0 { seconds.min(LONGEST_PATIENCE) } else { DEFAULT_PATIENCE }
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

    fn finish(&mut self, pending: Pending) {
        let scope = Scope::parse(&pending.request.message.scope).unwrap_or_default();
        let mut recalled = Vec::new();
        match scope {
            Scope::Local => {
                recalled = self.recall_names();
                self.publish();
            }
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
                "recalled": recalled,
                "held": report.held,
                "homeless_parts": report.homeless_parts,
                "skipped_undrawn": report.skipped.undrawn, "skipped_slivers": report.skipped.slivers,
                "skipped_without_points": report.skipped.without_points,
                "unknown_labels": report.skipped.unknown_labels, "seconds": seconds,
                "left_out": counted(report.left_out.iter().map(|left| left.reason)),
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
        let waited = patience(&pending.request.message);
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
