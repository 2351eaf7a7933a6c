//! The judge's channel: physics' truth over the process's own stdin and stdout, which no node can reach.
//!
//! The parent writes one JSON object a line and reads one JSON object a line for each:
//!
//! | request | answer |
//! |---|---|
//! | `{"ask":"snapshot"}` | a [`Truth`](prehend_sim::world::Truth): time, arm, every object's pose, contacts, what is held, in or on what |
//! | `{"ask":"scene"}` | the [`PlacedScene`](prehend_sim::PlacedScene) |
//! | `{"ask":"motions"}` | [`Motions`](prehend_sim::world::Motions): `{"arm":[[t0,t1],..],"gripper":[..],"max_pad_force":..,"hard_contacts":[..]}` |
//! | `{"ask":"overview","path":"FILE.png"}` | `{"written":"FILE.png"}`: a third-person picture |
//! | `{"ask":"move_object","object":NAME,"position":[x,y,z]}` | `{"done":true}`: put there at rest |
//! | `{"ask":"push_object","object":NAME,"velocity":[x,y,z]}` | `{"done":true}` |
//! | `{"ask":"knock_over","object":NAME,"toward":[x,y]}` | `{"done":true}`: laid on its side, its top that way |
//! | `{"ask":"jump_localisation","by":[x,y,yaw]}` | `{"done":true}`: the base believes it is elsewhere, for some seconds |
//! | `{"ask":"put_obstacle","position":[x,y]}` | `{"done":true}`: a box of 0.4 x 0.4 x 0.7 m on the floor; `null` takes it away |
//! | `{"ask":"jam"}` | `{"done":true}`: the arm stays where it is in this motion or the next, and its controller does not tell, until the motion is stopped |
//! | `{"ask":"bump"}` | `{"done":true}`: the base is stopped as if it had touched something |
//! | `{"ask":"vendor",KEY:VALUE,..}` | the vendor's driver as it is then: what it was set to; keys below |
//! | `{"ask":"moveit",KEY:VALUE,..}` | `{"done":true}`; keys that are absent are right again |
//! | `{"ask":"nav2",KEY:VALUE,..}` | the same |
//! | `{"ask":"fault",KEY:VALUE,..}` | `{"done":true}`; keys that are absent stay as they are |
//!
//! Faults and their values, `ok` for each besides: `camera`: silent; `depth`: zero, nan, holes, small, unaligned; `info`: zero;
//! `detector`: silent, garbage, empty, small, names; `tf`: frozen, late, odometry; `frame`: unknown; `joints`: nan, silent, names.
//!
//! Keys of `vendor`: `refuse`: a service that answers with a refusal; `mute`: one that does not answer; `silent`: whether the
//! driver reports its state; `error`, `state`: of an xArm's controller; `runstop`, `homed`, `mode`: of a Stretch.
//!
//! Keys of `moveit`: `planning`, `execution`: a `MoveItErrorCodes` that is answered; `fraction`: of every straight line; `trajectory`:
//! empty, nan, names, order, start, joint; `scene`: true when its changes are refused. Of `nav2`: `inactive`, `reject`: true when
//! the navigator's lifecycle is, and when every goal is; `code`: with which every goal is aborted.
//!
//! Anything else, and any failure, is answered by `{"error":"..."}`. End of file ends the process when it was started
//! with a watched stdin.

use prehend_sim::body::Frame;
use serde::Deserialize;

/// What the judge asks; see the module.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Request {
    Snapshot,
    Scene,
    Motions,
    Overview { path: String },
    MoveObject { object: String, position: [f64; 3] },
    PushObject { object: String, velocity: [f64; 3] },
    KnockOver { object: String, toward: [f64; 2] },
    JumpLocalisation { by: [f64; 3] },
    PutObstacle { position: Option<[f64; 2]> },
    Bump,
    Jam,
    Vendor(super::driver::Change),
    Moveit(prehend_robots::move_group::Misbehaviour),
    Nav2(super::base::wire::Nav2Fault),
    Fault(FaultChange),
}

/// Which faults are to be on; absent ones stay as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FaultChange {
    camera: Option<CameraFault>,
    depth: Option<DepthFault>,
    detector: Option<DetectorFault>,
    tf: Option<TfFault>,
    frame: Option<FrameFault>,
    info: Option<InfoFault>,
    joints: Option<JointsFault>,
}

/// The camera as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CameraFault {
    /// Works.
    #[default]
    Ok,
    /// Sends nothing.
    Silent,
}

/// The depth image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum DepthFault {
    /// Works.
    #[default]
    Ok,
    /// Nothing is measured anywhere.
    Zero,
    /// Another encoding, all NaN.
    Nan,
    /// Nothing is measured where the detector sees something.
    Holes,
    /// Half as wide and half as high as the colour image.
    Small,
    /// In a frame of its own, as a depth camera's picture is before it is aligned with colour.
    Unaligned,
}

/// The detector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum DetectorFault {
    /// Works.
    #[default]
    Ok,
    /// Sends nothing.
    Silent,
    /// Sends labels of detections that are not in its list, and images shorter than they say.
    Garbage,
    /// Names things whose masks have no pixels.
    Empty,
    /// Its label image is half as wide and half as high as the colour image.
    Small,
    /// Names that are none: control characters, far too long, empty.
    Names,
}

/// The camera's parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum InfoFault {
    /// The camera's.
    #[default]
    Ok,
    /// All zero.
    Zero,
}

/// Joint states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum JointsFault {
    /// Works.
    #[default]
    Ok,
    /// Every position is NaN.
    Nan,
    /// Sends nothing.
    Silent,
    /// Every joint has a prefix to its name.
    Names,
}

/// Transforms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TfFault {
    /// Works.
    #[default]
    Ok,
    /// No transforms any more.
    Frozen,
    /// Transforms are stamped some seconds ago.
    Late,
    /// None of the base any more; those of the arm come.
    Odometry,
}

/// The camera's frame id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FrameFault {
    /// The camera's.
    #[default]
    Ok,
    /// One that no transform leads to.
    Unknown,
}

/// Faults that are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    pub(super) camera: CameraFault,
    pub(super) depth: DepthFault,
    pub(super) detector: DetectorFault,
    pub(super) tf: TfFault,
    pub(super) frame: FrameFault,
    pub(super) info: InfoFault,
    pub(super) joints: JointsFault,
}

impl Faults {
    pub(super) fn apply(&mut self, change: FaultChange) {
        self.camera = change.camera.unwrap_or(self.camera);
        self.depth = change.depth.unwrap_or(self.depth);
        self.detector = change.detector.unwrap_or(self.detector);
        self.tf = change.tf.unwrap_or(self.tf);
        self.frame = change.frame.unwrap_or(self.frame);
        self.info = change.info.unwrap_or(self.info);
        self.joints = change.joints.unwrap_or(self.joints);
    }
}

/// What the physics thread answers.
#[derive(Debug)]
pub(super) enum Answer {
    /// To be written as it is.
    Json(serde_json::Value),
    /// To be drawn.
    Draw(Box<Frame>),
    /// What went wrong.
    Error(String),
}
