//! `prehend approve`: the plans that wait for a person's word, and the answer.

use super::ask::{FIND_DEADLINE, absent, fail, heard, join};
use crate::args::ApproveArgs;
use crate::observer::Observer;
use crate::outcome::exit;
use crate::screen::{Screen, print_json};
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{Approval, Approvals, ErrorCode};
use prehend_msgs::prehend_interfaces::srv::Approve;
use prehend_nodes::pictures;
use prehend_robots::RobotConfig;
use prehend_ros::QosProfile;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// Longest wait for the verifier's answer.
const DEADLINE: Duration = Duration::from_secs(3);

pub(super) async fn run(args: ApproveArgs) -> u8 {
    match approve(&args).await {
        Ok(code) => code,
        Err(error) => fail(error),
    }
}

async fn approve(args: &ApproveArgs) -> Result<u8, (String, u8)> {
    let not_ready = |error: prehend_ros::RosError| (error.to_string(), exit::NOT_READY);
    let observer = join(&args.show.robot, &args.show.ros)?;
    let mut asked = observer.latched::<Approvals>(names::VERIFIER_APPROVALS).map_err(not_ready)?;
    let Some(approvals) = heard(&mut asked).await else {
        return Err((absent("no verifier", &observer), exit::NOT_READY));
    };
    let open = approvals.open;
    let chosen = match &args.id {
        None => None,
        Some(id) => Some(chosen(id, &open).map_err(|message| (message, exit::FAILED))?),
    };
    if let Some(out) = &args.out {
        let plan = chosen.or(open.first()).ok_or(("nothing waits for approval".to_owned(), exit::FAILED))?;
        draw(&observer, args, plan, out).await.map_err(|message| (message, exit::FAILED))?;
    }
    let screen = Screen::new(args.show.json);
    let Some(approval) = chosen else {
        if args.show.json {
            print_json(&json!({ "open": open.iter().map(to_json).collect::<Vec<_>>() }));
            return Ok(exit::DONE);
        }
        if open.is_empty() {
            screen.line("nothing waits for approval");
        }
        for approval in &open {
            screen.line(format!("{}  {}?  {}", approval.id, approval.words, approval.why));
        }
        if !open.is_empty() {
            screen.line(
                "`prehend approve ID` says yes, `prehend approve ID --no` no; `--out FILE.png` draws it",
            );
        }
        return Ok(exit::DONE);
    };
    let client = observer
        .node
        .create_client::<Approve::Service>(names::VERIFIER_APPROVE, QosProfile::services())
        .map_err(not_ready)?;
    client.wait_available(FIND_DEADLINE).await.map_err(not_ready)?;
    let request = Approve::Request {
        id: approval.id.clone(),
        plan_hash: approval.plan.plan_hash.clone(),
        approve: !args.no,
        who: args.who.clone(),
    };
    let answer = client.request(request, DEADLINE).await.map_err(not_ready)?;
    let taken = answer.error_code == ErrorCode::SUCCESS;
    if args.show.json {
        print_json(&json!({ "approval": to_json(approval), "answer": if args.no { "no" } else { "yes" },
            "taken": taken, "message": answer.error_message }));
    }
    if !taken {
        return Err((format!("not taken: {}", answer.error_message), exit::FAILED));
    }
    screen.line(format!("{}: {} says {}", approval.words, args.who, if args.no { "no" } else { "yes" }));
    Ok(exit::DONE)
}

/// The question of an id, or of its beginning when there is no other like it.
fn chosen<'a>(id: &str, open: &'a [Approval]) -> Result<&'a Approval, String> {
    if let Some(exact) = open.iter().find(|approval| approval.id == id) {
        return Ok(exact);
    }
    let waiting: Vec<&str> = open.iter().map(|approval| approval.id.as_str()).collect();
    Err(match waiting.as_slice() {
        [] => format!("nothing waits under {id}: it was answered, came too late, or its goal has ended"),
        waiting => format!("nothing waits under {id}; waiting: {}", waiting.join(", ")),
    })
}

async fn draw(
    observer: &Observer,
    args: &ApproveArgs,
    approval: &Approval,
    out: &Path,
) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let robot = RobotConfig::load(&args.show.robot).map_err(|error| told(&error))?;
    let mut map = observer.map.clone();
    let map = heard(&mut map).await.ok_or("no object map was heard")?;
    let marks = pictures::plan_marks([(&approval.plan, [].as_slice())], &map.header.frame_id);
    let view =
        pictures::next_view(&observer.node, &robot, &observer.tf).await.map_err(|error| told(&error))?;
    let info = observer.camera_info.borrow().clone();
    let picture = view.with_map(&map, info.as_ref(), &marks).map_err(|error| told(&error))?;
    pictures::save(&picture, out).map_err(|error| told(&error))?;
    Screen::new(args.show.json).line(format!("picture: {}", out.display()));
    Ok(())
}

fn to_json(approval: &Approval) -> Value {
    let (plan, d) = (&approval.plan, &approval.diagnostics);
    json!({ "id": approval.id, "goal_id": approval.goal_id, "words": approval.words, "why": approval.why,
        "seconds": approval.seconds, "plan_hash": plan.plan_hash, "skill": plan.skill, "object": plan.object_key,
        "targets": plan.target_keys, "evidence": { "v": d.score, "omega": d.omega, "zeta": d.zeta, "mu": d.mu } })
}
