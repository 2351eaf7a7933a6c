//! One action that somebody else chose, held against the operator's policy and what is plainly impossible.

use super::feasible::{ungraspable, unplaceable};
use super::ground::Grounder;
use super::{Action, Knowledge, Plan, plan_words};
use crate::tools::Toolbox;
use crate::world::Fault;
use prehend_scene::{Object, Reason};

/// Refuses an action of a language model that the built-in planner would not plan. Nothing moves.
///
/// Errors: unsafe, infeasible, or the fault of a tool.
pub(crate) fn judge(action: &Action, tools: &mut Toolbox<'_>, knowledge: Knowledge<'_>) -> Result<(), Fault> {
    let map = tools.map()?;
    let plan = Plan::Actions(vec![action.clone()]);
    let words = plan_words(&plan, &map);
    if let Some(violation) = knowledge.policy.check_sentence(&words, knowledge.lexicon) {
        return Err(Fault::new(Reason::Unsafe, violation.to_string()));
    }
    let fault = match action {
        Action::Pick { object, .. } => {
            map.get(object).and_then(|object| ungraspable(object, &map, knowledge))
        }
        Action::Place { object, relation, targets, .. } => {
            let to: Vec<&Object> = targets.iter().filter_map(|target| map.get(target)).collect();
            map.get(object).and_then(|object| unplaceable(object, *relation, &to, &map, knowledge))
        }
        Action::Act { .. }
        | Action::Go { .. }
        | Action::Home
        | Action::Look
        | Action::Stop
        | Action::Already(_) => None,
    };
    match fault {
        Some(fault) => Err(fault),
        None => Grounder::new(tools, knowledge).check_policy(&plan),
    }
}
