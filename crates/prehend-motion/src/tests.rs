//! Value and property tests over the repository's own URDF.

mod kinematics;

use crate::{RobotGroup, RobotModel};

pub(crate) const URDF: &str = include_str!("../../../urdf/xarm6.urdf");

pub(crate) fn xarm6() -> RobotModel {
    RobotModel::from_urdf(URDF, RobotGroup::xarm6()).expect("the repository's URDF is valid")
}
