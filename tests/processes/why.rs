//! A robot at work is asked why it did what it did: answered from what it did, as its run's folder is, and nothing moves for it.

use crate::harness::{CALL, Stage, StageOptions, begins, in_time, one_at_a_time};
use prehend_cli::goal::Followed;
use prehend_cli::outcome::Outcome;
use prehend_cli::trace;
use prehend_explain::{Words, ask};
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::action::ExecuteGoal;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use serde_json::Value;

const TWO_BLOCKS: &str = "\
name: two blocks
objects:
- {name: red block, class: block, shape: box, color: red, size: [0.04, 0.04, 0.05], mass: 0.08, pose: {xy: [0.40, 0.12]}}
- {name: blue block, class: block, shape: box, color: blue, size: [0.04, 0.04, 0.05], mass: 0.08, pose: {xy: [0.40, 0.0]}}
- {name: plate, class: plate, shape: plate, color: white, size: {radius: 0.095}, mass: 0.4, pose: {xy: [0.45, -0.15]}}
";
const GOAL: &str = "put the red block on the plate";
const WHY_NOT: &str = "why did you not take the blue one?";

/// What the run's folder would have said to a question: the same events, as `trace.jsonl` has them.
fn said_of_the_folder(events: &[TraceEvent], question: &str) -> String {
    let lines: Vec<String> = events.iter().map(|event| trace::to_json(event).to_string()).collect();
    let words = Words::built_in().expect("the words");
    ask(&lines.join("\n"), &Value::Null, question, &words).1.said.join(" ")
}

fn message(followed: &Followed) -> &str {
    assert_eq!(followed.ending.outcome, Outcome::Done, "{:?}", followed.ending);
    &followed.ending.message
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_robot_says_why_while_it_stands_works_or_is_stopped() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions { scene: TWO_BLOCKS, ..StageOptions::default() }).await;
    let first = stage.goal(WHY_NOT).await;
    assert_eq!(message(&first), "Nothing was asked of me yet.");

    // While it works, from the action, which nobody else listens to.
    let node = stage.graph.observer.node.clone();
    let action = node.create_action_client::<ExecuteGoal::Action>(names::EXECUTE_GOAL).expect("a client");
    let followed = {
        let ask = async |_: &_| {
            let asked = ExecuteGoal::Goal { text: "why did you stop?".to_owned(), plan_only: false };
            let mut goal = action.send_goal(asked, CALL).await.expect("taken");
            let (_, result) = in_time("the action ends", goal.result(CALL)).await.expect("a result");
            assert_eq!(result.outcome, "done", "{}", result.message);
            assert!(result.message.contains("still at work"), "{}", result.message);
        };
        stage.goal_and(GOAL, |event| begins(event, "approach"), ask).await
    };
    assert_eq!(followed.ending.outcome, Outcome::Done, "{:?}\n{}", followed.ending, stage.story());

    // While it stands.
    stage.arm_stands().await;
    let (motions, goal_id) = (stage.motions().await, followed.goal_id.clone());
    let before = stage.events.len();
    for question in [WHY_NOT, "why did you take the red block?", "what did you see?", "how sure were you?"] {
        let expected = said_of_the_folder(&stage.events[..before], question);
        let asked = stage.goal(question).await;
        assert_eq!(message(&asked), expected, "{question}");
        assert_ne!(asked.goal_id, goal_id);
    }
    let said = said_of_the_folder(&stage.events, WHY_NOT);
    assert!(said.contains("it is blue, not red"), "the question is not the last goal of the folder: {said}");

    // While it is stopped, when a goal is refused.
    stage.graph.observer.set_stop(true, "a test").await.expect("it stops");
    let refused = stage.goal(GOAL).await;
    assert_eq!(refused.ending.reason.as_deref(), Some("stopped"));
    let asked = stage.goal("why did you refuse?").await;
    assert!(message(&asked).contains("(stopped)"), "{}", message(&asked));
    stage.graph.observer.set_stop(false, "").await.expect("it goes on");

    // A question about what is there is none about what was done, and neither is what came between.
    let there = stage.goal("where is the blue block?").await;
    assert!(!message(&there).contains("Decided by"), "{}", message(&there));
    let asked = stage.goal("why did you refuse?").await;
    assert!(message(&asked).contains("(stopped)"), "{}", message(&asked));
    let sung = stage.goal("sing a song").await;
    assert_eq!(sung.ending.outcome, Outcome::Refused);

    let ours = |event: &&TraceEvent| event.kind == TraceEvent::KIND_GOAL && event.name == "answered";
    let ids: Vec<&str> = stage.events.iter().filter(ours).map(|event| event.goal_id.as_str()).collect();
    assert!(ids.len() >= 7, "{ids:?}");
    let other =
        |event: &&TraceEvent| ids.contains(&event.goal_id.as_str()) && event.kind != TraceEvent::KIND_GOAL;
    assert!(stage.events.iter().find(other).is_none(), "no node was asked anything for a question");
    assert_eq!(stage.motions().await, motions, "nothing has moved");
    stage.end().await;
}
