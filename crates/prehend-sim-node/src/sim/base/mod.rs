//! Nav2's face by its real names and types, so that Nav2 can stand in its place: `/navigate_to_pose` over the planner and follower of
//! `prehend-navigation`.
//!
//! A goal is rejected when it is outside the map or in an obstacle. On the way the base replans when something is in its way, when it
//! is not where its route is, and after it touched something; when that does not help, the goal is aborted with Nav2's code for it.
//! Arm and base never move at once. Read [`start`] first. In `commanded` is what is left of it where another's Nav2 drives.

pub(super) mod commanded;
pub(super) mod drive;
mod messages;
pub(super) mod rig;
pub(super) mod wire;

use super::arm_handle::{ArmError, ArmHandle};
use drive::{BaseState, DriveEnd};
use futures::StreamExt;
use prehend_convert::{pose_from_msg, stamp};
use prehend_msgs::builtin_interfaces::msg::Duration as WireDuration;
use prehend_msgs::geometry_msgs::msg::PoseStamped;
use prehend_msgs::lifecycle_msgs::srv::GetState;
use prehend_msgs::nav_msgs::msg::Path;
use prehend_msgs::{nav2_msgs, nav2_msgs_humble};
use prehend_navigation::Pose2;
use prehend_navigation::follow::Velocity;
use prehend_navigation::pose::turn;
use prehend_navigation::route::{Leg, Route, RouteError, RouteParams, plan};
use prehend_robots::robot::{Distribution, Navigation};
use prehend_ros::{ActionServer, ExecutingGoal, Node, Publisher, QosProfile, RosError};
use prehend_sim::world::DriveError;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;
use wire::{Progress, Wire};

/// Codes of Nav2's planner and controller servers, which its navigator passes on.
mod code {
    pub(super) const CONTROLLER: u16 = 100;
    pub(super) const NO_PROGRESS: u16 = 105;
    pub(super) const NO_CONTROL: u16 = 106;
    pub(super) const START_OUTSIDE: u16 = 203;
    pub(super) const GOAL_OUTSIDE: u16 = 204;
    pub(super) const START_OCCUPIED: u16 = 205;
    pub(super) const GOAL_OCCUPIED: u16 = 206;
    pub(super) const NO_PATH: u16 = 208;
}

/// How often it tries again.
const RECOVERIES: i16 = 6;
/// How often it may touch something.
const BUMPS: usize = 3;
/// Simulated seconds it waits for the way to clear, or for the localisation, before it plans again.
const WAIT: f64 = 1.5;
/// How far it backs away from what it touched, metres.
const BACK: f64 = 0.15;
/// How far it turns back from what it touched while it turned in place, radians.
const TURN_BACK: f64 = 0.2;
/// Below this the base turns in place, m/s.
const SLOW: f64 = 0.02;
/// Wall time between two feedback messages.
const FEEDBACK_PERIOD: Duration = Duration::from_millis(100);

/// Why a goal is not reached.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
enum NavigateError {
    #[error(transparent)]
    Route(#[from] RouteError),
    #[error("the arm is moving")]
    ArmMoves,
    #[error("something is in the way, and stays there")]
    Blocked,
    #[error("the base touched something hard {0} times")]
    Bumped(usize),
    #[error("the base loses its way: the localisation jumps")]
    Lost,
    #[error("the base stands {xy:.3} m and {yaw:.3} rad beside the goal")]
    Beside { xy: f64, yaw: f64 },
    #[error("replaced by a newer goal, or stopped")]
    Stopped,
    #[error("{0}")]
    NotReady(String),
    #[error("the robot is gone")]
    Gone,
}

impl NavigateError {
    fn code(&self) -> u16 {
        match self {
            Self::Route(RouteError::GoalOutside { .. }) => code::GOAL_OUTSIDE,
            Self::Route(RouteError::GoalBlocked { .. }) => code::GOAL_OCCUPIED,
            Self::Route(RouteError::StartOutside { .. }) => code::START_OUTSIDE,
            Self::Route(RouteError::StartBlocked { .. }) => code::START_OCCUPIED,
            Self::Route(RouteError::NoWay { .. }) => code::NO_PATH,
            Self::Blocked | Self::Bumped(_) => code::NO_CONTROL,
            Self::Lost | Self::Beside { .. } => code::NO_PROGRESS,
            Self::ArmMoves | Self::Stopped | Self::NotReady(_) | Self::Gone => code::CONTROLLER,
        }
    }
}

impl From<ArmError> for NavigateError {
    fn from(error: ArmError) -> Self {
        match error {
            ArmError::NotReady(reason) => Self::NotReady(reason),
            ArmError::Trajectory(_) | ArmError::Gone => Self::Gone,
        }
    }
}

/// A little of the way back from where the base touched something.
fn undone(velocity: &Velocity) -> Leg {
    if velocity.linear.abs() < SLOW {
        Leg { turn: -TURN_BACK * velocity.angular.signum(), drive: 0.0 }
    } else {
        Leg { turn: 0.0, drive: -BACK * velocity.linear.signum() }
    }
}

struct Face {
    names: Navigation,
    robot: ArmHandle,
    state: watch::Receiver<BaseState>,
    route: Publisher<Path>,
    /// Number of the newest goal.
    newest: watch::Sender<u64>,
    /// Held by the goal that drives.
    driving: Mutex<()>,
}

/// Creates the action server and serves it until the returned set is dropped.
///
/// Errors: [`RosError`] when the server cannot be made.
pub(super) fn start(
    node: &Node,
    names: &Navigation,
    robot: ArmHandle,
    state: watch::Receiver<BaseState>,
) -> Result<JoinSet<()>, RosError> {
    let face = Arc::new(Face {
        names: names.clone(),
        robot,
        state,
        route: node.create_publisher(&names.route(), QosProfile::transient_local().depth(1))?,
        newest: watch::Sender::new(0),
        driving: Mutex::new(()),
    });
    let mut tasks = JoinSet::new();
    let service = format!("{}/get_state", names.navigator);
    let mut states = node.create_service::<GetState::Service>(&service, QosProfile::services())?;
    let shared = Arc::clone(&face);
    tasks.spawn(async move {
        while let Some(request) = states.next().await {
            if let Err(error) = request.respond(shared.robot.nav2_fault().state()) {
                tracing::warn!("lifecycle state not answered: {error}");
            }
        }
    });
    type Jazzy = nav2_msgs::action::NavigateToPose::Action;
    type Humble = nav2_msgs_humble::action::NavigateToPose::Action;
    match names.distribution {
        Distribution::Jazzy => tasks.spawn(face.take(node.create_action_server::<Jazzy>(&names.action)?)),
        Distribution::Humble => tasks.spawn(face.take(node.create_action_server::<Humble>(&names.action)?)),
    };
    Ok(tasks)
}

impl Face {
    /// Takes goals for as long as the server lives.
    async fn take<A: Wire>(self: Arc<Self>, mut goals: ActionServer<A>) {
        let mut number = 0;
        while let Some(request) = goals.next().await {
            let fault = self.robot.nav2_fault();
            let goal = match self.read(A::pose(&request.goal)) {
                Ok(goal) if !fault.rejects() => goal,
                Ok(_) => {
                    request.reject();
                    continue;
                }
                Err(reason) => {
                    tracing::warn!("goal rejected: {reason}");
                    request.reject();
                    continue;
                }
            };
            if let Some(code) = fault.code() {
                request.accept().abort(A::result(code, "as the judge asked".to_owned()));
                continue;
            }
            number += 1;
            self.newest.send_replace(number);
            let face = Arc::clone(&self);
            let executing = request.accept();
            tokio::spawn(async move { face.serve(executing, goal, number).await });
        }
    }

    /// The goal on the floor, unless it cannot be one.
    fn read(&self, goal: &PoseStamped) -> Result<Pose2, String> {
        let frame = &goal.header.frame_id;
        if *frame != self.names.frame {
            return Err(format!("it is in `{frame}`, not in `{}`", self.names.frame));
        }
        let pose = pose_from_msg(&goal.pose).map_err(|error| error.to_string())?;
        let (t, yaw) = (pose.translation, pose.rotation.euler_angles().2);
        let goal = Pose2::new(t.x, t.y, yaw);
        let costmap = Arc::clone(&self.state.borrow().costmap);
        if costmap.layout().cell(goal.xy()).is_none() {
            return Err(RouteError::GoalOutside { x: goal.x, y: goal.y }.to_string());
        }
        if self.names.footprint.collides(&costmap, &goal) {
            return Err(RouteError::GoalBlocked { x: goal.x, y: goal.y }.to_string());
        }
        Ok(goal)
    }

    async fn serve<A: Wire>(&self, executing: ExecutingGoal<A>, goal: Pose2, number: u64) {
        // The one before stops when it sees that there is a newer one.
        let _driving = self.driving.lock().await;
        let begun = self.state.borrow().time;
        let mut newest = self.newest.subscribe();
        let recoveries = watch::Sender::new(0i16);
        let drive = self.navigate(&goal, &recoveries);
        tokio::pin!(drive);
        let mut feedback = tokio::time::interval(FEEDBACK_PERIOD);
        let mut stopping = false;
        let outcome = loop {
            tokio::select! {
                outcome = &mut drive => break outcome,
                () = executing.cancelled(), if !stopping => {
                    stopping = true;
                    if self.robot.brake().is_err() {
                        break Err(NavigateError::Gone);
                    }
                }
                _ = newest.wait_for(|newest| *newest != number), if !stopping => {
                    stopping = true;
                    if self.robot.brake().is_err() {
                        break Err(NavigateError::Gone);
                    }
                }
                _ = feedback.tick() => {
                    let message = A::feedback(self.progress(begun, *recoveries.borrow()));
                    if let Err(error) = executing.publish_feedback(message) {
                        tracing::debug!("feedback not sent: {error}");
                    }
                }
            }
        };
        let cancelled = executing.is_cancel_requested();
        match outcome {
            Ok(()) => executing.succeed(A::result(0, String::new())),
            Err(NavigateError::Stopped) if cancelled => {
                executing.canceled(A::result(0, String::new()));
            }
            Err(error) => executing.abort(A::result(error.code(), error.to_string())),
        }
    }

    fn progress(&self, begun: f64, recoveries: i16) -> Progress {
        let state = self.state.borrow();
        let duration = |seconds: f64| {
            let time = stamp(seconds.max(0.0));
            WireDuration { sec: time.sec, nanosec: time.nanosec }
        };
        Progress {
            pose: messages::pose_msg(&self.names.frame, &state.believed, state.time),
            since: duration(state.time - begun),
            remaining: duration(state.remaining / (0.7 * self.names.max_speed)),
            recoveries,
            distance: state.remaining as f32,
        }
    }

    /// Drives to the goal, with as many recoveries as it may have.
    async fn navigate(&self, goal: &Pose2, recoveries: &watch::Sender<i16>) -> Result<(), NavigateError> {
        let mut bumps = 0;
        let mut last = NavigateError::Blocked;
        for attempt in 0..=RECOVERIES {
            recoveries.send_replace(attempt);
            let (believed, costmap) = {
                let state = self.state.borrow();
                (state.believed, Arc::clone(&state.costmap))
            };
            let (footprint, to) = (self.names.footprint.clone(), *goal);
            // Who touched something is farther off its way than it believes.
            let usual = RouteParams::default();
            let params = RouteParams { margin: usual.margin * (1 + bumps) as f64, ..usual };
            let planned =
                tokio::task::spawn_blocking(move || plan(&costmap, &footprint, &believed, &to, &params));
            let route = match planned.await.map_err(|_| NavigateError::Gone)? {
                Ok(route) => {
                    let at = self.state.borrow().time;
                    messages::sent(self.route.publish(&messages::route_msg(&self.names.frame, &route, at)));
                    route
                }
                // So near to something that it could only touch it: away first, one way or the other.
                Err(error @ RouteError::StartBlocked { .. }) => {
                    last = error.into();
                    let drive = if attempt % 2 == 0 { -BACK } else { BACK };
                    self.move_away(Leg { turn: 0.0, drive }).await?;
                    continue;
                }
                // What is in the way may leave; what the map has will not.
                Err(error) => {
                    last = error.into();
                    self.pause().await?;
                    continue;
                }
            };
            match self.follow(route).await? {
                DriveEnd::Arrived => match self.beside(goal) {
                    None => return Ok(()),
                    Some(error) => last = error,
                },
                DriveEnd::Blocked => {
                    last = NavigateError::Blocked;
                    self.pause().await?;
                }
                DriveEnd::Lost => {
                    last = NavigateError::Lost;
                    self.pause().await?;
                }
                DriveEnd::Bumped(velocity) => {
                    bumps += 1;
                    last = NavigateError::Bumped(bumps);
                    if bumps >= BUMPS {
                        break;
                    }
                    self.move_away(undone(&velocity)).await?;
                }
                DriveEnd::Stopped => return Err(NavigateError::Stopped),
                DriveEnd::Refused(DriveError::ArmMoves) => return Err(NavigateError::ArmMoves),
                DriveEnd::Refused(DriveError::NoBase | DriveError::NotFinite) => {
                    return Err(NavigateError::Gone);
                }
            }
        }
        Err(last)
    }

    async fn follow(&self, route: Route) -> Result<DriveEnd, NavigateError> {
        self.robot.drive(route).await.map_err(NavigateError::from)
    }

    /// What is wrong with where the base stands, if anything is.
    fn beside(&self, goal: &Pose2) -> Option<NavigateError> {
        let believed = self.state.borrow().believed;
        let (xy, yaw) = (believed.distance(goal), turn(believed.yaw, goal.yaw).abs());
        let good = xy <= self.names.goal_tolerance_xy && yaw <= self.names.goal_tolerance_yaw;
        (!good).then_some(NavigateError::Beside { xy, yaw })
    }

    /// Moves a little; what comes of it the next plan will see.
    async fn move_away(&self, leg: Leg) -> Result<(), NavigateError> {
        let start = self.state.borrow().believed;
        let route = Route { start, legs: vec![leg] };
        match self.follow(route).await? {
            DriveEnd::Stopped => Err(NavigateError::Stopped),
            _ => Ok(()),
        }
    }

    /// Waits in simulated time.
    async fn pause(&self) -> Result<(), NavigateError> {
        let mut state = self.state.clone();
        let until = state.borrow().time + WAIT;
        state.wait_for(|state| state.time >= until).await.map_err(|_| NavigateError::Gone)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_what_it_touched_the_base_goes_back_as_it_came() {
        let leg = |linear, angular| undone(&Velocity { linear, angular });
        assert_eq!(leg(0.3, 0.1), Leg { turn: 0.0, drive: -BACK });
        assert_eq!(leg(-0.3, 0.0), Leg { turn: 0.0, drive: BACK });
        assert_eq!(leg(0.0, 0.8), Leg { turn: -TURN_BACK, drive: 0.0 });
        assert_eq!(leg(0.0, -0.8), Leg { turn: TURN_BACK, drive: 0.0 });
    }
}
