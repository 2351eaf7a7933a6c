//! Somebody interferes while a goal is carried out: things are moved, knocked over, taken out of the hand, taken away. What is claimed
//! at the end is so, and what can be done all the same is done.

use crate::harness::{EASY_GOAL, EASY_PLACE, Stage, StageOptions, one_at_a_time};
use prehend_cli::goal::Followed;
use prehend_cli::outcome::Outcome;
use serde_json::{Value, json};

/// What stands upright, and wider things that are put on the plate.
const SCENE: &str = "\
name: disturbed
objects:
- {name: red block, class: block, shape: box, color: red, size: [0.04, 0.04, 0.05], mass: 0.08, pose: {xy: [0.40, 0.12]}}
- {name: green bottle, class: bottle, shape: cylinder, color: green, size: {radius: 0.025, height: 0.13}, mass: 0.2, pose: {xy: [0.32, -0.28]}}
- {name: plate, class: plate, shape: plate, color: white, size: {radius: 0.095}, mass: 0.4, pose: {xy: [0.45, -0.12]}}
";
/// Beyond the edge of the table, metres.
const AWAY: [f64; 3] = [0.4, -2.5, 0.2];

fn put(object: &str, position: [f64; 3]) -> Value {
    json!({"ask": "move_object", "object": object, "position": position})
}

/// Nothing is done to the world.
fn nothing() -> Value {
    json!({"ask": "snapshot"})
}

/// Fails when what is claimed is not so, as physics has it; gives whether `object` is on the plate.
async fn is_told_as_it_is(stage: &mut Stage, what: &str, object: &str, followed: &Followed) -> bool {
    let truth = stage.arm_stands().await;
    let found = truth.objects.iter().find(|known| known.name == object).expect("the object");
    let is_so = found.on.iter().chain(&found.inside).any(|under| under == "plate") && !found.held;
    let claimed = followed.ending.outcome == Outcome::Done;
    assert!(is_so || !claimed, "{what}: claimed, but {found:?}\n{}", stage.story());
    assert!(claimed || followed.ending.reason.is_some(), "{what}: {:?}\n{}", followed.ending, stage.story());
    is_so && claimed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_somebody_does_meanwhile_is_noticed() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions { scene: SCENE, ..StageOptions::default() }).await;

    for (what, phase, requests) in [
        ("moved before it is grasped", "approach", vec![put("red block", [0.34, 0.02, 0.026])]),
        // The first transit leads to the block, the second one carries it.
        ("taken out of the hand", "transit", vec![nothing(), put("red block", [0.36, 0.2, 0.026])]),
    ] {
        let followed = stage.goal_with_requests(EASY_GOAL, phase, &requests).await;
        let reached = is_told_as_it_is(&mut stage, what, "red block", &followed).await;
        assert!(reached, "{what}: {:?}\n{}", followed.ending, stage.story());
        stage.put("red block", EASY_PLACE).await;
    }

    // It rolls: whether it is found and held again depends on where it ends. It is not claimed when it is not so.
    let knocked = json!({"ask": "knock_over", "object": "green bottle", "toward": [1.0, 0.0]});
    let followed =
        stage.goal_with_requests("put the green bottle on the plate", "approach", &[knocked]).await;
    is_told_as_it_is(&mut stage, "knocked over", "green bottle", &followed).await;
    stage.put("green bottle", [0.4, -2.0, 0.2]).await;

    let gone = stage.goal_with_requests(EASY_GOAL, "approach", &[put("red block", AWAY)]).await;
    assert_eq!(gone.ending.outcome, Outcome::Failed, "{:?}\n{}", gone.ending, stage.story());
    assert!(gone.ending.reason.is_some(), "{:?}", gone.ending);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_arm_that_does_not_come_forward_lifts_what_it_holds_and_goes_on() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions { scene: SCENE, ..StageOptions::default() }).await;
    // The first transit leads to the block, the second one carries it; the approach ends at it.
    for (what, phase, requests) in [
        ("with nothing in the hand", "approach", vec![json!({"ask": "jam"})]),
        ("with the block in the hand", "transit", vec![nothing(), json!({"ask": "jam"})]),
    ] {
        let told = stage.events.len();
        let followed = stage.goal_with_requests(EASY_GOAL, phase, &requests).await;
        assert!(
            is_told_as_it_is(&mut stage, what, "red block", &followed).await,
            "{what}: {:?}",
            followed.ending
        );
        let noticed = stage.events[told..].iter().any(|event| event.message.contains("the arm is stuck"));
        assert!(noticed, "{what}: {}", stage.story());
        stage.put("red block", EASY_PLACE).await;
    }
    stage.end().await;
}
