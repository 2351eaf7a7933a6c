//! What a real MoveIt may answer besides the truth: the judge of the embedded robot asks for it, see `sim::judge`.

use prehend_msgs::moveit_msgs::msg::{MoveItErrorCodes, RobotTrajectory};
use prehend_msgs::moveit_msgs::srv::GetCartesianPath;
use serde::Deserialize;

/// What is wrong; absent keys are right again.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Misbehaviour {
    /// Code with which every plan and line is answered.
    planning: Option<i32>,
    /// Code with which every execution ends before it begins.
    execution: Option<i32>,
    /// Share of every line that is possible.
    fraction: Option<f64>,
    /// What is wrong with every trajectory.
    trajectory: Option<Broken>,
    /// Whether changes of the planning scene are refused.
    #[serde(default)]
    scene: bool,
}

/// What is wrong with a trajectory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Broken {
    /// It has no points.
    Empty,
    /// A position is no number.
    Nan,
    /// It is for joints of another name.
    Names,
    /// The names are in another order than the numbers.
    Order,
    /// It begins elsewhere.
    Start,
    /// It lacks a joint.
    Joint,
}

fn with(val: i32) -> MoveItErrorCodes {
    MoveItErrorCodes { val, message: "as the judge asked".to_owned(), source: "judge".to_owned() }
}

impl Misbehaviour {
    /// The code that a plan gets instead of its own.
    pub(super) fn planning(&self) -> Option<MoveItErrorCodes> {
        self.planning.map(with)
    }

    /// The code with which an execution ends before it begins.
    pub(super) fn execution(&self) -> Option<MoveItErrorCodes> {
        self.execution.map(with)
    }

    /// Whether a change of the scene is refused.
    pub(super) fn refuses_scene(&self) -> bool {
        self.scene
    }

    /// A line as it is answered.
    pub(super) fn line(&self, mut response: GetCartesianPath::Response) -> GetCartesianPath::Response {
        if let Some(code) = self.planning() {
            return GetCartesianPath::Response { error_code: code, fraction: -1.0, ..Default::default() };
        }
        response.fraction = self.fraction.unwrap_or(response.fraction);
        self.spoil(&mut response.solution);
        response
    }

    /// A trajectory as it is answered.
    pub(super) fn spoil(&self, trajectory: &mut RobotTrajectory) {
        let joints = &mut trajectory.joint_trajectory;
        match self.trajectory {
            None => {}
            Some(Broken::Empty) => joints.points.clear(),
            Some(Broken::Nan) => {
                if let Some(position) = joints.points.last_mut().and_then(|point| point.positions.first_mut())
                {
                    *position = f64::NAN;
                }
            }
            Some(Broken::Names) => joints.joint_names.iter_mut().for_each(|name| name.insert_str(0, "left_")),
            Some(Broken::Order) => joints.joint_names.reverse(),
            Some(Broken::Start) => {
                for position in joints.points.iter_mut().flat_map(|point| point.positions.first_mut()) {
                    *position += 0.2;
                }
            }
            Some(Broken::Joint) => {
                joints.joint_names.pop();
                for point in &mut joints.points {
                    point.positions.pop();
                }
            }
        }
    }
}
