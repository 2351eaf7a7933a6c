//! Stop in each phase, and two goals at once.

use crate::harness::{
    CALL, EASY_GOAL, EASY_PLACE, Stage, StageOptions, begins, begins_in, in_time, one_at_a_time,
};
use prehend_cli::outcome::Outcome;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::srv::{Stop, SubmitGoal};
use prehend_ros::QosProfile;

/// Skills and phases of [`EASY_GOAL`] in which the stop comes. The first time the arm goes home it holds the block.
const PHASES: [(&str, &str); 10] = [
    ("grasp", "transit"),
    ("grasp", "approach"),
    ("grasp", "close"),
    ("grasp", "lift"),
    ("home", "home"),
    ("place", "transit"),
    ("place", "lower"),
    ("place", "set_down"),
    ("place", "release"),
    ("place", "retreat"),
];

async fn stop(stage: &Stage, engage: bool) {
    let node = &stage.graph.observer.node;
    let stop = node.create_client::<Stop::Service>(names::STOP, QosProfile::services()).expect("a client");
    let request = Stop::Request { engage, reason: "test".to_owned() };
    assert!(stop.request(request, CALL).await.expect("an answer").success);
    let mut latch = stage.graph.observer.stopped.clone();
    let told = latch.wait_for(|state| state.as_ref().is_some_and(|state| state.engaged == engage));
    in_time("the latch is told", told).await.expect("an answer");
}

async fn stopped_during(stage: &mut Stage, skill: &str, phase: &str) {
    let node = &stage.graph.observer.node;
    let service = node.create_client::<Stop::Service>(names::STOP, QosProfile::services()).expect("a client");
    let engage = Stop::Request { engage: true, reason: "test".to_owned() };
    let followed = stage
        .goal_and(
            EASY_GOAL,
            |event| begins_in(event, skill, phase),
            async |_| {
                assert!(service.request(engage, CALL).await.expect("an answer").success);
            },
        )
        .await;
    let when = format!("{skill}/{phase}");
    assert_eq!(followed.ending.outcome, Outcome::Failed, "{when}: {:?}", followed.ending);
    assert_eq!(followed.ending.reason.as_deref(), Some("stopped"), "{when}: {:?}", followed.ending);
    stage.arm_stands().await;

    // Latched: the next goal is refused and moves nothing.
    let before = stage.motions().await;
    let refused = stage.goal(EASY_GOAL).await;
    assert_eq!(refused.ending.outcome, Outcome::Refused, "{when}: {:?}", refused.ending);
    assert_eq!(refused.ending.reason.as_deref(), Some("stopped"));
    assert_eq!(stage.motions().await, before, "{when}: moved although stopped");

    // Cleared: the same sentence is carried out, whatever the stop left in the hand.
    stop(stage, false).await;
    stage.easy_goal_is_reached(&when).await;
    stage.put("red block", EASY_PLACE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_in_each_phase_ends_the_goal_and_stays_until_it_is_cleared() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;
    for (skill, phase) in PHASES {
        stopped_during(&mut stage, skill, phase).await;
    }
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_goals_at_once_the_second_is_refused() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;
    let submit = stage.graph.observer.goal.clone();
    let mut second = None;
    let first = stage
        .goal_and(
            EASY_GOAL,
            |event| begins(event, ""),
            async |_| {
                let request = SubmitGoal::Request {
                    text: "put the plate on the table".to_owned(),
                    ..Default::default()
                };
                second = Some(submit.request(request, CALL).await.unwrap());
            },
        )
        .await;
    let second = second.expect("it was submitted");
    assert!(!second.accepted && second.reason == "busy", "{second:?}");
    assert_eq!(first.ending.outcome, Outcome::Done, "{:?}", first.ending);
    stage.end().await;
}
