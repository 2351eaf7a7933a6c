//! The verifier node alone, with this test as its client and its clock: a permit is good for one plan, once, for a while.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod harness;

use harness::{in_time, lone_node};
use nalgebra::Isometry3;
use prehend_cli::domain::{Domain, Purpose};
use prehend_cli::node::NodeName;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, Permit};
use prehend_msgs::prehend_interfaces::srv::{Gate, RedeemPermit};
use prehend_msgs::rosgraph_msgs::msg::Clock;
use prehend_nodes::convert;
use prehend_ros::{Client, Context, Node, NodeOptions, Publisher, QosProfile};
use prehend_scene::{ObjectKey, Skill, SkillPlan};
use std::time::Duration;

/// Deadline of one call, wall time.
const CALL: Duration = Duration::from_secs(20);
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
        let request = Gate::Request { plan: convert::plan_to_msg(plan, "link_base"), ..Default::default() };
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
    verifier.gate.wait_available(harness::PATIENCE).await.unwrap();
    verifier.redeem.wait_available(harness::PATIENCE).await.unwrap();
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
