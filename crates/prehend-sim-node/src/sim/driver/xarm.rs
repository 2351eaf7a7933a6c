//! What an xArm's controller was told.

use serde_json::{Value, json};

/// Code of a refused setting, and of a command while an error is pending.
pub(in crate::sim) const REFUSED: i16 = 11;
pub(in crate::sim) const HAS_ERROR: i16 = 1;
/// States: 2 ready, 4 stopped, 5 settings changed.
pub(in crate::sim) const READY: i16 = 2;
pub(in crate::sim) const STOPPED: i16 = 4;
const CHANGED: i16 = 5;

/// What the controller has been told, in its units.
#[derive(Clone, Debug, Default)]
pub(in crate::sim) struct XArmState {
    pub(in crate::sim) mode: i16,
    pub(in crate::sim) state: Option<i16>,
    pub(in crate::sim) enabled: i16,
    pub(in crate::sim) error: i16,
    pub(in crate::sim) reduced: i16,
    pub(in crate::sim) fence_on: i16,
    pub(in crate::sim) boundary: Vec<i16>,
    pub(in crate::sim) sensitivity: i16,
    pub(in crate::sim) max_tcp_speed: f32,
    pub(in crate::sim) max_joint_speed: f32,
    pub(in crate::sim) load: f32,
    pub(in crate::sim) load_center: Vec<f32>,
    pub(in crate::sim) offset: Vec<f32>,
}

impl XArmState {
    /// Stopped, as after it was switched on.
    pub(in crate::sim) fn state(&self) -> i16 {
        self.state.unwrap_or(STOPPED)
    }

    pub(in crate::sim) fn may_move(&self) -> Result<(), String> {
        if self.error != 0 {
            return Err(format!("error C{}", self.error));
        }
        if self.mode == 1 && self.state() == READY && self.enabled != 0 {
            return Ok(());
        }
        Err(format!("mode {}, state {}, enabled joints {:b}", self.mode, self.state(), self.enabled))
    }

    pub(in crate::sim) fn change(&mut self, error: Option<i16>, state: Option<i16>) {
        self.state = state.or(self.state);
        if let Some(error) = error {
            self.fail(error);
        }
    }

    pub(in crate::sim) fn fail(&mut self, error: i16) {
        self.error = error;
        self.state = Some(STOPPED);
    }

    pub(in crate::sim) fn tell(&self) -> Value {
        json!({
            "mode": self.mode, "state": self.state(), "enabled": self.enabled, "code": self.error,
            "reduced": self.reduced, "fence_on": self.fence_on, "boundary": self.boundary,
            "sensitivity": self.sensitivity, "max_tcp_speed": self.max_tcp_speed,
            "max_joint_speed": self.max_joint_speed, "load": self.load, "load_center": self.load_center,
            "offset": self.offset,
        })
    }

    /// A setting that takes the arm out of its ready state.
    pub(in crate::sim) fn unready(&mut self) {
        if self.state() == READY {
            self.state = Some(CHANGED);
        }
    }

    pub(in crate::sim) fn set_state(&mut self, data: i16) -> i16 {
        match data {
            0 if self.error != 0 => return HAS_ERROR,
            0 => self.state = Some(if self.enabled == 0 { STOPPED } else { READY }),
            3 | STOPPED => self.state = Some(data),
            _ => return REFUSED,
        }
        0
    }

    /// Whether the tool at this place, millimetres in the arm's base, is beyond the fence.
    pub(in crate::sim) fn is_beyond(&self, place: [f64; 3]) -> bool {
        let fence: Vec<f64> = self.boundary.iter().copied().map(f64::from).collect();
        let inside = |axis: usize| (fence[axis * 2 + 1]..=fence[axis * 2]).contains(&place[axis]);
        self.fence_on == 1 && self.reduced == 1 && fence.len() == 6 && !(0..3).all(inside)
    }
}
