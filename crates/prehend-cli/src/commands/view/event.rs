//! Events of the trace as the viewer takes them.

use crate::trace;
use prehend_convert as convert;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_scene::Diagnostics;
use prehend_viewer::{Candidate, Event, Plan};
use serde::Deserialize;
use serde_json::Value;

/// The event with what of its data is shown.
pub(super) fn read_event(event: &TraceEvent) -> Event {
    let data = trace::data(event);
    Event {
        kind: event.kind.clone(),
        name: event.name.clone(),
        status: event.status.clone(),
        message: event.message.clone(),
        diagnostics: Option::<Diagnostics>::deserialize(&data["diagnostics"]).ok().flatten(),
        plan: read_plan(&data),
        places: Vec::<[f64; 3]>::deserialize(&data["places"]).unwrap_or_default(),
    }
}

/// A pose of the tool as the skills tell it: metres, and the quaternion x, y, z, w.
#[derive(Deserialize)]
struct ToolPose {
    position: [f64; 3],
    rotation: [f64; 4],
    opening: f64,
}

impl ToolPose {
    fn candidate(&self, chosen: bool) -> Option<Candidate> {
        let stage_from_tool = convert::isometry(self.position, self.rotation).ok()?;
        Some(Candidate { stage_from_tool, opening: self.opening, chosen })
    }
}

/// The plan that an event tells; `None` when it tells none.
fn read_plan(data: &Value) -> Option<Plan> {
    let found = Vec::<ToolPose>::deserialize(&data["candidates"]).ok()?;
    let chosen = ToolPose::deserialize(&data["chosen"]).ok()?;
    let joints = Vec::<Vec<f64>>::deserialize(&data["joints"]).ok()?;
    let candidates = found.iter().filter_map(|pose| pose.candidate(false)).chain(chosen.candidate(true));
    Some(Plan { candidates: candidates.collect(), joints })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(data: &str) -> Event {
        read_event(&TraceEvent { kind: "evidence".into(), data: data.into(), ..Default::default() })
    }

    #[test]
    fn diagnostics_are_read_where_an_event_has_them() {
        let data = r#"{"records":["a"],"diagnostics":{"omega":0.9,"zeta":0.8,"mu":0.7,"score":0.85,"committed":true,
            "deficiency":null,"gaps":{"omega":0.0,"zeta":0.0,"mu":0.0}}}"#;
        for (data, expected) in [(data, Some(0.9)), (r#"{"diagnostics":null}"#, None), ("no JSON", None)] {
            assert_eq!(event(data).diagnostics.map(|d| d.omega), expected, "{data}");
        }
    }

    #[test]
    fn places_are_read_where_an_event_has_them() {
        assert_eq!(event(r#"{"places":[[1,2,0.5],[3,4,0]]}"#).places, [[1.0, 2.0, 0.5], [3.0, 4.0, 0.0]]);
        for data in ["{}", r#"{"places":[[1,2]]}"#, r#"{"places":"here"}"#, "no JSON"] {
            assert_eq!(event(data).places.len(), 0, "{data}");
        }
    }

    #[test]
    fn a_plan_is_read_with_the_candidate_that_was_chosen() {
        let pose = |x: f64| format!(r#"{{"position":[{x},0,0.1],"rotation":[1,0,0,0],"opening":0.05}}"#);
        let data = |chosen: &str| {
            format!(
                r#"{{"candidates":[{},{}],"chosen":{chosen},"joints":[[0,1],[2,3]]}}"#,
                pose(0.3),
                pose(0.4)
            )
        };
        let plan = event(&data(&pose(0.4))).plan.expect("a plan");
        let chosen: Vec<f64> = plan
            .candidates
            .iter()
            .filter(|one| one.chosen)
            .map(|one| one.stage_from_tool.translation.x)
            .collect();
        assert_eq!((plan.candidates.len(), chosen), (3, vec![0.4]));
        assert_eq!(plan.joints.last(), Some(&vec![2.0, 3.0]));
        assert_eq!(event(&data("null")).plan, None);
    }
}
