//! The spatial tools: measures and predicates on objects of the inventory (ASP III-C).

use super::{ToolOutput, ToolValue, Toolbox};
use crate::world::Fault;
use prehend_scene::{Object, ObjectKey, Reason, Scope, spatial};

/// A spatial tool with its objects: `spatial(objects: List[ObjectKey]) -> float | bool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Horizontal distance of an object from the robot's base, metres.
    DistanceTo,
    /// Distance between the centres of two objects, metres.
    DistanceBetween,
    /// Free space between two objects, metres.
    GapBetween,
    /// Side of a cube of the same volume, metres.
    SizeOf,
    /// Whether the first is left of the second.
    LeftOf,
    /// Whether the first is right of the second.
    RightOf,
    /// Whether the first is nearer to the robot than the second.
    InFrontOf,
    /// Whether the first is farther from the robot than the second.
    Behind,
    /// Whether two objects are near each other.
    Near,
    /// Whether the first is between the second and the third.
    Between,
    /// Whether the first is inside the second.
    Inside,
    /// Whether the first is on the second.
    On,
}

impl Measure {
    /// Every spatial tool with its name and number of objects.
    pub const ALL: [(Self, &'static str, usize); 12] = [
        (Self::DistanceTo, "distance_to", 1),
        (Self::DistanceBetween, "distance_between", 2),
        (Self::GapBetween, "gap_between", 2),
        (Self::SizeOf, "size_of", 1),
        (Self::LeftOf, "left_of", 2),
        (Self::RightOf, "right_of", 2),
        (Self::InFrontOf, "in_front_of", 2),
        (Self::Behind, "behind", 2),
        (Self::Near, "near", 2),
        (Self::Between, "between", 3),
        (Self::Inside, "inside", 2),
        (Self::On, "on", 2),
    ];

    /// Name of the tool.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(measure, _, _)| *measure == self).map_or("", |(_, name, _)| name)
    }

    /// Number of objects it takes.
    pub fn arity(self) -> usize {
        Self::ALL.iter().find(|(measure, _, _)| *measure == self).map_or(0, |(_, _, arity)| *arity)
    }

    /// The value for these objects, exactly [`Measure::arity`] of them.
    /// `robot` is where it stands in the map's frame, `sight` how it looks at the objects.
    fn value(self, objects: &[&Object], [x, y]: [f64; 2], sight: &spatial::Sight) -> Option<ToolValue> {
        use spatial as s;
        Some(match (self, objects) {
            (Self::DistanceTo, [a]) => {
                let centre = s::centre(a);
                ToolValue::Number((centre.x - x).hypot(centre.y - y))
            }
            (Self::SizeOf, [a]) => ToolValue::Number(s::size_of(a)),
            (Self::DistanceBetween, [a, b]) => ToolValue::Number(s::distance_between(a, b)),
            (Self::GapBetween, [a, b]) => ToolValue::Number(s::gap(a, b)),
            (Self::LeftOf, [a, b]) => ToolValue::Bool(s::left_of(a, b, sight)),
            (Self::RightOf, [a, b]) => ToolValue::Bool(s::right_of(a, b, sight)),
            (Self::InFrontOf, [a, b]) => ToolValue::Bool(s::in_front_of(a, b, sight)),
            (Self::Behind, [a, b]) => ToolValue::Bool(s::behind(a, b, sight)),
            (Self::Near, [a, b]) => ToolValue::Bool(s::near(a, b)),
            (Self::Inside, [a, b]) => ToolValue::Bool(s::inside(a, b)),
            (Self::On, [a, b]) => ToolValue::Bool(s::on(a, b)),
            (Self::Between, [a, b, c]) => ToolValue::Bool(s::between(a, b, c)),
            _ => return None,
        })
    }
}

impl Toolbox<'_> {
    /// Calls a spatial tool. Preconditions: every object is in the inventory.
    ///
    /// Errors: [`Reason::Infeasible`] when a precondition does not hold; the fault of a map update.
    pub fn measure(&mut self, measure: Measure, objects: &[ObjectKey]) -> Result<ToolOutput, Fault> {
        self.begin_free(measure.name(), &super::names(objects))?;
        match self.measured(measure, objects) {
            Ok(output) => {
                self.world.tool_answered(measure.name(), &output);
                Ok(output)
            }
            Err(fault) => Err(self.failed(measure.name(), fault)),
        }
    }

    fn measured(&mut self, measure: Measure, keys: &[ObjectKey]) -> Result<ToolOutput, Fault> {
        let infeasible = |message: String| Fault::new(Reason::Infeasible, message);
        if let Some(key) = keys.iter().find(|key| !self.state.inventory.contains(key)) {
            return Err(infeasible(format!("{key} is not in the inventory; call object_retrieval first")));
        }
        let map = self.map()?;
        let objects: Vec<&Object> = keys.iter().filter_map(|key| Self::object(&map, key)).collect();
        let robot = match self.scope {
            Scope::Room => self.world.base_pose().map_or([0.0; 2], |[x, y, _]| [x, y]),
            Scope::Local => [0.0; 2],
        };
        let sight = self.sight(&objects);
        let value = (objects.len() == keys.len()).then(|| measure.value(&objects, robot, &sight)).flatten();
        let Some(value) = value else {
            return Err(infeasible(format!(
                "{} takes {} objects of the map",
                measure.name(),
                measure.arity()
            )));
        };
        let feedback_msg = match &value {
            ToolValue::Number(number) => format!("{number:.3} m"),
            ToolValue::Bool(holds) => if *holds { "true" } else { "false" }.to_owned(),
            ToolValue::State(_) => String::new(),
        };
        Ok(ToolOutput { success: true, feedback_msg, output: Some(value) })
    }

    /// A measure in metres; 0 when the tool gives none.
    pub(crate) fn number(&mut self, measure: Measure, objects: &[ObjectKey]) -> Result<f64, Fault> {
        match self.measure(measure, objects)?.output {
            Some(ToolValue::Number(number)) => Ok(number),
            _ => Ok(0.0),
        }
    }

    /// Whether a predicate holds.
    pub(crate) fn holds(&mut self, measure: Measure, objects: &[ObjectKey]) -> Result<bool, Fault> {
        Ok(matches!(self.measure(measure, objects)?.output, Some(ToolValue::Bool(true))))
    }
}
