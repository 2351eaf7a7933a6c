//! A plan that waits for a person's word: what the viewer says of it, and the answer.

use crate::observer::Observer;
use nalgebra::Isometry3;
use prehend_convert as convert;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{Approval, Approvals, ErrorCode};
use prehend_msgs::prehend_interfaces::srv::Approve;
use prehend_ros::{Client, QosProfile, RosError};
use prehend_viewer::{Candidate, Confirm, PanelLine, Plan, Question, Story, Tone};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// Who says yes or no here; it stands in the trace.
const WHO: &str = "viewer";
/// Longest wait for the verifier's answer.
const DEADLINE: Duration = Duration::from_secs(3);

/// The questions of a graph, and the keys that answer them.
pub(super) struct Asking {
    approvals: watch::Receiver<Option<Approvals>>,
    client: Client<Approve::Service>,
    confirm: Confirm,
    /// The question on the panel: the keys answer what a person sees, not what came since.
    shown: Option<Approval>,
    started: Instant,
    said: mpsc::UnboundedReceiver<PanelLine>,
    say: mpsc::UnboundedSender<PanelLine>,
}

impl Asking {
    /// Hears the questions of a graph.
    ///
    /// Errors: [`RosError`] of the subscription.
    pub(super) fn join(observer: &Observer) -> Result<Self, RosError> {
        let (say, said) = mpsc::unbounded_channel();
        Ok(Self {
            approvals: observer.latched(names::VERIFIER_APPROVALS)?,
            client: observer.node.create_client(names::VERIFIER_APPROVE, QosProfile::services())?,
            confirm: Confirm::default(),
            shown: None,
            started: Instant::now(),
            said,
            say,
        })
    }

    /// Takes what was said meanwhile; whether what is told has changed.
    pub(super) fn changed(&mut self) -> bool {
        let is_over = self.confirm.pass(self.started.elapsed().as_secs_f64());
        let mut is_new = self.approvals.has_changed().unwrap_or(false) || is_over;
        while let Ok(line) = self.said.try_recv() {
            self.confirm.said = Some(line);
            is_new = true;
        }
        is_new
    }

    /// Takes the keys for yes and no; whether there were any.
    pub(super) fn press(&mut self, keys: &[bool]) -> bool {
        for yes in keys {
            let open = self.shown.clone();
            let now = self.started.elapsed().as_secs_f64();
            if self.confirm.press(open.as_ref().map(|asked| asked.id.as_str()), *yes, now)
                && let Some(asked) = open
            {
                self.answer(&asked, *yes);
            }
        }
        !keys.is_empty()
    }

    /// The question for the panel, with the plan in `story` when nothing was heard of it.
    pub(super) fn lines(&mut self, story: &mut Story, building: Option<&str>) -> Vec<PanelLine> {
        self.approvals.mark_unchanged();
        let asked = self.first();
        self.shown.clone_from(&asked);
        if let Some(asked) = &asked {
            expect(story, asked, building);
        }
        let waiting = self.approvals.borrow().as_ref().map_or(0, |approvals| approvals.open.len());
        let question = asked.map(|asked| Question {
            id: asked.id,
            words: asked.words,
            why: asked.why,
            others: waiting.saturating_sub(1),
        });
        self.confirm.lines(question.as_ref())
    }

    fn first(&self) -> Option<Approval> {
        self.approvals.borrow().as_ref()?.open.first().cloned()
    }

    /// Sends the answer to just this question; what becomes of it is told later.
    fn answer(&self, asked: &Approval, yes: bool) {
        let (client, say) = (self.client.clone(), self.say.clone());
        let (request, words) = (request(asked, yes), asked.words.clone());
        let word = if yes { "yes" } else { "no" };
        tokio::spawn(async move {
            let line = match client.request(request, DEADLINE).await {
                Ok(answer) if answer.error_code == ErrorCode::SUCCESS => {
                    PanelLine::new(Tone::Good, format!("{words}: {word}, taken"))
                }
                Ok(answer) => PanelLine::new(Tone::Bad, format!("not taken: {}", answer.error_message)),
                Err(error) => PanelLine::new(Tone::Bad, format!("not taken: {error}")),
            };
            tracing::info!("{}", line.text);
            // The window may have been closed.
            let _ = say.send(line);
        });
    }
}

/// The answer: for this question and this plan, and no other.
fn request(asked: &Approval, yes: bool) -> Approve::Request {
    Approve::Request {
        id: asked.id.clone(),
        plan_hash: asked.plan.plan_hash.clone(),
        approve: yes,
        who: WHO.to_owned(),
    }
}

/// The poses of a plan that waits: of the tool, or, in the frame of the building, of the base.
fn expect(story: &mut Story, asked: &Approval, building: Option<&str>) {
    let poses: Vec<(&str, Isometry3<f64>)> = asked
        .plan
        .pose_goals
        .iter()
        .filter_map(|goal| Some((goal.header.frame_id.as_str(), convert::pose_from_msg(&goal.pose).ok()?)))
        .collect();
    let drives = poses.iter().find(|(frame, _)| building == Some(*frame));
    if let Some((_, pose)) = drives {
        let (at, yaw) = (pose.translation.vector, pose.rotation.euler_angles().2);
        story.expect(None, Some([at.x, at.y, yaw]));
        return;
    }
    let opening = asked.plan.gripper_opening;
    let candidates: Vec<Candidate> = poses
        .into_iter()
        .map(|(_, stage_from_tool)| Candidate { stage_from_tool, opening, chosen: true })
        .collect();
    story.expect((!candidates.is_empty()).then(|| Plan { candidates, joints: Vec::new() }), None);
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::geometry_msgs::msg::PoseStamped;

    fn asked(frame: &str, x: f64) -> Approval {
        let mut goal = PoseStamped::default();
        goal.header.frame_id = frame.to_owned();
        (goal.pose.position.x, goal.pose.orientation.w) = (x, 1.0);
        let mut asked = Approval { id: "a-1".to_owned(), ..Default::default() };
        (asked.plan.plan_hash, asked.plan.pose_goals) = ("5842".to_owned(), vec![goal]);
        asked
    }

    #[test]
    fn the_answer_names_the_question_and_the_plan_that_were_shown() {
        for yes in [true, false] {
            let request = request(&asked("link_base", 0.4), yes);
            assert_eq!((request.id.as_str(), request.plan_hash.as_str()), ("a-1", "5842"));
            assert_eq!((request.approve, request.who.as_str()), (yes, "viewer"));
        }
    }

    #[test]
    fn a_plan_of_which_nothing_was_heard_is_shown_by_its_poses() {
        let mut story = Story::default();
        expect(&mut story, &asked("link_base", 0.4), Some("map"));
        let at = story.plan().map(|plan| plan.candidates[0].stage_from_tool.translation.x);
        assert_eq!((at, story.heading_for()), (Some(0.4), None));
        let mut story = Story::default();
        expect(&mut story, &asked("map", 3.0), Some("map"));
        assert_eq!((story.plan(), story.heading_for()), (None, Some([3.0, 0.0, 0.0])));
        let mut story = Story::default();
        expect(&mut story, &asked("link_base", f64::NAN), None);
        assert_eq!((story.plan(), story.heading_for()), (None, None));
    }
}
