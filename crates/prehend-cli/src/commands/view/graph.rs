//! The stage of a graph that runs.

use super::super::ask;
use super::event::read_event;
use super::robot::Robot;
use crate::args::RosOptions;
use crate::observer::Observer;
use crate::outcome::exit;
use futures::StreamExt;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{ObjectMap, SymbolicState, TraceEvent};
use prehend_nodes::convert;
use prehend_nodes::joints::{Joints, follow_joints};
use prehend_ros::{QosProfile, RosError};
use prehend_viewer::{Solid, Stage, Story, Thing, things};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Longest time until there is the map, or the first joint state, when there is the other: a picture without it is better than none.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is heard of a graph, as a stage.
pub(super) struct LiveStage {
    /// Holds the subscriptions.
    _observer: Observer,
    map: watch::Receiver<Option<ObjectMap>>,
    state: watch::Receiver<Option<SymbolicState>>,
    joints: watch::Receiver<Option<Joints>>,
    story: watch::Receiver<Story>,
    robot: Robot,
    things: Arc<Vec<Thing>>,
    links: Vec<Solid>,
}

impl LiveStage {
    /// Joins the graph and waits until it hears where the robot is, or its object map: before the first look there is none.
    pub(super) async fn join(robot: &Path, ros: &RosOptions) -> Result<Self, (String, u8)> {
        let shown = Robot::load(robot).map_err(|error| (error, exit::BAD_INPUT))?;
        let observer = ask::join(robot, ros)?;
        let lost = |error: RosError| (error.to_string(), exit::NOT_READY);
        let mut joints = follow_joints(&observer.node, &shown.config).map_err(lost)?;
        let story = follow_story(&observer).map_err(lost)?;
        let (mut map, mut first) = (observer.map.clone(), joints.clone());
        let anything = async {
            tokio::select! {
                heard = first.wait_for(Option::is_some) => heard.is_ok(),
                heard = map.wait_for(Option::is_some) => heard.is_ok(),
            }
        };
        if !tokio::time::timeout(ask::FIND_DEADLINE, anything).await.unwrap_or(false) {
            return Err((ask::absent("neither joint states nor an object map", &observer), exit::NOT_READY));
        }
        joints.mark_changed();
        map.mark_changed();
        let state = observer.state.clone();
        Ok(Self {
            _observer: observer,
            map,
            state,
            joints,
            story,
            robot: shown,
            things: Arc::default(),
            links: Vec::new(),
        })
    }

    /// Waits for what is not there yet, but not for long: a picture is drawn once.
    pub(super) async fn settle(&mut self) {
        let (mut map, mut joints) = (self.map.clone(), self.joints.clone());
        let all =
            async { tokio::join!(map.wait_for(Option::is_some), joints.wait_for(Option::is_some)).0.is_ok() };
        if tokio::time::timeout(PATIENCE, all).await.is_err() {
            tracing::warn!("the picture lacks the object map, or the robot");
        }
    }

    /// What there is now, when it is not what there was.
    pub(super) fn changed(&mut self) -> Option<Stage> {
        let is_new = self.map.has_changed().unwrap_or(false)
            || self.joints.has_changed().unwrap_or(false)
            || self.state.has_changed().unwrap_or(false)
            || self.story.has_changed().unwrap_or(false);
        is_new.then(|| self.stage())
    }

    /// What there is now.
    pub(super) fn stage(&mut self) -> Stage {
        if self.map.has_changed().unwrap_or(false)
            && let Some(map) = &*self.map.borrow_and_update()
        {
            match convert::map_from_msg(map) {
                Ok(map) => self.things = Arc::new(things(&map)),
                Err(error) => tracing::warn!("an object map that cannot be read: {error}"),
            }
        }
        if self.joints.has_changed().unwrap_or(false) {
            let newest = self.joints.borrow_and_update().clone();
            self.links = newest.map_or_else(Vec::new, |now| self.robot.links(&now));
        }
        let state = self.state.borrow_and_update().as_ref().map(convert::state_from_msg);
        let story = self.story.borrow_and_update().clone();
        self.robot.stage(&self.things, self.links.clone(), state.as_ref(), &story)
    }
}

/// Follows the trace from now on.
fn follow_story(observer: &Observer) -> Result<watch::Receiver<Story>, RosError> {
    let mut events =
        observer.node.subscribe::<TraceEvent>(names::TRACE, QosProfile::default().depth(2000))?;
    let (sender, receiver) = watch::channel(Story::default());
    tokio::spawn(async move {
        loop {
            let event = tokio::select! {
                () = sender.closed() => return,
                event = events.next() => event,
            };
            let Some(event) = event else { return };
            sender.send_if_modified(|story| story.take(&read_event(&event)));
        }
    });
    Ok(receiver)
}
