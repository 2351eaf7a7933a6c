//! The only place that drives the base: it needs a redeemed permit.

use super::fault::{aborted, of_navigation};
use crate::interrupt::Interrupt;
use crate::moving::{self, HALT, NotBegun};
use crate::permit::RedeemedPermit;
use futures::StreamExt;
use nalgebra::Isometry3;
use prehend_execution::Forbidden;
use prehend_execution::errand::ErrandFault;
use prehend_msgs::geometry_msgs::msg::PoseStamped;
use prehend_msgs::prehend_interfaces::action::GoTo;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_navigation::Pose2;
use prehend_robots::live_frames::LiveFrames;
use prehend_robots::nav2::{Lifecycle, Nav2, Navigate, NavigateClient};
use prehend_robots::robot::Navigation;
use prehend_robots::shell::Shell;
use prehend_ros::{ActionClient, GoalStatus, Node, RosError};
use serde_json::json;
use std::time::{Duration, Instant};

/// Silence after which the navigation is lost: Nav2 gives a word of its drive a hundred times a second, ours ten times. With what follows,
/// a person is told within two seconds.
const SILENCE: Duration = Duration::from_millis(900);
/// Longest wait for what is told to stop when the navigation is lost. Those who are there answer at once.
const LOST_HALT: Duration = Duration::from_millis(200);
/// Longest drive, wall clock: a slow machine simulates slower than real time.
const LONGEST: Duration = Duration::from_secs(240);

/// The way to the navigation.
#[derive(Clone)]
pub(super) struct Driver {
    nav2: Nav2,
    lifecycle: Lifecycle,
    frame: String,
    /// The base in its odometry.
    frames: LiveFrames,
}

/// Says that the base is no longer driven, however the drive ended.
struct Driving<'a>(&'a Shell);

impl Drop for Driving<'_> {
    fn drop(&mut self) {
        self.0.set_motion_active(false);
    }
}

impl Driver {
    pub(super) fn new(node: &Node, navigation: &Navigation, frames: LiveFrames) -> Result<Self, RosError> {
        let (nav2, lifecycle) = (Nav2::new(node, navigation)?, Lifecycle::new(node, navigation)?);
        Ok(Self { nav2, lifecycle, frame: navigation.frame.clone(), frames })
    }

    /// Stops whatever drives. Needs no permit: standing still is always permitted.
    pub(super) async fn halt(&self) {
        self.halt_within(HALT).await;
    }

    async fn halt_within(&self, deadline: Duration) {
        if let Err(error) = self.nav2.cancel_all(deadline).await {
            tracing::warn!("cancel of the drive: {error}");
        }
    }

    /// Drives to the pose the permit is for; `told` hears how far it is still.
    ///
    /// However it ends, the base stands then, or nobody answers for it: Nav2 has said that it is there before it stands.
    ///
    /// Errors: [`ErrandFault`].
    pub(super) async fn drive(
        &self,
        permit: RedeemedPermit,
        shell: &Shell,
        interrupt: &Interrupt<'_, GoTo::Action>,
        goal_id: &str,
        told: impl Fn(f64),
    ) -> Result<(), ErrandFault> {
        interrupt.check_all()?;
        interrupt.arming.check().map_err(Forbidden::from)?;
        let Some(goal_pose) = permit.plan().pose_goals.first().copied() else {
            return Err(ErrandFault::BadRequest("the permitted plan has no pose".to_owned()));
        };
        let started = Instant::now();
        shell.set_motion_active(true);
        let _driving = Driving(shell);
        let at = prehend_convert::plane_pose(&goal_pose);
        let tell = |status: &str, message: String| {
            let data = json!({
                "permit": permit.id(), "skill": permit.plan().skill.name(), "places": [[at.x, at.y, at.yaw]],
            });
            shell.trace.event(goal_id, TraceEvent::KIND_MOTION, "drive", status, message, data);
        };
        let Pose2 { x, y, yaw } = at;
        tell("started", format!("drive to ({x:.2}, {y:.2}) m, {:.0} degrees", yaw.to_degrees()));
        let result = match &self.nav2.navigator {
            NavigateClient::Jazzy(client) => self.navigate(client, &goal_pose, interrupt, told).await,
            NavigateClient::Humble(client) => self.navigate(client, &goal_pose, interrupt, told).await,
        };
        if !self.frames.stand().await {
            tracing::warn!("the drive has ended, and the base does not stand");
        }
        let seconds = started.elapsed().as_secs_f64();
        match &result {
            Ok(()) => tell("done", format!("drive: done in {seconds:.1} s")),
            Err(fault) => tell(fault.reason().code(), format!("drive: {fault}")),
        }
        result
    }

    async fn navigate<A: Navigate>(
        &self,
        client: &ActionClient<A>,
        goal_pose: &Isometry3<f64>,
        interrupt: &Interrupt<'_, GoTo::Action>,
        told: impl Fn(f64),
    ) -> Result<(), ErrandFault> {
        let at = [goal_pose.translation.x, goal_pose.translation.y];
        let pose = prehend_convert::pose_to_msg(goal_pose);
        let goal = A::goal(PoseStamped { header: prehend_convert::header(&self.frame, 0.0), pose });
        let sent = Instant::now();
        let begun = moving::begin(client, goal, interrupt.ended_in_motion(), || self.halt()).await;
        let mut handle = match begun {
            Ok(handle) => handle,
            Err(NotBegun::Raised(fault)) => return Err(fault),
            Err(NotBegun::NotTaken(error)) => {
                return Err(match self.lifecycle.inactive().await {
                    Some(state) => ErrandFault::NavigationInactive { state },
                    None => of_navigation(&error, at),
                });
            }
        };
        let mut feedback = handle.feedback();
        let deadline = tokio::time::sleep(LONGEST);
        tokio::pin!(deadline);
        let raised = interrupt.ended_in_motion();
        tokio::pin!(raised);
        let mut listening = true;
        loop {
            let fault = tokio::select! {
                biased;
                fault = &mut raised => fault,
                () = &mut deadline => ErrandFault::Timeout { seconds: LONGEST.as_secs_f64() },
                result = handle.result(SILENCE) => return match result {
                    Ok((GoalStatus::Succeeded, _)) => Ok(()),
                    Ok((status, result)) => {
                        // Nav2 aborts a goal, without a code, for one that comes after it.
                        Err(match (moving::overruled(interrupt.arming, client, sent).await, status) {
                            (Some(forbidden), _) => forbidden.into(),
                            (None, GoalStatus::Canceled) => {
                                Forbidden::Stopped("drive: somebody else cancelled it".to_owned()).into()
                            }
                            (None, _) => aborted(A::end(result)),
                        })
                    }
                    Err(error) => {
                        self.halt_within(LOST_HALT).await;
                        Err(of_navigation(&error, at))
                    }
                },
                heard = feedback.next(), if listening => {
                    match heard {
                        Some(heard) => told(A::remaining(&heard)),
                        None => listening = false,
                    }
                    continue;
                }
            };
            moving::stop(&mut handle, SILENCE, || self.halt()).await;
            return Err(fault);
        }
    }
}
