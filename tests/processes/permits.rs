//! The verifier node alone, with this test as its client and its clock: a permit is good for one plan, once, for a while.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::harness::{CALL, PATIENCE, in_time, lone_node, lone_node_with, wait_for};
use nalgebra::Isometry3;
use prehend_cli::domain::{Domain, Purpose};
use prehend_cli::node::NodeName;
use prehend_convert as convert;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, Permit};
use prehend_msgs::prehend_interfaces::srv::{Approve, Gate, RedeemPermit};
use prehend_msgs::rosgraph_msgs::msg::Clock;
use prehend_ros::{Client, Context, Node, NodeOptions, Publisher, QosProfile};
use prehend_scene::{ObjectKey, Skill, SkillPlan};

/// Longer than a permit lasts, and shorter than the verifier remembers void ones, seconds.
const LATER: i32 = 300;

struct Verifier {
    gate: Client<Gate::Service>,
    redeem: Client<RedeemPermit::Service>,
    clock: Publisher<Clock>,
}

impl Verifier {
    fn of(node: &Node) -> Self {
        Self {
            gate: node.create_client(names::VERIFIER_GATE, QosProfile::services()).unwrap(),
            redeem: node.create_client(names::VERIFIER_REDEEM, QosProfile::services()).unwrap(),
            clock: node.create_publisher("/clock", QosProfile::sensor_data()).unwrap(),
        }
    }

    async fn ask(&self, plan: &SkillPlan) -> Gate::Response {
        self.ask_again(plan, "").await
    }

    /// Asks about a plan that a person was asked about under this id.
    async fn ask_again(&self, plan: &SkillPlan, approval_id: &str) -> Gate::Response {
        let plan = convert::plan_to_msg(plan, "link_base");
        let request = Gate::Request { plan, approval_id: approval_id.to_owned(), ..Default::default() };
        self.gate.request(request, CALL).await.unwrap()
    }

    async fn permit(&self, plan: &SkillPlan) -> Permit {
        let answer = self.ask(plan).await;
        assert!(answer.granted, "{answer:?}");
        answer.permit
    }

    async fn redeem(&self, id: &str, hash: &str, map_version: u64) -> i32 {
        let request =
            RedeemPermit::Request { permit_id: id.to_owned(), plan_hash: hash.to_owned(), map_version };
        self.redeem.request(request, CALL).await.unwrap().error_code
    }

    /// Sets the clock until the verifier has it: what it stamps a permit with tells.
    async fn set_clock(&self, sec: i32) {
        in_time("the verifier hears the clock", async {
            loop {
                let mut tick = Clock::default();
                tick.clock.sec = sec;
                self.clock.publish(&tick).unwrap();
                let permit = self.permit(&look(0.3)).await;
                if permit.expires.sec >= sec {
                    return;
                }
            }
        })
        .await;
    }
}

/// A plan that moves only the camera.
fn look(height: f64) -> SkillPlan {
    SkillPlan {
        skill: Skill::Look,
        object: ObjectKey::default(),
        targets: Vec::new(),
        relation: None,
        part: String::new(),
        motion: None,
        held_object: None,
        pose_goals: vec![Isometry3::translation(0.4, 0.0, height)],
        gripper_opening: 0.05,
        map_version: 7,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_permit_is_good_for_one_plan_once_for_a_while() {
    let domain = Domain::free(Purpose::Run).unwrap();
    let logs = tempfile::tempdir().unwrap();
    let mut supervisor = lone_node(NodeName::Verifier, domain.id, logs.path());
    let context = Context::create_in_domain(domain.id).unwrap();
    let node = Node::create(&context, "permit_test", names::NAMESPACE, NodeOptions::default()).unwrap();
    let verifier = Verifier::of(&node);
    verifier.gate.wait_available(PATIENCE).await.unwrap();
    verifier.redeem.wait_available(PATIENCE).await.unwrap();
    verifier.set_clock(100).await;

    // Once, and only once.
    let plan = look(0.4);
    let hash = plan.hash().0;
    let permit = verifier.permit(&plan).await;
    assert_eq!(permit.plan_hash, hash);
    assert_eq!(verifier.redeem(&permit.id, &hash, 7).await, ErrorCode::SUCCESS);
    assert_eq!(verifier.redeem(&permit.id, &hash, 7).await, ErrorCode::VERIFIER_PERMIT_USED);

    // For the plan it was given for.
    let permit = verifier.permit(&plan).await;
    let other = look(0.41).hash().0;
    assert_eq!(verifier.redeem(&permit.id, &other, 7).await, ErrorCode::VERIFIER_PERMIT_OTHER_PLAN);

    // On the map it was given for.
    let permit = verifier.permit(&plan).await;
    assert_eq!(verifier.redeem(&permit.id, &hash, 8).await, ErrorCode::VERIFIER_PERMIT_STALE_MAP);

    // While it lasts.
    let permit = verifier.permit(&plan).await;
    verifier.set_clock(100 + LATER).await;
    assert_eq!(verifier.redeem(&permit.id, &hash, 7).await, ErrorCode::VERIFIER_PERMIT_EXPIRED);

    // Nobody gave this one.
    assert_eq!(verifier.redeem("no such permit", &hash, 7).await, ErrorCode::VERIFIER_PERMIT_UNKNOWN);

    // A plan that claims another hash, and one that leaves the workspace, get none.
    let mut message = convert::plan_to_msg(&plan, "link_base");
    message.plan_hash = other;
    let request = Gate::Request { plan: message, ..Default::default() };
    let answer = verifier.gate.request(request, CALL).await.unwrap();
    assert_eq!((answer.granted, answer.error_code), (false, ErrorCode::VERIFIER_BAD_REQUEST));
    let answer = verifier.ask(&look(5.0)).await;
    assert_eq!((answer.granted, answer.error_code), (false, ErrorCode::VERIFIER_REFUSED));

    context.shutdown();
    supervisor.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_persons_yes_is_good_for_one_plan_once_and_silence_is_a_no() {
    let domain = Domain::free(Purpose::Run).unwrap();
    let logs = tempfile::tempdir().unwrap();
    let settings = logs.path().join("verifier.yaml");
    std::fs::write(&settings, "approval: each\napproval_seconds: 2.0\n").unwrap();
    let settings = format!("settings:={}", settings.display());
    let mut supervisor = lone_node_with(NodeName::Verifier, &[&settings], domain.id, logs.path());
    let context = Context::create_in_domain(domain.id).unwrap();
    let node = Node::create(&context, "approval_test", names::NAMESPACE, NodeOptions::default()).unwrap();
    let verifier = Verifier::of(&node);
    let approve =
        node.create_client::<Approve::Service>(names::VERIFIER_APPROVE, QosProfile::services()).unwrap();
    verifier.gate.wait_available(PATIENCE).await.unwrap();
    verifier.redeem.wait_available(PATIENCE).await.unwrap();
    approve.wait_available(PATIENCE).await.unwrap();
    let answer = async |id: &str, plan: &SkillPlan, yes: bool| {
        let (id, plan_hash, who) = (id.to_owned(), plan.hash().0, "anna".to_owned());
        let request = Approve::Request { id, plan_hash, approve: yes, who };
        approve.request(request, CALL).await.unwrap().error_code
    };
    let plan = look(0.4);
    let hash = plan.hash().0;

    // Foreseen: a person would be asked, and is not.
    let request =
        Gate::Request { plan: convert::plan_to_msg(&plan, "link_base"), foresee: true, ..Default::default() };
    let foreseen = verifier.gate.request(request, CALL).await.unwrap();
    assert!(foreseen.granted && foreseen.waits && foreseen.approval_id.is_empty(), "{foreseen:?}");
    assert!(foreseen.permit.id.is_empty(), "a plan that is only foreseen gets no permit");

    // Asked: no permit before the yes, one after it, and the yes is used up.
    let asked = verifier.ask(&plan).await;
    assert!(asked.waits && !asked.granted && asked.permit.id.is_empty(), "{asked:?}");
    let id = asked.approval_id;
    assert!(verifier.ask_again(&plan, &id).await.waits);
    assert_eq!(answer(&id, &plan, true).await, ErrorCode::SUCCESS);
    let other = verifier.ask_again(&look(0.41), &id).await;
    assert_eq!((other.granted, other.error_code), (false, ErrorCode::VERIFIER_NOT_APPROVED), "another plan");
    let granted = verifier.ask_again(&plan, &id).await;
    assert!(granted.granted, "{granted:?}");
    assert_eq!(verifier.redeem(&granted.permit.id, &hash, 7).await, ErrorCode::SUCCESS);
    let again = verifier.ask_again(&plan, &id).await;
    assert_eq!((again.granted, again.error_code), (false, ErrorCode::VERIFIER_NOT_APPROVED), "once");

    // A no, and no answer in time.
    let id = verifier.ask(&plan).await.approval_id;
    assert_eq!(answer(&id, &plan, false).await, ErrorCode::SUCCESS);
    let denied = verifier.ask_again(&plan, &id).await;
    assert_eq!(denied.error_code, ErrorCode::VERIFIER_NOT_APPROVED);
    assert!(denied.reason.contains("anna"), "{}", denied.reason);
    let id = verifier.ask(&plan).await.approval_id;
    let late = wait_for("the question expires", async || {
        let answer = verifier.ask_again(&plan, &id).await;
        (!answer.waits).then_some(answer)
    })
    .await;
    assert_eq!((late.granted, late.error_code), (false, ErrorCode::VERIFIER_NOT_APPROVED));
    assert_eq!(answer(&id, &plan, true).await, ErrorCode::VERIFIER_NOT_APPROVED, "too late");

    // What the gate refuses is refused whatever a person would say.
    let refused = verifier.ask(&look(5.0)).await;
    assert_eq!((refused.waits, refused.error_code), (false, ErrorCode::VERIFIER_REFUSED));

    context.shutdown();
    supervisor.stop().await;
}
