//! A thing of links and joints.

use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A solid of a link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Solid {
    /// `link_from_solid`, the middle of the solid.
    pub pose: Isometry3<f64>,
    /// Its shape.
    pub shape: Shape,
}

/// Shapes that URDF knows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Full lengths along its own x, y and z, metres.
    Box(Vector3<f64>),
    /// Along its own z, metres.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Length.
        length: f64,
    },
}

/// A rigid piece.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Unique within the model.
    pub name: String,
    /// What it is called ("drawer", "door"); may be empty.
    pub class: String,
    /// What it is made of, in its own frame.
    pub solids: Vec<Solid>,
}

/// How a joint moves, by URDF's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JointKind {
    /// Not at all.
    Fixed,
    /// Along its axis, metres.
    Prismatic,
    /// About its axis between limits, radians.
    Revolute,
    /// About its axis without end.
    Continuous,
}

impl JointKind {
    /// URDF's word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Prismatic => "prismatic",
            Self::Revolute => "revolute",
            Self::Continuous => "continuous",
        }
    }

    /// Of URDF's word; `None` for those that things here do not have.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Fixed, Self::Prismatic, Self::Revolute, Self::Continuous]
            .into_iter()
            .find(|kind| kind.name() == name)
    }

    /// Whether it turns.
    pub fn turns(self) -> bool {
        matches!(self, Self::Revolute | Self::Continuous)
    }
}

/// How far a joint may be off: half widths of what the looks do not tell apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Uncertainty {
    /// Of the axis, radians.
    pub axis: f64,
    /// Of the origin across the axis, metres; 0 for slides.
    pub origin: f64,
    /// Of each limit, metres or radians.
    pub limits: [f64; 2],
}

/// What moves a link against its parent. At position 0 the frames of both are parallel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Joint {
    /// Unique within the model.
    pub name: String,
    /// How it moves.
    pub kind: JointKind,
    /// Index of the parent link.
    pub parent: usize,
    /// Index of the link it moves.
    pub child: usize,
    /// Where the child's frame is in the parent's.
    pub origin: Point3<f64>,
    /// Direction of travel, or of the turn by the right hand.
    pub axis: Unit<Vector3<f64>>,
    /// Lowest and highest position; no meaning for fixed and continuous joints.
    pub limits: [f64; 2],
    /// How far it may be off; `None` when nothing was measured.
    pub uncertainty: Option<Uncertainty>,
}

/// Links and joints. Link 0 is the root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// Links.
    pub links: Vec<Link>,
    /// Joints, one for each link but the root.
    pub joints: Vec<Joint>,
}

/// What no model may be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// No link.
    #[error("it has no link")]
    Empty,
    /// Two of one name.
    #[error("two {what}s are called `{name}`")]
    Twice {
        /// link or joint.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A number that is not finite, a size that is not positive.
    #[error("{what} of `{name}` is not finite, or not positive")]
    Number {
        /// Which number.
        what: &'static str,
        /// Of which link or joint.
        name: String,
    },
    /// A joint that names no link.
    #[error("joint `{joint}` names link number {link}, and there is none")]
    NoLink {
        /// The joint.
        joint: String,
        /// The number.
        link: usize,
    },
    /// A link that no joint, or more than one, moves, or a ring.
    #[error("link `{link}` does not hang on the root by exactly one chain of joints")]
    NoTree {
        /// The link.
        link: String,
    },
    /// Limits the wrong way round.
    #[error(
        "the limits of joint `{joint}` are {low:.4} and {high:.4}: the lower one is not below the upper one"
    )]
    Limits {
        /// The joint.
        joint: String,
        /// The lower limit.
        low: f64,
        /// The upper limit.
        high: f64,
    },
}

impl Solid {
    /// A box.
    pub fn cuboid(middle: Point3<f64>, size: Vector3<f64>) -> Self {
        Self { pose: Translation3::from(middle.coords).into(), shape: Shape::Box(size) }
    }

    /// Signed distance of a point of the link's frame from the surface, metres, negative inside.
    pub fn distance(&self, point: &Point3<f64>) -> f64 {
        let local = self.pose.inverse_transform_point(point);
        match self.shape {
            Shape::Box(size) => {
                let off = local.coords.abs() - size / 2.0;
                off.map(|value| value.max(0.0)).norm() + off.max().min(0.0)
            }
            Shape::Cylinder { radius, length } => {
                let (across, along) = (local.x.hypot(local.y) - radius, local.z.abs() - length / 2.0);
                across.max(0.0).hypot(along.max(0.0)) + across.max(along).min(0.0)
            }
        }
    }

    /// Half lengths of the box around it in its own frame.
    pub fn half(&self) -> Vector3<f64> {
        match self.shape {
            Shape::Box(size) => size / 2.0,
            Shape::Cylinder { radius, length } => Vector3::new(radius, radius, length / 2.0),
        }
    }

    /// Corners of the box around it, in the link's frame.
    pub fn corners(&self) -> [Point3<f64>; 8] {
        let half = self.half();
        std::array::from_fn(|corner| {
            let sign = |bit: usize| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
            self.pose * Point3::new(sign(0) * half.x, sign(1) * half.y, sign(2) * half.z)
        })
    }

    /// Volume, cubic metres.
    pub fn volume(&self) -> f64 {
        match self.shape {
            Shape::Box(size) => size.product(),
            Shape::Cylinder { radius, length } => std::f64::consts::PI * radius * radius * length,
        }
    }
}

impl Link {
    /// Distance of a point of the link's frame from its surface, metres; infinite for a link of nothing.
    pub fn distance(&self, point: &Point3<f64>) -> f64 {
        self.solids.iter().map(|solid| solid.distance(point)).fold(f64::INFINITY, f64::min)
    }

    /// Lowest and highest corner of the box around it, in its own frame; `None` for a link of nothing.
    pub fn bounds(&self) -> Option<(Point3<f64>, Point3<f64>)> {
        let mut corners = self.solids.iter().flat_map(Solid::corners);
        let first = corners.next()?;
        Some(corners.fold((first, first), |(low, high), corner| {
            (low.coords.inf(&corner.coords).into(), high.coords.sup(&corner.coords).into())
        }))
    }

    /// Middle of that box; the origin for a link of nothing.
    pub fn middle(&self) -> Point3<f64> {
        self.bounds().map_or(Point3::origin(), |(low, high)| nalgebra::center(&low, &high))
    }
}

impl Joint {
    /// `parent_from_child` at a position.
    pub fn at(&self, position: f64) -> Isometry3<f64> {
        let origin = Translation3::from(self.origin.coords);
        match self.kind {
            JointKind::Fixed => origin.into(),
            JointKind::Prismatic => (Translation3::from(self.axis.into_inner() * position) * origin).into(),
            JointKind::Revolute | JointKind::Continuous => {
                origin * UnitQuaternion::from_axis_angle(&self.axis, position)
            }
        }
    }

    /// Kind, origin and axis in words.
    pub(crate) fn say(&self) -> String {
        let (o, a) = (&self.origin, &self.axis);
        let [o, a] = [[o.x, o.y, o.z], [a.x, a.y, a.z]].map(|v| v.map(|n| format!("{n:.3}")).join(" "));
        format!("{} joint with origin xyz='{o}' and axis xyz='{a}'", self.kind.name())
    }

    /// Whether a position is within the limits, grown by a slack.
    pub fn allows(&self, position: f64, slack: f64) -> bool {
        match self.kind {
            JointKind::Fixed => position.abs() <= slack,
            JointKind::Continuous => true,
            JointKind::Prismatic | JointKind::Revolute => {
                (self.limits[0] - slack..=self.limits[1] + slack).contains(&position)
            }
        }
    }
}

impl Model {
    /// The joint that moves a link; the root has none.
    pub fn joint_of(&self, link: usize) -> Option<&Joint> {
        self.joints.iter().find(|joint| joint.child == link)
    }

    /// `model_from_link` of every link, with the joints at positions in their order; what is missing is 0.
    ///
    /// The model must be a tree: [`Model::check`].
    pub fn poses(&self, positions: &[f64]) -> Vec<Isometry3<f64>> {
        (0..self.links.len()).map(|link| self.pose(link, positions)).collect()
    }

    /// `model_from_link` of one link.
    fn pose(&self, link: usize, positions: &[f64]) -> Isometry3<f64> {
        let (mut at, mut pose) = (link, Isometry3::identity());
        // A chain is no longer than there are links.
        for _ in 0..self.links.len() {
            let Some(index) = self.joints.iter().position(|joint| joint.child == at) else { break };
            let joint = &self.joints[index];
            pose = joint.at(positions.get(index).copied().unwrap_or_default()) * pose;
            at = joint.parent;
        }
        pose
    }

    /// Whether it is a model: a tree with unique names, finite numbers, and limits the right way round.
    ///
    /// Errors: all that is wrong.
    pub fn check(&self) -> Result<(), Vec<ModelError>> {
        let mut wrong = Vec::new();
        if self.links.is_empty() {
            wrong.push(ModelError::Empty);
        }
        let mut names = BTreeSet::new();
        for link in &self.links {
            if !names.insert(&link.name) {
                wrong.push(ModelError::Twice { what: "link", name: link.name.clone() });
            }
            let good = |solid: &Solid| {
                let half = solid.half();
                half.iter().all(|value| value.is_finite() && *value > 0.0) && is_finite(&solid.pose)
            };
            if !link.solids.iter().all(good) {
                wrong.push(ModelError::Number { what: "a solid", name: link.name.clone() });
            }
        }
        let mut names = BTreeSet::new();
        for joint in &self.joints {
            if !names.insert(&joint.name) {
                wrong.push(ModelError::Twice { what: "joint", name: joint.name.clone() });
            }
            for link in [joint.parent, joint.child] {
                if link >= self.links.len() {
                    wrong.push(ModelError::NoLink { joint: joint.name.clone(), link });
                }
            }
            let numbers = joint.origin.iter().chain(joint.axis.iter()).chain(&joint.limits);
            if !numbers.copied().all(f64::is_finite) {
                wrong.push(ModelError::Number { what: "a number", name: joint.name.clone() });
            }
            let [low, high] = joint.limits;
            if matches!(joint.kind, JointKind::Prismatic | JointKind::Revolute) && low >= high {
                wrong.push(ModelError::Limits { joint: joint.name.clone(), low, high });
            }
        }
        if wrong.iter().all(|error| !matches!(error, ModelError::NoLink { .. })) {
            for (index, link) in self.links.iter().enumerate() {
                if !self.hangs(index) {
                    wrong.push(ModelError::NoTree { link: link.name.clone() });
                }
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// Whether a link hangs on the root by one chain.
    fn hangs(&self, link: usize) -> bool {
        let mut at = link;
        for _ in 0..=self.joints.len() {
            let mut movers = self.joints.iter().filter(|joint| joint.child == at);
            match (movers.next(), movers.next()) {
                (None, _) => return at == 0,
                (Some(joint), None) => at = joint.parent,
                (Some(_), Some(_)) => return false,
            }
        }
        false
    }
}

fn is_finite(pose: &Isometry3<f64>) -> bool {
    pose.translation.vector.iter().chain(pose.rotation.coords.iter()).copied().all(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn cabinet() -> Model {
        let link =
            |name: &str, solid| Link { name: name.to_owned(), class: name.to_owned(), solids: vec![solid] };
        let body = Solid::cuboid(Point3::new(0.1, 0.0, 0.2), Vector3::new(0.2, 0.3, 0.4));
        let door = Solid::cuboid(Point3::new(0.0, 0.15, 0.0), Vector3::new(0.012, 0.3, 0.4));
        let joint = Joint {
            name: "hinge".to_owned(),
            kind: JointKind::Revolute,
            parent: 0,
            child: 1,
            origin: Point3::new(-0.006, -0.15, 0.2),
            axis: Vector3::z_axis(),
            limits: [0.0, 1.8],
            uncertainty: None,
        };
        Model {
            name: "cabinet".to_owned(),
            links: vec![link("body", body), link("door", door)],
            joints: vec![joint],
        }
    }

    #[test]
    fn a_door_swings_about_its_hinge() {
        let model = cabinet();
        assert_eq!(model.check(), Ok(()));
        let edge = |angle: f64| model.poses(&[angle])[1] * Point3::new(0.0, 0.3, 0.0);
        assert!((edge(0.0) - Point3::new(-0.006, 0.15, 0.2)).norm() < 1e-9);
        let open = edge(std::f64::consts::FRAC_PI_2);
        assert!((open - Point3::new(-0.306, -0.15, 0.2)).norm() < 1e-9, "{open}");
    }

    #[test]
    fn distances_are_signed() {
        let solid = Solid::cuboid(Point3::new(1.0, 0.0, 0.0), Vector3::new(0.2, 0.4, 0.6));
        assert!((solid.distance(&Point3::new(1.2, 0.0, 0.0)) - 0.1).abs() < 1e-9);
        assert!((solid.distance(&Point3::new(1.0, 0.0, 0.0)) + 0.1).abs() < 1e-9);
        let disc =
            Solid { pose: Isometry3::identity(), shape: Shape::Cylinder { radius: 0.1, length: 0.02 } };
        assert!((disc.distance(&Point3::new(0.13, 0.0, 0.05)) - 0.05).abs() < 1e-9);
        assert!((disc.distance(&Point3::new(0.05, 0.0, 0.0)) + 0.01).abs() < 1e-9);
    }

    #[test]
    fn what_is_no_model_is_said_whole() {
        let mut model = cabinet();
        model.joints[0].limits = [1.0, 0.0];
        model.links[1].name = "body".to_owned();
        let wrong = model.check().expect_err("two faults");
        assert_eq!(wrong.len(), 2, "{wrong:?}");
        let mut ring = cabinet();
        ring.joints.push(Joint { name: "back".to_owned(), parent: 1, child: 0, ..ring.joints[0].clone() });
        assert!(ring.check().expect_err("a ring").iter().all(|e| matches!(e, ModelError::NoTree { .. })));
        let mut far = cabinet();
        far.joints[0].child = 7;
        assert!(matches!(far.check().expect_err("no link")[0], ModelError::NoLink { link: 7, .. }));
        let mut nan = cabinet();
        nan.joints[0].origin.x = f64::NAN;
        assert!(nan.check().is_err());
    }
}
