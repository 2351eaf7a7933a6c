//! What each skill needs before and promises after (ASP III-C), as data and as checked functions.

use prehend_scene::{ObjectKey, ObjectMap, PartEffect, Relation, Skill, SymbolicState};

/// A condition a skill needs before it may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// Nothing is in the gripper.
    NothingHeld,
    /// The object named is in the gripper.
    ObjectHeld,
    /// The object named is in the map.
    ObjectKnown,
    /// Every target is in the map, and there are as many as the relation needs.
    TargetsKnown,
    /// The map is the one the request was made from.
    MapCurrent,
    /// The effect is one the skill can have.
    EffectFits,
}

/// What every skill on a part needs.
const ON_PART: &[Precondition] = &[
    Precondition::NothingHeld,
    Precondition::MapCurrent,
    Precondition::ObjectKnown,
    Precondition::EffectFits,
];

/// What holds after a skill that succeeded; it is observed, never assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Postcondition {
    /// The camera stands at the pose asked for.
    CameraThere,
    /// The object named is in the gripper.
    ObjectHeld,
    /// Nothing is in the gripper.
    NothingHeld,
    /// The relation holds between the object and its targets.
    RelationHolds,
    /// The part is where its effect leaves it: moved at least as far as the plan says, or gave way and returned.
    PartMoved,
    /// The part is in the gripper, with what it belongs to or alone.
    PartHeld,
}

/// The contract of one skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    /// The skill.
    pub skill: Skill,
    /// What it needs.
    pub before: &'static [Precondition],
    /// What it promises.
    pub after: &'static [Postcondition],
    /// Whether objects may be elsewhere afterwards, so that the map must be taken anew (ASP III-C, remapping).
    pub moves_objects: bool,
}

/// Why a skill may not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContractError {
    /// Something is already held.
    #[error("`{held}` is in the gripper; place it first")]
    HandFull {
        /// What is held.
        held: ObjectKey,
    },
    /// Nothing is held, or something else.
    #[error("`{object}` is not in the gripper ({}); grasp it first", held.as_ref().map_or("it is empty".to_owned(), |k| format!("`{k}` is")))]
    NotHeld {
        /// What should be held.
        object: ObjectKey,
        /// What is held.
        held: Option<ObjectKey>,
    },
    /// A key that is not in the map.
    #[error("`{key}` is not in the object map; retrieve objects again")]
    UnknownObject {
        /// The key.
        key: ObjectKey,
    },
    /// Too few or too many targets for the relation.
    #[error("`{}` needs {needed} target(s), {given} given", relation.name())]
    WrongTargets {
        /// The relation.
        relation: Relation,
        /// How many it needs.
        needed: &'static str,
        /// How many were given.
        given: usize,
    },
    /// An effect the skill cannot have.
    #[error("{} cannot {} a part", skill.name(), effect.name())]
    WrongEffect {
        /// The skill.
        skill: Skill,
        /// The effect.
        effect: PartEffect,
    },
    /// Place or drop without a relation.
    #[error("where to place it is not said")]
    NoRelation,
    /// The target is the object itself.
    #[error("`{key}` cannot be its own target")]
    OwnTarget {
        /// The key.
        key: ObjectKey,
    },
    /// The request was made from another map.
    #[error(
        "the request was made from map version {requested}, the map is at {current}; retrieve objects again"
    )]
    StaleMap {
        /// Version of the request.
        requested: u64,
        /// Version of the map.
        current: u64,
    },
}

/// What is asked of a skill, as far as contracts go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The skill.
    pub skill: Skill,
    /// The object acted on; empty for look and home.
    pub object: ObjectKey,
    /// Targets of the relation.
    pub targets: Vec<ObjectKey>,
    /// Where to place.
    pub relation: Option<Relation>,
    /// What shall become of the part; `None` is what the skill usually does.
    pub effect: Option<PartEffect>,
    /// Map the request was made from.
    pub map_version: u64,
}

impl Contract {
    /// The contract of `skill`.
    pub const fn of(skill: Skill) -> Self {
        use Postcondition as Post;
        use Precondition as Pre;
        match skill {
            Skill::Look | Skill::Home | Skill::GoTo => {
                Self { skill, before: &[], after: &[Post::CameraThere], moves_objects: false }
            }
            Skill::Grasp => Self {
                skill,
                before: &[Pre::NothingHeld, Pre::MapCurrent, Pre::ObjectKnown],
                after: &[Post::ObjectHeld],
                moves_objects: true,
            },
            Skill::GraspPart => Self {
                skill,
                before: ON_PART,
                after: &[Post::PartHeld, Post::ObjectHeld],
                moves_objects: true,
            },
            // Whether a pulled part is held depends on the effect: a plug is, a drawer is not.
            Skill::TipPush | Skill::PinchPull | Skill::HookPull => {
                Self { skill, before: ON_PART, after: &[Post::PartMoved], moves_objects: true }
            }
            Skill::Place | Skill::Drop => Self {
                skill,
                before: &[Pre::ObjectHeld, Pre::MapCurrent, Pre::TargetsKnown],
                after: &[Post::NothingHeld, Post::RelationHolds],
                moves_objects: true,
            },
        }
    }

    /// Checks every precondition, in order; the first that fails is the answer.
    pub fn check(
        &self,
        request: &Request,
        state: &SymbolicState,
        map: &ObjectMap,
    ) -> Result<(), ContractError> {
        self.before.iter().try_for_each(|condition| condition.check(request, state, map))
    }
}

impl Precondition {
    fn check(self, request: &Request, state: &SymbolicState, map: &ObjectMap) -> Result<(), ContractError> {
        let known = |key: &ObjectKey| match map.get(key) {
            Some(_) => Ok(()),
            None => Err(ContractError::UnknownObject { key: key.clone() }),
        };
        match self {
            Self::NothingHeld => match &state.held_object {
                Some(held) => Err(ContractError::HandFull { held: held.clone() }),
                None => Ok(()),
            },
            Self::ObjectHeld if state.held_object.as_ref() == Some(&request.object) => Ok(()),
            Self::ObjectHeld => Err(ContractError::NotHeld {
                object: request.object.clone(),
                held: state.held_object.clone(),
            }),
            Self::ObjectKnown => known(&request.object),
            Self::TargetsKnown => {
                check_targets(request)?;
                request.targets.iter().try_for_each(known)
            }
            Self::EffectFits => match request.effect {
                Some(effect) if !effect.fits(request.skill) => {
                    Err(ContractError::WrongEffect { skill: request.skill, effect })
                }
                Some(_) | None => Ok(()),
            },
            Self::MapCurrent if request.map_version == map.version => Ok(()),
            Self::MapCurrent => {
                Err(ContractError::StaleMap { requested: request.map_version, current: map.version })
            }
        }
    }
}

fn check_targets(request: &Request) -> Result<(), ContractError> {
    let relation = request.relation.ok_or(ContractError::NoRelation)?;
    let given = request.targets.len();
    let (fits, needed) = match relation {
        Relation::Between => (given == 2, "2"),
        Relation::Table => (given == 0, "0"),
        Relation::Away => (true, "any number of"),
        Relation::On
        | Relation::In
        | Relation::NextTo
        | Relation::LeftOf
        | Relation::RightOf
        | Relation::InFrontOf
        | Relation::Behind => (given == 1, "1"),
    };
    if !fits {
        return Err(ContractError::WrongTargets { relation, needed, given });
    }
    match request.targets.iter().find(|key| **key == request.object) {
        Some(key) => Err(ContractError::OwnTarget { key: key.clone() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Isometry3, Point3, Vector3};
    use prehend_geometry::{OrientedBox, PointCloud};
    use prehend_scene::Object;

    fn object(key: &str) -> Object {
        Object {
            class_name: key.to_owned(),
            confidence: 1.0,
            view_count: 1,
            ..Object::unnamed(
                key.into(),
                PointCloud::from_points(vec![Point3::origin()]),
                OrientedBox { pose: Isometry3::identity(), size: Vector3::repeat(0.1) },
            )
        }
    }

    fn check(skill: Skill, held: &str, targets: &[&str], relation: Option<Relation>, expected: &str) {
        let map = ObjectMap {
            version: 3,
            objects: vec![object("cup"), object("bowl"), object("tray")],
            ..ObjectMap::default()
        };
        let state = SymbolicState {
            held_object: (!held.is_empty()).then(|| held.into()),
            ..SymbolicState::default()
        };
        let request = Request {
            skill,
            object: "cup".into(),
            targets: targets.iter().map(|t| (*t).into()).collect(),
            relation,
            effect: None,
            map_version: 3,
        };
        let found =
            Contract::of(skill).check(&request, &state, &map).map_or_else(|e| e.to_string(), |()| "".into());
        assert_eq!(found, expected);
        let stale = Request { map_version: 2, ..request };
        let found = Contract::of(skill).check(&stale, &state, &map);
        if expected.is_empty() && matches!(skill, Skill::Grasp | Skill::Place | Skill::Drop) {
            assert_eq!(found, Err(ContractError::StaleMap { requested: 2, current: 3 }));
        }
    }

    #[test]
    fn preconditions_hold_or_say_what_to_do() {
        check(Skill::Grasp, "", &[], None, "");
        check(Skill::Grasp, "bowl", &[], None, "`bowl` is in the gripper; place it first");
        check(Skill::Home, "bowl", &[], None, "");
        check(Skill::Place, "cup", &["bowl"], Some(Relation::In), "");
        check(
            Skill::Place,
            "",
            &["bowl"],
            Some(Relation::In),
            "`cup` is not in the gripper (it is empty); grasp it first",
        );
        check(
            Skill::Drop,
            "bowl",
            &["tray"],
            Some(Relation::In),
            "`cup` is not in the gripper (`bowl` is); grasp it first",
        );
        check(Skill::Place, "cup", &[], Some(Relation::On), "`on` needs 1 target(s), 0 given");
        check(
            Skill::Place,
            "cup",
            &["bowl"],
            Some(Relation::Between),
            "`between` needs 2 target(s), 1 given",
        );
        check(Skill::Place, "cup", &["bowl", "tray"], Some(Relation::Between), "");
        check(
            Skill::Place,
            "cup",
            &["pan"],
            Some(Relation::On),
            "`pan` is not in the object map; retrieve objects again",
        );
        check(Skill::Place, "cup", &["cup"], Some(Relation::NextTo), "`cup` cannot be its own target");
        check(Skill::Place, "cup", &[], None, "where to place it is not said");
        check(Skill::Place, "cup", &[], Some(Relation::Away), "");
    }

    #[test]
    fn every_skill_promises_something() {
        for (skill, _) in Skill::ALL {
            let contract = Contract::of(skill);
            assert_eq!(contract.skill, skill);
            assert!(!contract.after.is_empty());
        }
    }
}
