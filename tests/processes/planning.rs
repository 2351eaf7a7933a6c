//! What a robot would do, and a person who is asked before it does it.

use crate::harness::{
    CALL, EASY_GOAL, EASY_PLACE, PATIENCE, PREHEND, Stage, StageOptions, in_time, one_at_a_time, repository,
    wait_for,
};
use prehend_cli::goal::{self, Followed};
use prehend_cli::node::NodeName;
use prehend_cli::outcome::Outcome;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::action::{ExecuteGoal, ExecuteSkill};
use prehend_msgs::prehend_interfaces::msg::{Approval, Approvals, ErrorCode, GoalPlan, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::{Approve, Stop, SubmitGoal};
use prehend_ros::QosProfile;
use tokio::sync::watch;

/// Plans a goal on a stage: how it ended, and the plan that was told.
async fn planned(
    stage: &mut Stage,
    plans: &mut watch::Receiver<Option<GoalPlan>>,
    text: &str,
) -> (Followed, GoalPlan) {
    let request = SubmitGoal::Request { text: text.to_owned(), plan_only: true, ..Default::default() };
    let events = &mut stage.events;
    let keep = |event: &TraceEvent| events.push(event.clone());
    let observer = &mut stage.graph.observer;
    let followed = goal::run_request(observer, request, PATIENCE, keep, std::future::pending()).await;
    let id = followed.goal_id.clone().expect("the goal was taken");
    let told = plans.wait_for(|plan| plan.as_ref().is_some_and(|plan| plan.goal_id == id));
    let plan = in_time("the plan is told", told).await.expect("a plan").clone().expect("a plan");
    (followed, plan)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_says_what_is_done_then_and_moves_nothing() {
    let _turn = one_at_a_time().await;
    let mut stage = Stage::start(StageOptions::default()).await;
    let mut plans = stage.graph.observer.latched::<GoalPlan>(names::GOAL_PLAN).expect("a subscription");
    let before = stage.motions().await;
    let (followed, plan) = planned(&mut stage, &mut plans, EASY_GOAL).await;
    assert_eq!(followed.ending.outcome, Outcome::Done, "{:?}\n{}", followed.ending, stage.story());
    assert_eq!(followed.tally.permits.asked, 0, "a plan asks for no permit\n{}", stage.story());
    let [step] = plan.steps.as_slice() else { panic!("{plan:?}") };
    assert_eq!(step.status, "planned", "{} {}", step.detail, step.words);
    let skills: Vec<&str> = step.prospects.iter().map(|prospect| prospect.plan.skill.as_str()).collect();
    assert_eq!(skills, ["grasp", "place"]);
    for prospect in &step.prospects {
        assert!(prospect.granted && !prospect.asks, "{}", prospect.reason);
        assert!(prospect.motions.iter().all(|motion| motion.points.len() > 1), "motions have a way");
        assert_eq!(prospect.phases.len(), prospect.motions.len());
    }
    assert!(step.prospects[0].diagnostics.committed, "the evidence is told");
    // What is put down is planned from where it would have been lifted to.
    let end = |skill: usize, motion: usize| &step.prospects[skill].motions[motion].points;
    let (lifted, start) = (end(0, 2).last().expect("a point"), end(1, 0).first().expect("a point"));
    let apart = lifted.positions.iter().zip(&start.positions).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 0.02, "the placement begins {apart} rad from where the lift ends");
    assert!(plan.picture.starts_with(b"\x89PNG"), "a picture");

    // A sentence about nothing that is there is refused, in words alone; a question is answered.
    let (followed, plan) = planned(&mut stage, &mut plans, "put the banana on the plate").await;
    assert_eq!(followed.ending.reason.as_deref(), Some("not_found"), "{:?}", followed.ending);
    assert!(plan.steps.is_empty() && plan.outcome == "refused", "{plan:?}");

    // The action tells the same to who asks it.
    let node = stage.graph.observer.node.clone();
    let action = node.create_action_client::<ExecuteGoal::Action>(names::EXECUTE_GOAL).expect("a client");
    let asked = ExecuteGoal::Goal { text: EASY_GOAL.to_owned(), plan_only: true };
    let mut handle = action.send_goal(asked, CALL).await.expect("taken");
    let (_, result) = in_time("the action ends", handle.result(CALL)).await.expect("a result");
    assert_eq!((result.outcome.as_str(), result.plans.len()), ("done", 1), "{}", result.message);
    assert_eq!(result.plans[0].steps[0].prospects.len(), 2);

    // While the robot is stopped it can be asked what it would do; garbage to the skills is an error.
    let stop = node.create_client::<Stop::Service>(names::STOP, QosProfile::services()).expect("a client");
    let engage = |engage| Stop::Request { engage, reason: "test".to_owned() };
    assert!(stop.request(engage(true), CALL).await.expect("an answer").success);
    let (followed, _) = planned(&mut stage, &mut plans, EASY_GOAL).await;
    assert_eq!(followed.ending.outcome, Outcome::Done, "{:?}", followed.ending);
    let skills = node.create_action_client::<ExecuteSkill::Action>(names::EXECUTE_SKILL).expect("a client");
    let mut wrong = result.plans[0].steps[0].prospects[0].clone();
    wrong.grip_width = f64::NAN;
    let place = &result.plans[0].steps[0].prospects[1].plan;
    let asked = ExecuteSkill::Goal {
        skill: place.skill.clone(),
        object_key: place.object_key.clone(),
        target_keys: place.target_keys.clone(),
        relation: place.relation.clone(),
        plan_only: true,
        assumed: vec![wrong],
        ..Default::default()
    };
    let mut handle = skills.send_goal(asked, CALL).await.expect("taken");
    let (_, refused) = in_time("the skill ends", handle.result(CALL)).await.expect("a result");
    assert_eq!(refused.error_code, ErrorCode::SKILL_BAD_REQUEST, "{}", refused.error_message);
    assert_eq!(stage.motions().await, before, "something moved\n{}", stage.story());
    assert!(stop.request(engage(false), CALL).await.expect("an answer").success);

    // What was planned is what is done.
    stage.easy_goal_is_reached("a plan").await;
    stage.end().await;
}

/// The next question to a person.
async fn question(asked: &mut watch::Receiver<Option<Approvals>>) -> Approval {
    let open = asked.wait_for(|asked| asked.as_ref().is_some_and(|asked| !asked.open.is_empty()));
    in_time("a person is asked", open).await.expect("a question").clone().expect("a question").open.remove(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_is_asked_before_the_first_touch_and_what_is_approved_is_what_moves() {
    let _turn = one_at_a_time().await;
    let mut options = StageOptions::default();
    options.parameters.push((NodeName::Verifier, "approval:=first"));
    let mut stage = Stage::start(options).await;
    let node = stage.graph.observer.node.clone();
    let mut asked =
        stage.graph.observer.latched::<Approvals>(names::VERIFIER_APPROVALS).expect("a subscription");
    let approve = node
        .create_client::<Approve::Service>(names::VERIFIER_APPROVE, QosProfile::services())
        .expect("a client");
    let word = |approval: &Approval, yes: bool| Approve::Request {
        id: approval.id.clone(),
        plan_hash: approval.plan.plan_hash.clone(),
        approve: yes,
        who: "anna".to_owned(),
    };

    // No: nothing is touched, and the goal says who said so.
    let before = stage.motions().await;
    let is_asked = |event: &TraceEvent| event.name == "approval" && event.status == "asked";
    let refused = stage
        .goal_and(EASY_GOAL, is_asked, async |_| {
            let approval = question(&mut asked).await;
            let mut other = word(&approval, true);
            other.plan_hash = "0".repeat(64);
            let answer = approve.request(other, CALL).await.expect("an answer");
            assert_eq!(answer.error_code, ErrorCode::VERIFIER_NOT_APPROVED, "another plan is not approved");
            let answer = approve.request(word(&approval, false), CALL).await.expect("an answer");
            assert_eq!(answer.error_code, ErrorCode::SUCCESS, "{}", answer.error_message);
        })
        .await;
    assert_eq!(
        refused.ending.reason.as_deref(),
        Some("not_approved"),
        "{:?}\n{}",
        refused.ending,
        stage.story()
    );
    assert_eq!(refused.ending.outcome, Outcome::Refused);
    assert!(refused.ending.message.contains("anna"), "{:?}", refused.ending);
    assert_eq!(stage.motions().await, before, "moved although a person said no");

    // Yes, by the command: the plan that was shown is the one whose permit is redeemed, and the rest of the goal goes on from it.
    let mut shown = String::new();
    let domain = stage.graph.observer.domain_id();
    let folder = stage.folder.path().to_owned();
    let picture = folder.join("plan.png");
    let done = stage
        .goal_and(EASY_GOAL, is_asked, async |_| {
            let approval = question(&mut asked).await;
            shown = approval.plan.plan_hash.clone();
            let command = tokio::process::Command::new(PREHEND)
                .current_dir(repository())
                .env("ROS_DOMAIN_ID", domain.to_string())
                .args(["approve", &approval.id, "--who", "ben", "--out"])
                .arg(&picture)
                .output();
            let output = in_time("prehend approve", command).await.expect("runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        })
        .await;
    assert_eq!(done.ending.outcome, Outcome::Done, "{:?}\n{}", done.ending, stage.story());
    let redeemed =
        stage.events.iter().find(|event| event.status == "redeemed" && event.data.contains(&shown));
    assert!(redeemed.is_some(), "what was approved is not what moved\n{}", stage.story());
    let used = stage.events.iter().find(|event| event.name == "approval" && event.status == "used");
    assert!(used.is_some_and(|event| event.message.contains("ben")), "who said yes is in the trace");
    let asked_for = stage.events.iter().filter(|event| is_asked(event)).count();
    assert_eq!(asked_for, 2, "once a goal\n{}", stage.story());
    assert!(
        std::fs::read(&picture).is_ok_and(|bytes| bytes.starts_with(b"\x89PNG")),
        "a picture of the plan"
    );

    // A goal that is stopped takes its question back.
    stage.put("red block", EASY_PLACE).await;
    let cancelled = stage
        .goal_and(EASY_GOAL, is_asked, async |_| {
            let approval = question(&mut asked).await;
            let stop =
                node.create_client::<Stop::Service>(names::STOP, QosProfile::services()).expect("a client");
            let engage = Stop::Request { engage: true, reason: "test".to_owned() };
            assert!(stop.request(engage, CALL).await.expect("an answer").success);
            wait_for("the question is taken back", async || {
                let open = asked.borrow().as_ref().is_some_and(|asked| !asked.open.is_empty());
                (!open).then_some(())
            })
            .await;
            let answer = approve.request(word(&approval, true), CALL).await.expect("an answer");
            assert_eq!(answer.error_code, ErrorCode::VERIFIER_NOT_APPROVED);
        })
        .await;
    assert_eq!(cancelled.ending.reason.as_deref(), Some("stopped"), "{:?}", cancelled.ending);
    stage.end().await;
}
