//! A goal from its submission to its end, followed through the trace.

use crate::node::NodeName;
use crate::observer::Observer;
use crate::outcome::{Ending, Outcome, Planning};
use crate::tally::Tally;
use crate::trace;
use futures::StreamExt;
use prehend_agent::Fault;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{GoalPlan, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::SubmitGoal;
use prehend_ros::RosError;
use prehend_scene::Reason;
use std::time::{Duration, Instant};

/// Longest time until the agent says whether it takes a goal.
const SUBMIT_DEADLINE: Duration = Duration::from_secs(20);
/// Longest time until a plan is heard after the goal's end.
const PLAN_DEADLINE: Duration = Duration::from_secs(2);
/// How often it is looked whether the graph still lives.
const WATCH_PERIOD: Duration = Duration::from_millis(100);
/// Longest time until the agent's first heartbeat is heard, many of its periods.
const SILENCE: Duration = Duration::from_secs(5);
/// A clock that has not advanced for longer is that of a robot that is lost. The nodes that move it look to that themselves, and sooner.
const STANDSTILL: Duration = Duration::from_secs(3);
/// How long lines are still taken after the end: those of other nodes may come later than the agent's last.
const AFTERGLOW: Duration = Duration::from_millis(150);

/// A goal that has ended.
#[derive(Clone, Debug)]
pub struct Followed {
    /// Its id, when the agent took it.
    pub goal_id: Option<String>,
    /// How it ended.
    pub ending: Ending,
    /// Who planned it.
    pub planning: Planning,
    /// What its trace adds up to.
    pub tally: Tally,
    /// Wall seconds from submission to end.
    pub seconds: f64,
}

/// Submits `text` and follows it to its end, however it ends: told by the agent, after `timeout`, by the loss of the
/// agent or the sim, or because `danger` completes (whatever else must end the goal).
pub async fn run(
    observer: &mut Observer,
    text: &str,
    timeout: Duration,
    on_event: impl FnMut(&TraceEvent),
    danger: impl Future<Output = Ending>,
) -> Followed {
    let request = SubmitGoal::Request { text: text.to_owned(), ..Default::default() };
    run_request(observer, request, timeout, on_event, danger).await
}

/// Asks what a goal would come to: how it would end, and the plan; `None` when the goal was not taken, or no plan was heard.
///
/// Errors: [`RosError`] of the subscription to plans.
pub async fn plan(
    observer: &mut Observer,
    text: &str,
    timeout: Duration,
    on_event: impl FnMut(&TraceEvent),
    danger: impl Future<Output = Ending>,
) -> Result<(Followed, Option<GoalPlan>), RosError> {
    let mut plans = observer.latched::<GoalPlan>(names::GOAL_PLAN)?;
    let request = SubmitGoal::Request { text: text.to_owned(), plan_only: true, ..Default::default() };
    let followed = run_request(observer, request, timeout, on_event, danger).await;
    let Some(id) = &followed.goal_id else { return Ok((followed, None)) };
    let of_goal = plans.wait_for(|plan| plan.as_ref().is_some_and(|plan| plan.goal_id == *id));
    let heard = tokio::time::timeout(PLAN_DEADLINE, of_goal).await;
    let plan = heard.ok().and_then(Result::ok).and_then(|plan| plan.clone());
    Ok((followed, plan))
}

/// As [`run`], with everything that can be asked for with a goal.
pub async fn run_request(
    observer: &mut Observer,
    request: SubmitGoal::Request,
    timeout: Duration,
    mut on_event: impl FnMut(&TraceEvent),
    danger: impl Future<Output = Ending>,
) -> Followed {
    let started = Instant::now();
    let mut tally = Tally::new(started);
    // Who has just joined has not heard the agent yet: the first life that is heard is the one that took the goal.
    let mut incarnation = None;
    let goal = observer.goal.clone();
    let mut submission = std::pin::pin!(goal.request(request, SUBMIT_DEADLINE));
    let mut danger = std::pin::pin!(danger);
    let mut answered = false;
    let mut goal_id: Option<String> = None;
    // The end may be told before the answer to the submission arrives.
    let mut endings: Vec<(String, Ending, Planning)> = Vec::new();
    let mut planning = Planning::default();
    let mut watch = tokio::time::interval(WATCH_PERIOD);
    let ending = loop {
        tokio::select! {
            biased;
            ending = &mut danger => break ending,
            Some(event) = observer.trace.next() => {
                on_event(&event);
                tally.add(&event);
                if let Some(ending) = end_of(&event) {
                    endings.push((event.goal_id.clone(), ending, planning_of(&event)));
                }
            }
            answer = &mut submission, if !answered => {
                answered = true;
                match accepted(answer) {
                    Ok(id) => goal_id = Some(id),
                    Err(ending) => {
                        planning.question = asked(&ending);
                        break ending;
                    }
                }
            }
            _ = watch.tick() => {
                incarnation = incarnation.or_else(|| observer.life(NodeName::Agent.name()).map(|life| life.incarnation));
                if incarnation.is_none() && started.elapsed() > SILENCE {
                    break Ending::failed(Reason::PeerLost, "the agent is silent");
                }
                if let Some(ending) = lost(observer, incarnation) {
                    break ending;
                }
                if started.elapsed() > timeout {
                    break Ending::failed(Reason::Timeout, format!("not done after {:.0} s", timeout.as_secs_f64()));
                }
            }
        }
        if let Some(id) = &goal_id
            && let Some((_, ending, planned)) = endings.iter().find(|(ended, ..)| ended == id)
        {
            planning = planned.clone();
            break ending.clone();
        }
    };
    let seconds = started.elapsed().as_secs_f64();
    let afterglow = async {
        while let Some(event) = observer.trace.next().await {
            on_event(&event);
            tally.add(&event);
        }
    };
    // The stream has no end, so this always takes the whole time.
    let _ = tokio::time::timeout(AFTERGLOW, afterglow).await;
    Followed { goal_id, ending, planning, tally, seconds }
}

/// Id of the goal, or the end it came to at once.
/// What the person is asked, when a goal was refused at once.
fn asked(ending: &Ending) -> Option<String> {
    let reason = Reason::parse(ending.reason.as_deref()?)?;
    Fault::new(reason, ending.message.as_str()).asks().then(|| ending.message.clone())
}

fn accepted(answer: Result<SubmitGoal::Response, RosError>) -> Result<String, Ending> {
    match answer {
        Ok(answer) if answer.accepted => Ok(answer.goal_id),
        Ok(answer) => {
            let reason =
                if answer.reason.is_empty() { Reason::Internal.code().to_owned() } else { answer.reason };
            Err(Ending { outcome: Outcome::Refused, reason: Some(reason), message: answer.message })
        }
        Err(
            error @ (RosError::Unavailable { .. } | RosError::PeerLost { .. } | RosError::Timeout { .. }),
        ) => Err(Ending::failed(Reason::PeerLost, format!("the agent did not take the goal: {error}"))),
        Err(error) => {
            Err(Ending::failed(Reason::Internal, format!("the goal could not be submitted: {error}")))
        }
    }
}

/// The end an event tells of.
fn end_of(event: &TraceEvent) -> Option<Ending> {
    // A question about the last goal is answered, and no goal.
    if event.kind != TraceEvent::KIND_GOAL || !["finished", "answered"].contains(&event.name.as_str()) {
        return None;
    }
    let data = trace::data(event);
    let text = |key: &str| data.get(key).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
    let outcome =
        Outcome::parse(&text("outcome")).or_else(|| Outcome::parse(&event.status)).unwrap_or(Outcome::Failed);
    let reason = Some(text("reason")).filter(|reason| !reason.is_empty());
    let message =
        Some(text("message")).filter(|text| !text.is_empty()).unwrap_or_else(|| event.message.clone());
    Some(Ending { outcome, reason, message })
}

/// Who planned a goal whose end an event tells of.
fn planning_of(event: &TraceEvent) -> Planning {
    serde_json::from_value(trace::data(event)).unwrap_or_default()
}

/// The end of a goal whose agent or robot is gone.
fn lost(observer: &Observer, incarnation: Option<u64>) -> Option<Ending> {
    let agent = NodeName::Agent.name();
    let restarted = incarnation.is_some() && observer.life(agent).map(|life| life.incarnation) != incarnation;
    if restarted {
        return Some(Ending::failed(
            Reason::PeerLost,
            "the agent was restarted: it does not know the goal any more",
        ));
    }
    if incarnation.is_some() && !observer.alive(agent) {
        return Some(Ending::failed(Reason::PeerLost, "the agent is silent"));
    }
    if observer.node.clock().standstill() > STANDSTILL {
        return Some(Ending::failed(Reason::PeerLost, "the clock stands still: the robot side is lost"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(status: &str, data: &str) -> TraceEvent {
        TraceEvent {
            kind: "goal".into(),
            name: "finished".into(),
            status: status.into(),
            message: "text".into(),
            data: data.into(),
            ..Default::default()
        }
    }

    #[test]
    fn the_end_is_read_from_its_data() {
        let ending =
            end_of(&finished("x", r#"{"outcome":"refused","reason":"not_found","message":"no mug"}"#));
        let expected =
            Ending { outcome: Outcome::Refused, reason: Some("not_found".into()), message: "no mug".into() };
        assert_eq!(ending, Some(expected));
    }

    #[test]
    fn who_planned_is_read_from_its_data() {
        let data = r#"{"planner":"model","model":{"calls":3,"tokens_in":10,"tokens_out":2,"seconds":0.5},"question":"Which?"}"#;
        let planning = planning_of(&finished("x", data));
        assert_eq!((planning.planner.as_str(), planning.question.as_deref()), ("model", Some("Which?")));
        assert_eq!(planning.model.map(|model| model.calls), Some(3));
        assert_eq!(planning_of(&finished("x", "garbage")), Planning::default());
    }

    #[test]
    fn an_end_without_data_is_never_a_success_by_accident() {
        assert_eq!(end_of(&finished("", "garbage")).map(|ending| ending.outcome), Some(Outcome::Failed));
        assert_eq!(end_of(&finished("done", "null")).map(|ending| ending.outcome), Some(Outcome::Done));
        assert_eq!(end_of(&TraceEvent { name: "started".into(), ..finished("done", "") }), None);
    }
}
