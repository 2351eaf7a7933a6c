//! Evidence about one object, gathered on a thread of its own and judged by the node `verifier`.

use super::DEADLINE;
use super::adviser::RemoteAdviser;
use super::failure::Failure;
use prehend_convert as convert;
use prehend_harness::memory::{Episode, Prior};
use prehend_harness::skills::{initial, tools};
use prehend_harness::subject::Subject;
use prehend_harness::{Adviser, BUDGET, Course, Gathered, Judge, Tool, gather};
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_msgs::prehend_interfaces::srv::Assess;
use prehend_ros::Client;
use prehend_scene::{Deficiency, Diagnostics, Evidence};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Longest time that a skill is waited for. The slowest takes some 50 ms.
const SKILL_LIMIT: Duration = Duration::from_secs(2);

/// Evidence, and the verifier's id of what it judged of it.
pub(super) struct Assessed {
    pub(super) gathered: Gathered,
    pub(super) id: String,
    /// What is learned when its use turns out well.
    pub(super) episode: Episode,
}

/// The verifier, asked from the thread that gathers.
pub(super) struct RemoteJudge {
    pub(super) client: Client<Assess::Service>,
    pub(super) runtime: tokio::runtime::Handle,
    pub(super) key: String,
    /// Version of the map that the object was fetched from.
    pub(super) map_version: u64,
    /// The verifier's id of its last judgement.
    pub(super) assessment: String,
}

impl Judge for RemoteJudge {
    type Error = Failure;

    fn assess(&mut self, evidence: &[Evidence]) -> Result<Diagnostics, Failure> {
        let request = Assess::Request {
            object_key: self.key.clone(),
            map_version: self.map_version,
            evidence: evidence.iter().map(convert::evidence_to_msg).collect(),
        };
        let answer =
            self.runtime.block_on(self.client.request(request, DEADLINE)).map_err(Failure::VerifierLost)?;
        if answer.error_code != ErrorCode::SUCCESS {
            return Err(Failure::NotJudged(answer.error_message));
        }
        if !answer.doubts.is_empty() {
            tracing::warn!("{}: {}", self.key, answer.doubts);
        }
        self.assessment = answer.assessment_id;
        convert::diagnostics_from_msg(&answer.diagnostics).map_err(|e| Failure::NotJudged(e.to_string()))
    }
}

/// Gathers until the verifier commits or nothing more helps; blocks.
pub(super) fn gathered(
    subject: &Arc<Subject>,
    mut judge: RemoteJudge,
    prior: &Prior,
    mut adviser: Option<RemoteAdviser>,
) -> Result<Assessed, Failure> {
    let limited = |tool| -> Box<dyn Tool + Send> { Box::new(Limited::new(tool, SKILL_LIMIT)) };
    let skills = tools(subject).into_iter().map(limited).collect();
    let adviser = adviser.as_mut().map(|adviser| adviser as &mut dyn Adviser);
    let course = Course { budget: BUDGET, prior, adviser };
    let gathered = gather(initial(subject), skills, &mut judge, course)?;
    let episode = Episode::of(subject.appearance(), &gathered);
    Ok(Assessed { gathered, id: judge.assessment, episode })
}

/// A skill that is waited for only so long: one that hangs costs its turn. Its thread is left to itself.
struct Limited {
    name: String,
    tool: Option<Box<dyn Tool + Send>>,
    limit: Duration,
}

impl Limited {
    fn new(tool: Box<dyn Tool + Send>, limit: Duration) -> Self {
        Self { name: tool.name().to_owned(), tool: Some(tool), limit }
    }
}

impl Tool for Limited {
    fn name(&self) -> &str {
        &self.name
    }

    fn cures(&self, evidence: &[Evidence]) -> &[Deficiency] {
        self.tool.as_ref().map_or(&[Deficiency::Mu], |tool| tool.cures(evidence))
    }

    fn cost(&self) -> f64 {
        self.tool.as_ref().map_or(1.0, |tool| tool.cost())
    }

    fn run(&mut self, evidence: &[Evidence]) -> Vec<Evidence> {
        let Some(mut tool) = self.tool.take() else { return Vec::new() };
        let (done, heard) = mpsc::channel();
        let evidence = evidence.to_vec();
        let work = move || {
            // Nobody listens any more when it came too late.
            let _ = done.send(tool.run(&evidence));
        };
        if let Err(error) = std::thread::Builder::new().name("skill".to_owned()).spawn(work) {
            tracing::warn!("{}: no thread for it: {error}", self.name);
            return Vec::new();
        }
        heard.recv_timeout(self.limit).unwrap_or_else(|error| {
            tracing::warn!("{} gave no evidence: {error}", self.name);
            Vec::new()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_geometry::Mask;
    use prehend_scene::{EvidenceType, Region};

    enum Scripted {
        Answers,
        Hangs(mpsc::Receiver<()>),
        Crashes,
    }

    impl Tool for Scripted {
        fn name(&self) -> &str {
            "scripted"
        }
        fn cures(&self, _: &[Evidence]) -> &[Deficiency] {
            &[Deficiency::Zeta]
        }
        fn run(&mut self, evidence: &[Evidence]) -> Vec<Evidence> {
            match self {
                Self::Answers => evidence.to_vec(),
                Self::Hangs(forever) => {
                    let _ = forever.recv();
                    evidence.to_vec()
                }
                Self::Crashes => panic!("a skill crashes"),
            }
        }
    }

    #[test]
    fn a_skill_that_hangs_or_crashes_costs_its_turn() {
        let record = Evidence {
            id: "a".to_owned(),
            kind: EvidenceType::Seg,
            producer: "a".to_owned(),
            view: "home".to_owned(),
            scale: 1.0,
            confidence: 0.9,
            label: String::new(),
            region: Region::Mask(Mask::filled_box(64, 48, 1, 1, 6, 5)),
            stamp: 0.0,
        };
        let run = |tool: Scripted, limit| {
            let mut limited = Limited::new(Box::new(tool), limit);
            assert_eq!(limited.cures(&[]), [Deficiency::Zeta]);
            (limited.run(std::slice::from_ref(&record)), limited.run(&[]))
        };
        let long = Duration::from_secs(600);
        assert_eq!(run(Scripted::Answers, long), (vec![record.clone()], Vec::new()));
        assert_eq!(run(Scripted::Crashes, long), (Vec::new(), Vec::new()));
        let (hold, forever) = mpsc::channel();
        assert_eq!(run(Scripted::Hangs(forever), Duration::from_millis(20)), (Vec::new(), Vec::new()));
        drop(hold);
    }
}
