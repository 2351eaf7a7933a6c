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
const SILENCE: Duration = Duration::from_secs(1);
/// Longest wait for the answers to a word to stop, before it is said once more to all.
const ANSWERED: Duration = Duration::from_millis(500);
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

/// Why a drive is not done.
enum Undone {
    /// The navigation has ended it; it may be driving for somebody else.
    Ended(ErrandFault),
    /// It may be under way still.
    UnderWay(ErrandFault),
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
        for error in self.nav2.cancel_all(deadline).await {
            tracing::warn!("cancel of the drive: {error}");
        }
    }

    /// Stops whatever drives, again and again until the base stands: servers of a navigator that has died drive on, and one that has just
    /// been told may be given the next part of the way. Whether it stands, three seconds later at the latest.
    async fn bring_to_rest(&self) -> bool {
        let again = async {
            loop {
                self.halt_within(ANSWERED).await;
                tokio::time::sleep(ANSWERED).await;
            }
        };
        tokio::select! {
            stands = self.frames.stand() => stands,
            never = again => never,
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
        self.nav2.meet();
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
        let ended = match &self.nav2.navigator {
            NavigateClient::Jazzy(client) => self.navigate(client, &goal_pose, interrupt, told).await,
            NavigateClient::Humble(client) => self.navigate(client, &goal_pose, interrupt, told).await,
        };
        let (result, stands) = match ended {
            Ok(()) => (Ok(()), self.frames.stand().await),
            Err(Undone::Ended(fault)) => (Err(fault), self.frames.stand().await),
            Err(Undone::UnderWay(fault)) => (Err(fault), self.bring_to_rest().await),
        };
        let seconds = started.elapsed().as_secs_f64();
        let moves = if stands { "" } else { ", and the base does not stand" };
        match &result {
            Ok(()) => tell("done", format!("drive: done in {seconds:.1} s{moves}")),
            Err(fault) => tell(fault.reason().code(), format!("drive: {fault}{moves}")),
        }
        result
    }

    async fn navigate<A: Navigate>(
        &self,
        client: &ActionClient<A>,
        goal_pose: &Isometry3<f64>,
        interrupt: &Interrupt<'_, GoTo::Action>,
        told: impl Fn(f64),
    ) -> Result<(), Undone> {
        let at = [goal_pose.translation.x, goal_pose.translation.y];
        let pose = prehend_convert::pose_to_msg(goal_pose);
        let goal = A::goal(PoseStamped { header: prehend_convert::header(&self.frame, 0.0), pose });
        let sent = Instant::now();
        let begun = moving::begin(client, goal, interrupt.ended_in_motion(), || self.halt()).await;
        let mut handle = match begun {
            Ok(handle) => handle,
            Err(NotBegun::Raised(fault)) => return Err(Undone::UnderWay(fault)),
            Err(NotBegun::NotTaken(error)) => {
                let refused = matches!(error, RosError::Rejected { .. } | RosError::Unavailable { .. });
                let fault = match self.lifecycle.inactive().await {
                    Some(state) => ErrandFault::NavigationInactive { state },
                    None => of_navigation(&error, at),
                };
                return Err(if refused { Undone::Ended(fault) } else { Undone::UnderWay(fault) });
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
                        let overruled = moving::overruled(interrupt.arming, client, sent).await;
                        Err(Undone::Ended(match (overruled, status) {
                            (Some(forbidden), _) => forbidden.into(),
                            (None, GoalStatus::Canceled) => {
                                Forbidden::Stopped("drive: somebody else cancelled it".to_owned()).into()
                            }
                            (None, _) => aborted(A::end(result)),
                        }))
                    }
                    Err(error) => Err(Undone::UnderWay(of_navigation(&error, at))),
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
            return Err(Undone::UnderWay(fault));
        }
    }
}
