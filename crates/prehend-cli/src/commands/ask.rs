//! `prehend goal`, `state`, `map`, `stop`: ask a graph that runs.

use super::plan;
use crate::args::map::MapArgs;
use crate::args::{GoalArgs, RosOptions, ShowArgs, StopArgs};
use crate::domain::Domain;
use crate::goal;
use crate::json::{map_json, state_json};
use crate::observer::Observer;
use crate::outcome::{Ending, GoalReport, exit};
use crate::screen::{Screen, print_json};
use crate::trace;
use crate::transcript;
use prehend_msgs::prehend_interfaces::msg::{GoalPlan, ObjectInstance, ObjectMap};
use prehend_msgs::prehend_interfaces::srv::SubmitGoal;
use prehend_robots::RobotConfig;
use prehend_ros::shutdown_signal;
use prehend_scene::Reason;
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use tokio::sync::watch;

/// Longest time until the graph is found.
pub(super) const FIND_DEADLINE: Duration = Duration::from_secs(8);
/// Silence after which the newest sample of a latched topic is taken to be there.
const NO_MORE: Duration = Duration::from_millis(300);

/// A graph that may run.
pub(super) fn join(robot: &Path, ros: &RosOptions) -> Result<Observer, (String, u8)> {
    let arguments = ros.arguments().map_err(|error| (error.to_string(), exit::BAD_INPUT))?;
    let robot = RobotConfig::load(robot).map_err(|error| (error.to_string(), exit::BAD_INPUT))?;
    let domain = Domain::find().map_err(|error| (error.to_string(), exit::BAD_INPUT))?;
    Observer::join(domain.id, &robot, &arguments).map_err(|error| (error.to_string(), exit::NOT_READY))
}

/// What to do when nobody answers.
pub(super) fn absent(what: &str, observer: &Observer) -> String {
    format!(
        "{what} in ROS domain {}, namespace {}, within {} s: is `prehend up` running, with the same ROS_DOMAIN_ID?",
        observer.domain_id(),
        observer.namespace(),
        FIND_DEADLINE.as_secs()
    )
}

pub(super) fn fail((message, code): (String, u8)) -> u8 {
    eprintln!("{message}");
    code
}

pub(super) async fn goal(args: GoalArgs) -> u8 {
    let screen = Screen::new(args.json);
    match follow(&args, &screen).await {
        Ok((report, plan, interrupted)) => {
            let code = if interrupted { exit::INTERRUPTED } else { report.exit_code() };
            if args.plan_only {
                return plan::show(args.json, args.out.as_deref(), (&report, plan.as_ref()), &screen)
                    .unwrap_or(code);
            }
            code
        }
        Err((message, code)) => {
            eprintln!("{message}");
            if args.json {
                print_json(&GoalReport::not_run(&args.text, Ending::failed(Reason::PeerLost, message)));
            }
            code
        }
    }
}

async fn follow(
    args: &GoalArgs,
    screen: &Screen,
) -> Result<(GoalReport, Option<GoalPlan>, bool), (String, u8)> {
    let model_turns = transcript::turns_of(args.replay_model.as_deref());
    let model_turns = model_turns.map_err(|error| (error, exit::BAD_INPUT))?;
    let mut observer = join(&args.robot, &args.ros)?;
    if observer.goal.wait_available(FIND_DEADLINE).await.is_err() {
        return Err((absent("no agent", &observer), exit::NOT_READY));
    }
    let mut interrupted = false;
    let danger = async {
        let _ = shutdown_signal(false).await;
        interrupted = true;
        Ending::failed(Reason::Canceled, "interrupted")
    };
    let timeout = Duration::from_secs_f64(args.timeout);
    if args.plan_only {
        // Of a plan the plan is what is of interest, not how it was made.
        let planned = goal::plan(&mut observer, &args.text, timeout, |_| (), danger).await;
        let (followed, plan) = planned.map_err(|error| (error.to_string(), exit::NOT_READY))?;
        return Ok((GoalReport::not_run(&args.text, followed.ending), plan, interrupted));
    }
    let on_event = |event: &_| screen.line(trace::to_line(event, screen));
    let request = SubmitGoal::Request { text: args.text.clone(), model_turns, plan_only: false };
    let followed = goal::run_request(&mut observer, request, timeout, on_event, danger).await;
    if interrupted || followed.ending.reason.as_deref() == Some(Reason::Timeout.code()) {
        observer.stop_robot("the goal was given up").await;
        screen.line("the robot is stopped; `prehend stop --clear` lets it move again");
    }
    let mut report = GoalReport::not_run(&args.text, followed.ending);
    report.planning = followed.planning;
    report.permits = followed.tally.permits;
    report.seconds.first_motion = followed.tally.first_motion;
    report.seconds.total = Some(followed.seconds);
    let reason = report.reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    screen.line(format!("{}{reason}: {}", report.outcome.name(), report.message));
    if args.json {
        // Before the domain is left: where somebody has died, that takes half a second.
        print_json(&report);
    }
    Ok((report, None, interrupted))
}

/// The newest sample, once there is one: a writer may send those before it first.
pub(super) async fn heard<T: Clone>(receiver: &mut watch::Receiver<Option<T>>) -> Option<T> {
    let waiting = receiver.wait_for(Option::is_some);
    tokio::time::timeout(FIND_DEADLINE, waiting).await.ok()?.ok()?;
    while let Ok(Ok(())) = tokio::time::timeout(NO_MORE, receiver.changed()).await {}
    receiver.borrow_and_update().clone()
}

pub(super) async fn state(args: ShowArgs) -> u8 {
    let mut observer = match join(&args.robot, &args.ros) {
        Ok(observer) => observer,
        Err(error) => return fail(error),
    };
    let Some(state) = heard(&mut observer.state).await else {
        return fail((absent("no state", &observer), exit::NOT_READY));
    };
    if args.json {
        print_json(&state_json(&state));
        return exit::DONE;
    }
    let screen = Screen::new(false);
    let or_none = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    screen.line(format!("holds      {}", or_none(&state.held_object)));
    screen.line(format!("inventory  {}", or_none(&state.inventory.join(", "))));
    screen.line(format!("map        version {}", state.map_version));
    screen.line(format!("goal       {}", or_none(&state.goal_id)));
    screen.line(format!("step       {}", or_none(&state.step)));
    screen.line(format!(
        "stopped    {}",
        if state.stopped { "yes; `prehend stop --clear` clears it" } else { "no" }
    ));
    exit::DONE
}

pub(super) async fn map(args: MapArgs) -> u8 {
    let mut observer = match join(&args.show.robot, &args.show.ros) {
        Ok(observer) => observer,
        Err(error) => return fail(error),
    };
    let Some(mut map) = heard(&mut observer.map).await else {
        return fail((absent("no object map", &observer), exit::NOT_READY));
    };
    let screen = Screen::new(false);
    loop {
        if args.show.json {
            print_json(&map_json(&map));
        } else {
            show_map(&map, &screen);
        }
        if !args.watch {
            return exit::DONE;
        }
        let version = map.version;
        let newer = observer.map.wait_for(|map| map.as_ref().is_some_and(|map| map.version != version));
        tokio::select! {
            _ = shutdown_signal(false) => return exit::DONE,
            next = newer => match next.ok().and_then(|next| next.clone()) {
                Some(next) => map = next,
                None => return exit::DONE,
            },
        }
    }
}

/// A graph that runs, and its newest object map, for [`super::describe`].
pub(super) async fn newest_map(
    robot: &Path,
    ros: &RosOptions,
) -> Result<(Observer, ObjectMap), (String, u8)> {
    let mut observer = join(robot, ros)?;
    match heard(&mut observer.map).await {
        Some(map) => Ok((observer, map)),
        None => Err((absent("no object map", &observer), exit::NOT_READY)),
    }
}

fn show_map(map: &ObjectMap, screen: &Screen) {
    screen.line(format!(
        "version {}, {} objects, frame {}",
        map.version,
        map.objects.len(),
        map.header.frame_id
    ));
    let header = ["key", "class", "sure", "colour", "x", "y", "z", "size [cm]", "views"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(header).chain(map.objects.iter().map(row)).collect();
    screen.table(&rows);
}

fn row(object: &ObjectInstance) -> [String; 9] {
    let (at, size) = (&object.pose.position, &object.size);
    [
        object.key.clone(),
        object.class_name.clone(),
        format!("{:.2}", object.confidence),
        object.color_name.clone(),
        format!("{:.3}", at.x),
        format!("{:.3}", at.y),
        format!("{:.3}", at.z),
        format!("{:.1} x {:.1} x {:.1}", size.x * 100.0, size.y * 100.0, size.z * 100.0),
        object.view_count.to_string(),
    ]
}

pub(super) async fn stop(args: StopArgs) -> u8 {
    let observer = match join(&args.show.robot, &args.show.ros) {
        Ok(observer) => observer,
        Err(error) => return fail(error),
    };
    if !observer.wait_for_stop_service(FIND_DEADLINE).await {
        return fail((absent("nobody to stop", &observer), exit::NOT_READY));
    }
    match observer.set_stop(!args.clear, "asked by the user").await {
        Ok(message) => {
            let done =
                if args.clear { "cleared: the robot may move again" } else { "stopped; --clear releases it" };
            let said = if message.is_empty() { done.to_owned() } else { message };
            if args.show.json {
                print_json(&json!({ "stopped": !args.clear, "message": said }));
            } else {
                Screen::new(false).line(said);
            }
            exit::DONE
        }
        Err(message) => fail((message, exit::FAILED)),
    }
}
