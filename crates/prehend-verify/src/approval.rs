//! A person's word before a motion: when one is asked for, and what became of the question.
//!
//! The gate has judged the plan before and judges it again afterwards: a yes adds to a commit, it never replaces one.

use crate::{Approval, Settings, Verdict};
use prehend_scene::{PlanHash, Skill, SkillPlan};
use std::collections::{HashMap, VecDeque};

/// Goals whose first approval is remembered.
const GOALS: usize = 64;
/// Seconds for which an answer, or that there was none, can still be fetched.
const KEPT: f64 = 600.0;
/// Longest name of who answered, characters.
const LONGEST_NAME: usize = 80;

/// Why a claim or an answer is of no use.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ApprovalError {
    /// Nobody asked this.
    #[error("nothing waits for approval under {id}")]
    Unknown {
        /// The id.
        id: String,
    },
    /// The id is of another plan.
    #[error("{id} is about another plan: look at what is asked now")]
    OtherPlan {
        /// The id.
        id: String,
    },
    /// It was answered before.
    #[error("{id} was answered already")]
    Answered {
        /// The id.
        id: String,
    },
    /// No answer came in time, which is a no.
    #[error("nobody approved it within {seconds:.0} s")]
    Late {
        /// How long it was waited, seconds.
        seconds: f64,
    },
    /// A person said no.
    #[error("{who} said no")]
    Denied {
        /// Who.
        who: String,
    },
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nobody has answered yet.
    Waiting,
    /// A person said yes; the yes is used up.
    Approved {
        /// Who.
        who: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    None,
    Yes(String),
    No(String),
    Used,
}

#[derive(Clone, Debug)]
struct Entry {
    plan_hash: PlanHash,
    asked: f64,
    expires: f64,
    answer: Answer,
}

/// The questions of one verifier's life. Ids carry its incarnation, so a restart voids the old ones.
#[derive(Debug)]
pub struct Approvals {
    incarnation: u64,
    next: u64,
    entries: HashMap<String, Entry>,
    /// Goals of which a plan that touches something or drives was carried out.
    begun: VecDeque<String>,
    /// The same of goals that are only planned.
    foretold: VecDeque<String>,
}

impl Approvals {
    /// No questions; `incarnation` must differ between lives of the verifier.
    pub fn new(incarnation: u64) -> Self {
        Self {
            incarnation,
            next: 0,
            entries: HashMap::new(),
            begun: VecDeque::new(),
            foretold: VecDeque::new(),
        }
    }

    /// Why a person has to be asked about a plan that the gate would grant; `None` when nobody has to.
    pub fn wanted(
        &self,
        when: Approval,
        (plan, verdict): (&SkillPlan, &Verdict),
        goal_id: &str,
        settings: &Settings,
    ) -> Option<String> {
        let unsure = || match verdict.diagnostics {
            Some(d) if d.score < settings.sure_score => Some(format!(
                "the evidence is accepted with v {:.2}, below {:.2}",
                d.score, settings.sure_score
            )),
            _ => None,
        };
        let named = || match verdict.name_share {
            Some(share) if share < settings.sure_name => Some(format!(
                "{} has its name by {share:.2} of the votes, below {:.2}",
                plan.object, settings.sure_name
            )),
            _ => None,
        };
        match when {
            Approval::Never => None,
            Approval::Unsure => unsure().or_else(named),
            Approval::First => (touches(plan.skill) && !holds(&self.begun, goal_id))
                .then(|| "it is the first of its goal".to_owned()),
            Approval::Each => Some("each motion is asked for".to_owned()),
        }
    }

    /// The same of a plan that the gate would grant in a goal that is only planned: of such a goal, too, only the first is asked for.
    pub fn foretell(
        &mut self,
        when: Approval,
        judged: (&SkillPlan, &Verdict),
        goal_id: &str,
        settings: &Settings,
    ) -> Option<String> {
        let wanted = self.wanted(when, judged, goal_id, settings);
        if when == Approval::First && holds(&self.foretold, goal_id) {
            return None;
        }
        note(&mut self.foretold, judged.0.skill, goal_id);
        wanted
    }

    /// Asks about a plan from `now` until `expires` (seconds); its id.
    pub fn ask(&mut self, plan_hash: PlanHash, now: f64, expires: f64) -> String {
        self.entries.retain(|_, entry| entry.expires + KEPT > now);
        self.next += 1;
        let id = format!("{:x}-a{}", self.incarnation & 0xffff, self.next);
        let entry = Entry { plan_hash, asked: now, expires, answer: Answer::None };
        self.entries.insert(id.clone(), entry);
        id
    }

    /// Whether a question still waits for an answer.
    pub fn is_open(&self, id: &str, now: f64) -> bool {
        self.entries.get(id).is_some_and(|entry| entry.answer == Answer::None && now <= entry.expires)
    }

    /// Takes a person's answer to the question `id`, which must be about the plan with this hash.
    ///
    /// Errors: [`ApprovalError`].
    pub fn answer(
        &mut self,
        id: &str,
        plan_hash: &PlanHash,
        (who, yes): (&str, bool),
        now: f64,
    ) -> Result<(), ApprovalError> {
        let entry = self.entry(id, plan_hash)?;
        if entry.answer != Answer::None {
            return Err(ApprovalError::Answered { id: id.to_owned() });
        }
        // A clock that is not a number must not prolong a question.
        if !(now.is_finite() && now <= entry.expires) {
            return Err(ApprovalError::Late { seconds: entry.expires - entry.asked });
        }
        let who: String = who.trim().chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect();
        let who = if who.is_empty() { "somebody".to_owned() } else { who };
        entry.answer = if yes { Answer::Yes(who) } else { Answer::No(who) };
        Ok(())
    }

    /// What became of the question `id` about the plan with this hash. A yes is good once.
    ///
    /// Errors: [`ApprovalError`]; a no, and no answer in time, are errors, too.
    pub fn claim(&mut self, id: &str, plan_hash: &PlanHash, now: f64) -> Result<Claim, ApprovalError> {
        let entry = self.entry(id, plan_hash)?;
        match &entry.answer {
            Answer::None if now.is_finite() && now <= entry.expires => Ok(Claim::Waiting),
            Answer::None => Err(ApprovalError::Late { seconds: entry.expires - entry.asked }),
            Answer::No(who) => Err(ApprovalError::Denied { who: who.clone() }),
            Answer::Used => Err(ApprovalError::Answered { id: id.to_owned() }),
            Answer::Yes(who) => {
                let who = who.clone();
                entry.answer = Answer::Used;
                Ok(Claim::Approved { who })
            }
        }
    }

    /// Notes that a permit for a plan of a goal was redeemed: where only the first is asked for, the others go on from it.
    pub fn redeemed(&mut self, skill: Skill, goal_id: &str) {
        note(&mut self.begun, skill, goal_id);
    }

    /// Takes a question back: who asked does not wait any more.
    pub fn withdraw(&mut self, id: &str) {
        self.entries.remove(id);
    }

    fn entry(&mut self, id: &str, plan_hash: &PlanHash) -> Result<&mut Entry, ApprovalError> {
        let entry = self.entries.get_mut(id).ok_or_else(|| ApprovalError::Unknown { id: id.to_owned() })?;
        if entry.plan_hash != *plan_hash {
            return Err(ApprovalError::OtherPlan { id: id.to_owned() });
        }
        Ok(entry)
    }
}

fn holds(goals: &VecDeque<String>, goal_id: &str) -> bool {
    !goal_id.is_empty() && goals.iter().any(|known| known == goal_id)
}

/// Notes a goal of which something was touched; the oldest of many is forgotten.
fn note(goals: &mut VecDeque<String>, skill: Skill, goal_id: &str) {
    if !touches(skill) || goal_id.is_empty() || holds(goals, goal_id) {
        return;
    }
    if goals.len() == GOALS {
        goals.pop_front();
    }
    goals.push_back(goal_id.to_owned());
}

/// Whether a skill touches something or drives.
fn touches(skill: Skill) -> bool {
    !matches!(skill, Skill::Look | Skill::Home)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::tests::settings;
    use prehend_scene::{Diagnostics, Gaps, ObjectKey};

    fn plan(skill: Skill) -> SkillPlan {
        SkillPlan {
            skill,
            object: ObjectKey::from("cup"),
            targets: Vec::new(),
            relation: None,
            part: String::new(),
            motion: None,
            held_object: None,
            pose_goals: Vec::new(),
            gripper_opening: 0.05,
            map_version: 1,
        }
    }

    fn verdict(score: Option<f64>, name_share: Option<f64>) -> Verdict {
        let diagnostics = score.map(|score| Diagnostics {
            omega: 1.0,
            zeta: 1.0,
            mu: 1.0,
            score,
            committed: true,
            deficiency: None,
            gaps: Gaps::default(),
        });
        Verdict { findings: Vec::new(), diagnostics, name_share }
    }

    #[test]
    fn who_is_asked_depends_on_the_choice_the_evidence_and_what_was_approved_before() {
        let mut approvals = Approvals::new(1);
        let settings = settings();
        let grasp = plan(Skill::Grasp);
        let sure = verdict(Some(0.99), Some(1.0));
        let asked = |approvals: &Approvals, when, plan: &SkillPlan, verdict: &Verdict| {
            approvals.wanted(when, (plan, verdict), "goal-1", &settings).is_some()
        };
        for (when, expected) in [
            (Approval::Never, [false; 4]),
            (Approval::Unsure, [false, true, true, false]),
            (Approval::First, [true, true, true, false]),
            (Approval::Each, [true; 4]),
        ] {
            let thin = verdict(Some(0.81), Some(1.0));
            let unnamed = verdict(Some(0.99), Some(0.55));
            let look = (plan(Skill::Look), verdict(None, None));
            let found = [
                asked(&approvals, when, &grasp, &sure),
                asked(&approvals, when, &grasp, &thin),
                asked(&approvals, when, &grasp, &unnamed),
                asked(&approvals, when, &look.0, &look.1),
            ];
            assert_eq!(found, expected, "{}", when.name());
        }
        // A look begins nothing; a grasp does, for its own goal alone.
        approvals.redeemed(Skill::Look, "goal-1");
        assert!(asked(&approvals, Approval::First, &grasp, &sure));
        approvals.redeemed(Skill::Grasp, "goal-1");
        assert!(!asked(&approvals, Approval::First, &grasp, &sure));
        assert!(approvals.wanted(Approval::First, (&grasp, &sure), "goal-2", &settings).is_some());
        // What belongs to no goal is always the first.
        approvals.redeemed(Skill::Grasp, "");
        assert!(approvals.wanted(Approval::First, (&grasp, &sure), "", &settings).is_some());
    }

    #[test]
    fn a_plan_tells_of_a_question_where_the_goal_would_be_asked_one() {
        let mut approvals = Approvals::new(1);
        let (settings, sure) = (settings(), verdict(Some(0.99), Some(1.0)));
        let [look, grasp, place] = [Skill::Look, Skill::Grasp, Skill::Place].map(plan);
        let mut asked = |when, plan: &SkillPlan, goal: &str| {
            approvals.foretell(when, (plan, &sure), goal, &settings).is_some()
        };
        assert!(!asked(Approval::First, &look, "plan-1"));
        assert!(asked(Approval::First, &grasp, "plan-1"));
        assert!(!asked(Approval::First, &place, "plan-1"));
        assert!(asked(Approval::First, &grasp, "plan-2"));
        assert!(asked(Approval::First, &grasp, "") && asked(Approval::First, &place, ""));
        assert!(asked(Approval::Each, &look, "plan-1") && asked(Approval::Each, &place, "plan-1"));
        // A goal that is carried out under the same name is asked for all the same.
        assert!(approvals.wanted(Approval::First, (&grasp, &sure), "plan-1", &settings).is_some());
    }

    #[test]
    fn a_yes_is_good_once_for_its_plan_and_a_no_or_silence_for_nothing() {
        let (hash, other) = (PlanHash("aa".to_owned()), PlanHash("bb".to_owned()));
        let mut approvals = Approvals::new(1);
        let id = approvals.ask(hash.clone(), 10.0, 20.0);
        assert_eq!(approvals.claim(&id, &hash, 11.0), Ok(Claim::Waiting));
        let wrong = ApprovalError::OtherPlan { id: id.clone() };
        assert_eq!(approvals.answer(&id, &other, ("anna", true), 12.0), Err(wrong.clone()));
        assert_eq!(approvals.claim(&id, &other, 12.0), Err(wrong));
        assert_eq!(approvals.answer(&id, &hash, ("anna\n", true), 12.0), Ok(()));
        // The first word counts.
        let answered = ApprovalError::Answered { id: id.clone() };
        assert_eq!(approvals.answer(&id, &hash, ("ben", false), 13.0), Err(answered.clone()));
        assert_eq!(approvals.claim(&id, &hash, 13.0), Ok(Claim::Approved { who: "anna".to_owned() }));
        assert_eq!(approvals.claim(&id, &hash, 13.0), Err(answered));

        let id = approvals.ask(hash.clone(), 10.0, 20.0);
        assert_eq!(approvals.answer(&id, &hash, (" ", false), 12.0), Ok(()));
        let denied = ApprovalError::Denied { who: "somebody".to_owned() };
        assert_eq!(approvals.claim(&id, &hash, 13.0), Err(denied));

        let id = approvals.ask(hash.clone(), 10.0, 20.0);
        assert!(approvals.is_open(&id, 20.0) && !approvals.is_open(&id, 20.1));
        let late = ApprovalError::Late { seconds: 10.0 };
        assert_eq!(approvals.answer(&id, &hash, ("anna", true), 20.1), Err(late.clone()));
        assert_eq!(approvals.answer(&id, &hash, ("anna", true), f64::NAN), Err(late.clone()));
        assert_eq!(approvals.claim(&id, &hash, 20.1), Err(late));

        let id = approvals.ask(hash.clone(), 10.0, 20.0);
        approvals.withdraw(&id);
        let unknown = ApprovalError::Unknown { id: id.clone() };
        assert_eq!(approvals.answer(&id, &hash, ("anna", true), 11.0), Err(unknown.clone()));
        assert_eq!(approvals.claim(&id, &hash, 11.0), Err(unknown));
    }

    #[test]
    fn stricter_is_greater_and_names_are_read_back() {
        assert!(Approval::Never < Approval::Unsure && Approval::First < Approval::Each);
        for (name, choice) in Approval::ALL {
            assert_eq!((Approval::parse(name), choice.name()), (Some(choice), name));
        }
        assert_eq!(Approval::parse("always"), None);
    }
}
