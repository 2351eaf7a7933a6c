//! Doubt that a look could settle is looked at before a person is asked, refused or answered.

use super::Agent;
use crate::language::Goal;
use crate::planner::{Knowledge, Plan, faces_front, plan};
use crate::tools::{FRAMES, RestsOn, Toolbox};
use crate::world::Fault;
use prehend_scene::{ObjectKey, Reason, Skill};

/// Most drives in a room to what may be meant, too.
const DRIVES: usize = 2;
/// Most looks from elsewhere in one goal: a person waits for each.
const LOOKS: usize = 4;
/// Most looks at one thing: what two poses do not settle, a third hardly does.
const LOOKS_AT_ONE: usize = 2;

impl Agent {
    /// Plans a goal. What may be meant beside what was found is looked at: in further frames, in a room from nearer. Before it ends
    /// otherwise than with actions, all that this end rests on is, from elsewhere, too.
    ///
    /// Errors: those of the planner. A look that fails does not end the goal: then it ends as it would have without.
    pub(crate) fn plan_surely(
        &self,
        readings: &[Goal],
        tools: &mut Toolbox<'_>,
        knowledge: Knowledge<'_>,
    ) -> Result<Plan, Fault> {
        let mut planned = self.plan_here(readings, tools, knowledge)?;
        for _ in 0..DRIVES {
            if !tools.look_nearer(rests_on(&planned))? {
                break;
            }
            planned = plan(readings, tools, knowledge);
        }
        let mut looked: Vec<ObjectKey> = Vec::new();
        while looked.len() < LOOKS {
            let looks_at = |key: &ObjectKey| looked.iter().filter(|other| *other == key).count();
            let doubts = self.doubts(&planned, tools)?;
            // What was not looked at yet comes first.
            let next = doubts.into_iter().map(|key| (looks_at(&key), key)).min_by_key(|(looks, _)| *looks);
            let Some((looks, key)) = next.filter(|(looks, _)| *looks < LOOKS_AT_ONE) else { break };
            let view = self.view_of(&key, looks == 0, tools)?;
            if tools.survey(Skill::Look, view, Some(&key)).is_err() {
                return tools.interrupted().map_or(planned, Err);
            }
            looked.push(key);
            planned = plan(readings, tools, knowledge);
        }
        if !looked.is_empty() && !matches!(planned, Ok(Plan::Actions(_))) {
            // The next goal, or question, sees the workspace again. What was found out is told even if the arm stays where it is.
            let went_home = tools.survey(Skill::Home, "", None);
            if let (Err(_), Some(fault)) = (went_home, tools.interrupted()) {
                return Err(fault);
            }
        }
        planned
    }

    /// Plans a goal from where the camera is, with further frames while one leaves something in doubt; nothing moves.
    ///
    /// Errors: those of a map update; the planner's own stand in the result.
    pub(super) fn plan_here(
        &self,
        readings: &[Goal],
        tools: &mut Toolbox<'_>,
        knowledge: Knowledge<'_>,
    ) -> Result<Result<Plan, Fault>, Fault> {
        let mut planned = plan(readings, tools, knowledge);
        // A name in doubt may decide who is meant also where the plan is one of actions.
        for _ in 0..FRAMES {
            if !tools.names_in_doubt() && self.doubts(&planned, tools)?.is_empty() {
                break;
            }
            tools.forget_map();
            planned = plan(readings, tools, knowledge);
        }
        Ok(planned)
    }

    /// The survey pose for a look at an object: at first the one that sees upright faces, if the robot has it and the object has one;
    /// else what suits the object best.
    pub(crate) fn view_of(
        &self,
        key: &ObjectKey,
        is_first: bool,
        tools: &mut Toolbox<'_>,
    ) -> Result<&'static str, Fault> {
        let front = self.settings.front_view.filter(|_| is_first);
        let faces_front = tools.map()?.get(key).is_some_and(|object| faces_front(object, &self.lexicon));
        Ok(front.filter(|_| faces_front).unwrap_or(""))
    }

    /// What the end of a plan rests on and a look could settle; nothing for a plan of actions, which look for themselves.
    pub(super) fn doubts(
        &self,
        planned: &Result<Plan, Fault>,
        tools: &mut Toolbox<'_>,
    ) -> Result<Vec<ObjectKey>, Fault> {
        rests_on(planned).map_or(Ok(Vec::new()), |end| tools.doubts(end))
    }
}

/// What the end of a plan rests on that a look could settle; `None` for one of actions, and when no look would change it.
fn rests_on(planned: &Result<Plan, Fault>) -> Option<RestsOn> {
    match planned {
        Ok(Plan::Actions(_)) => None,
        Ok(Plan::Answer(_)) => Some(RestsOn::Everything),
        Err(fault) => match fault.reason {
            Reason::Ambiguous => Some(RestsOn::Which),
            Reason::NotFound => Some(RestsOn::Everything),
            _ => None,
        },
    }
}
