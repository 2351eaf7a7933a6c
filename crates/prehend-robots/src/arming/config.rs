//! The section `arming` of a robot file: what is armed, with which limits. Nothing in it has a default.

use crate::limits::Limits;
use prehend_config::{Map, Value};
use prehend_ros::Node;

/// What must be armed before the robot moves.
#[derive(Clone, Debug, PartialEq)]
pub enum ArmingConfig {
    /// A UFACTORY xArm behind `xarm_api`.
    XArm(XArmConfig),
    /// A Hello Robot Stretch behind `stretch_driver`.
    Stretch(StretchConfig),
}

/// How an xArm is armed.
#[derive(Clone, Debug, PartialEq)]
pub struct XArmConfig {
    /// Namespace of `xarm_api`'s services and of its topic `robot_states`. It is remapped as a name is, and everything below it with it:
    /// `-r /xarm:=/left/xarm` is for a driver with another `hw_ns` or namespace.
    pub services: String,
    /// Mode in which ros2_control drives the arm: 1 (servo), or 4 (joint velocity) where the driver was told so.
    pub mode: i16,
    /// Whether clearing the stop also clears an error of the controller. Starting never does.
    pub clear_errors: bool,
    /// Tool centre point in the flange's frame: x, y, z, metres, roll, pitch, yaw, radians. The fence confines this point.
    pub tcp_offset: [f64; 6],
    /// How far outside the workspace of `limits` the controller's fence stands, metres. Motions have a part of it: see `MotionBounds`.
    pub fence_margin: f64,
    /// 1 (least) to 5 (most).
    pub collision_sensitivity: i16,
    /// Greatest speed of the tool centre point in reduced mode, m/s.
    pub max_tcp_speed: f64,
    /// Greatest speed of a joint in reduced mode, rad/s.
    pub max_joint_speed: f64,
    /// Mass of what is mounted on the flange, kg.
    pub load_mass: f64,
    /// Its centre of gravity in the flange's frame, metres.
    pub load_center: [f64; 3],
}

/// How a Stretch is armed.
#[derive(Clone, Debug, PartialEq)]
pub struct StretchConfig {
    /// `std_msgs/String`: the driver's mode.
    pub mode: String,
    /// `std_msgs/Bool`.
    pub runstopped: String,
    /// `std_msgs/Bool`.
    pub homed: String,
    /// `std_srvs/Trigger`: to the mode in which the base follows velocities.
    pub navigation_mode: String,
    /// `std_srvs/Trigger`: to the mode in which the arm moves, and which is left behind.
    pub position_mode: String,
    /// `std_srvs/Trigger`.
    pub stop: String,
}

impl XArmConfig {
    /// With the namespace of the services as `node` remaps it.
    pub fn resolved(&self, node: &Node) -> Self {
        Self { services: node.resolve_service(&self.services), ..self.clone() }
    }
}

impl ArmingConfig {
    /// The vendor's package of interfaces that arming speaks, when it is one that few have installed.
    pub fn package(&self) -> Option<&'static str> {
        match self {
            Self::XArm(_) => Some("xarm_msgs"),
            Self::Stretch(_) => None,
        }
    }

    /// Reads the section.
    pub(crate) fn read(section: &Value<'_>, limits: Option<&Limits>) -> Option<Self> {
        section.map(|m| match (m.opt("xarm"), m.opt("stretch")) {
            (Some(xarm), None) => {
                let config = xarm.map(XArmConfig::read)?;
                if let Some(Err(fault)) = limits.map(|limits| boundary(limits, config.fence_margin)) {
                    xarm.report(fault);
                    return None;
                }
                Some(Self::XArm(config))
            }
            (None, Some(stretch)) => stretch.map(StretchConfig::read).map(Self::Stretch),
            _ => {
                m.report("give what is to be armed: either `xarm` or `stretch`");
                None
            }
        })
    }
}

impl XArmConfig {
    fn read(m: &mut Map<'_>) -> Option<Self> {
        let mut number = |key, low, high| m.req(key).and_then(|v| v.f64_in(low, high));
        // Less would leave no room between the fence that is planned with and the controller's.
        let fence_margin = number("fence_margin", 0.04, 0.2);
        let max_tcp_speed = number("max_tcp_speed", 0.01, 1.0);
        let max_joint_speed = number("max_joint_speed", 0.01, std::f64::consts::PI);
        let services = m.req("services").and_then(|v| absolute(&v));
        let mode = m.req("mode").and_then(|v| v.choice(&[("servo", 1), ("velocity", 4)]));
        let clear_errors = m.req("clear_errors").and_then(|v| v.bool());
        let tcp_offset = m.req("tcp_offset").and_then(|v| within(&v, [1.0, 1.0, 1.0, 3.2, 3.2, 3.2]));
        let collision_sensitivity = m.req("collision_sensitivity").and_then(|v| match v.u64()? {
            level @ 1..=5 => i16::try_from(level).ok(),
            _ => {
                v.report("expected 1 (least) to 5 (most): 0 would switch it off");
                None
            }
        });
        let load = m.req("load").and_then(|v| {
            v.map(|m| {
                let mass = m.req("mass").and_then(|v| v.f64_in(0.0, 20.0));
                let center = m.req("center").and_then(|v| within(&v, [0.5; 3]));
                Some((mass?, center?))
            })
        });
        let (load_mass, load_center) = load?;
        Some(Self {
            services: services?,
            mode: mode?,
            clear_errors: clear_errors?,
            tcp_offset: tcp_offset?,
            fence_margin: fence_margin?,
            collision_sensitivity: collision_sensitivity?,
            max_tcp_speed: max_tcp_speed?,
            max_joint_speed: max_joint_speed?,
            load_mass,
            load_center,
        })
    }
}

impl StretchConfig {
    fn read(m: &mut Map<'_>) -> Option<Self> {
        let mut name = |key| m.req(key).and_then(|v| absolute(&v));
        let (mode, runstopped, homed) = (name("mode"), name("runstopped"), name("homed"));
        let (navigation_mode, position_mode) = (name("navigation_mode"), name("position_mode"));
        let stop = name("stop");
        Some(Self {
            mode: mode?,
            runstopped: runstopped?,
            homed: homed?,
            navigation_mode: navigation_mode?,
            position_mode: position_mode?,
            stop: stop?,
        })
    }
}

fn absolute(value: &Value<'_>) -> Option<String> {
    let text = value.text()?;
    if text.starts_with('/') && !text.ends_with('/') {
        return Some(text);
    }
    value.report("expected a name from the root, like `/xarm`");
    None
}

/// Numbers not beyond `most` on either side.
fn within<const N: usize>(value: &Value<'_>, most: [f64; N]) -> Option<[f64; N]> {
    let numbers = value.numbers::<N>()?;
    if numbers.iter().zip(most).all(|(number, most)| number.abs() <= most) {
        return Some(numbers);
    }
    value.report(format!("expected numbers of at most {most:?} (metres, radians)"));
    None
}

/// The controller's fence around the workspace, in its order: greatest and least x, then y, then z, whole millimetres in the
/// arm's base frame, rounded outwards.
///
/// Errors: a side that does not fit the message.
pub(crate) fn boundary(limits: &Limits, margin: f64) -> Result<[i16; 6], String> {
    let millimetres = |metres: f64, up: bool| {
        let exact = metres * 1e3;
        // 0.58 m are 580 mm, whatever the binary fraction says.
        let whole = if (exact - exact.round()).abs() < 1e-6 {
            exact.round()
        } else if up {
            exact.ceil()
        } else {
            exact.floor()
        };
        if whole.abs() <= f64::from(i16::MAX) {
            Ok(whole as i16)
        } else {
            Err(format!("the fence at {metres} m is farther than the controller's {} mm", i16::MAX))
        }
    };
    let (low, high) = (limits.workspace_low, limits.workspace_high);
    let mut fence = [0; 6];
    for axis in 0..3 {
        fence[axis * 2] = millimetres(high[axis] + margin, true)?;
        fence[axis * 2 + 1] = millimetres(low[axis] - margin, false)?;
    }
    Ok(fence)
}
