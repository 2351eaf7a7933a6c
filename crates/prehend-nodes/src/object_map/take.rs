//! A frame into the map: that of what is near or that of the room, on a thread of its own.

use super::ObjectMapNode;
use super::failure::Failure;
use super::frames::Frame;
use nalgebra::{Isometry3, Point3};
use prehend_msgs::prehend_interfaces::srv::UpdateMap;
use prehend_perception::map::Tool;
use prehend_perception::{
    Keyframe, KeyframeError, MapBuilder, RoomBuilder, RoomSettings, Skipped, UpdateReport,
};
use prehend_scene::{ObjectKey, Scope};
use std::time::Instant;

/// More frames a second than any camera has: the first version of a life is its time times this.
const FASTEST_CAMERA: f64 = 100.0;
/// Things this near to the tool that touch nothing below are held, metres.
const HELD_RADIUS: f64 = 0.12;

impl ObjectMapNode<'_> {
    /// Takes a frame into the map of a scope; gives what it changed and how long it took, seconds.
    pub(super) async fn take(
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
        let empty = MapBuilder::new(&self.shell.robot.frames.base, Default::default());
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
