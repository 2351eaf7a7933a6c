//! Why the robot is not armed; each says what to do.

/// Why the robot may not be moved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ArmingFault {
    /// Arming is under way, or is tried again.
    #[error("arming is under way")]
    Pending,
    /// The node ends, and has disarmed the robot.
    #[error("the node is ending")]
    Ending,
    /// A service of the vendor's driver is not there.
    #[error("service {service} is not there: {remedy}")]
    NoService {
        /// Its name.
        service: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The vendor's driver refused.
    #[error("{service} was refused with code {code} {message}")]
    Refused {
        /// The service.
        service: String,
        /// Its answer.
        code: i32,
        /// What it said.
        message: String,
    },
    /// The vendor's driver did not answer.
    #[error("{service} did not answer: {detail}")]
    NoAnswer {
        /// The service.
        service: String,
        /// What the middleware says.
        detail: String,
    },
    /// What was set is not what is reported.
    #[error("{what} is {found}, not {wanted}: it was set, but the robot does not confirm it")]
    Unconfirmed {
        /// Which setting.
        what: &'static str,
        /// As reported.
        found: String,
        /// As set.
        wanted: String,
    },
    /// The robot does not report its state.
    #[error("the robot is silent on {topic}: is its driver running?")]
    Silent {
        /// The topic.
        topic: String,
    },
    /// The xArm's controller has an error.
    #[error("the controller has error C{code}: see to the robot, then clear the stop (prehend stop --clear)")]
    Error {
        /// UFACTORY's number, as in its manual after the C.
        code: i16,
    },
    /// The xArm is paused, stopped, or its settings were changed.
    #[error(
        "the arm's state is {state}, not ready to move: see to the robot, then clear the stop (prehend stop --clear)"
    )]
    State {
        /// UFACTORY's number: 3 paused, 4 stopped, 5 settings changed.
        state: i16,
    },
    /// Somebody else has changed the robot's mode.
    #[error(
        "the robot's mode is `{found}`, not `{wanted}`: somebody else has changed it; then clear the stop (prehend stop --clear)"
    )]
    Mode {
        /// As reported.
        found: String,
        /// In which it moves for Prehend.
        wanted: String,
    },
    /// Stretch's runstop is pressed.
    #[error("the runstop is pressed: release it at the robot (hold it for two seconds)")]
    Runstopped,
    /// Stretch does not know where its joints are.
    #[error("the robot is not homed: ros2 service call /home_the_robot std_srvs/srv/Trigger (it moves)")]
    NotHomed,
}

impl ArmingFault {
    /// Whether, after it was armed, only a person may arm the robot again: by clearing the stop.
    pub(crate) fn needs_a_person(&self) -> bool {
        match self {
            Self::Error { .. } | Self::State { .. } | Self::Mode { .. } => true,
            // The person has done it at the robot, or nobody has done anything.
            Self::Runstopped
            | Self::NotHomed
            | Self::Pending
            | Self::Ending
            | Self::NoService { .. }
            | Self::Refused { .. }
            | Self::NoAnswer { .. }
            | Self::Unconfirmed { .. }
            | Self::Silent { .. } => false,
        }
    }

    /// Whether waiting a little may help: nobody has refused anything yet.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Pending | Self::Silent { .. } | Self::NoService { .. })
    }

    /// The status in the trace.
    pub(crate) fn status(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Ending => "ending",
            Self::NoService { .. } => "no_service",
            Self::Refused { .. } => "refused",
            Self::NoAnswer { .. } => "no_answer",
            Self::Unconfirmed { .. } => "unconfirmed",
            Self::Silent { .. } => "silent",
            Self::Error { .. } => "error",
            Self::State { .. } => "state",
            Self::Mode { .. } => "mode",
            Self::Runstopped => "runstopped",
            Self::NotHomed => "not_homed",
        }
    }
}
