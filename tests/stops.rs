//! Stop in each phase, and two goals at once.

mod harness;

use harness::{EASY_GOAL, Stage, StageOptions, begins, one_at_a_time};
use prehend_cli::outcome::Outcome;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::srv::{Stop, SubmitGoal};
use prehend_ros::QosProfile;
use std::time::Duration;

/// Deadline of one call.
const CALL: Duration = Duration::from_secs(20);

/// A graph of its own for each phase, because each stop leaves the block elsewhere.
async fn stopped_during(phase: &str) {
    let mut stage = Stage::start(StageOptions::default()).await;
    let node = &stage.graph.observer.node;
    let stop = node.create_client::<Stop::Service>(names::STOP, QosProfile::services()).expect("an answer");
    let engage = Stop::Request { engage: true, reason: "test".to_owned() };
    let followed = stage
        .goal_and(
            EASY_GOAL,
            |event| begins(event, phase),
            async |_| {
                assert!(stop.request(engage, CALL).await.expect("an answer").success);
            },
        )
        .await;
    assert_eq!(followed.ending.outcome, Outcome::Failed, "{phase}: {:?}", followed.ending);
    assert_eq!(followed.ending.reason.as_deref(), Some("stopped"), "{phase}: {:?}", followed.ending);
    stage.arm_stands().await;

    // Latched: the next goal is refused and moves nothing.
    let before = stage.motions().await;
    let refused = stage.goal(EASY_GOAL).await;
    assert_eq!(refused.ending.outcome, Outcome::Refused, "{phase}: {:?}", refused.ending);
    assert_eq!(refused.ending.reason.as_deref(), Some("stopped"));
    assert_eq!(stage.motions().await, before, "{phase}: moved although stopped");
    let clear = Stop::Request { engage: false, reason: String::new() };
    assert!(stop.request(clear, CALL).await.expect("an answer").success);
    let mut latch = stage.graph.observer.stopped.clone();
    let cleared = latch.wait_for(|state| state.as_ref().is_some_and(|state| !state.engaged));
    harness::in_time("the latch is clear", cleared).await.expect("an answer");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_in_each_phase_ends_the_goal_and_stays_until_it_is_cleared() {
    let _turn = one_at_a_time().await;
    for phase in ["transit", "approach", "close", "lift", "lower", "release", "retreat"] {
        stopped_during(phase).await;
    }
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
                let request = SubmitGoal::Request { text: "put the plate on the table".to_owned() };
                second = Some(submit.request(request, CALL).await.unwrap());
            },
        )
        .await;
    let second = second.expect("it was submitted");
    assert!(!second.accepted && second.reason == "busy", "{second:?}");
    assert_eq!(first.ending.outcome, Outcome::Done, "{:?}", first.ending);
    stage.end().await;
}
