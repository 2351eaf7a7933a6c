//! Whether the robot's own frames are still told of: nothing begins to move by transforms of a while ago.

use prehend_msgs::builtin_interfaces::msg::Time;
use prehend_ros::{Clock, Node, RosError, TfBuffer, TfError, Transform, nanoseconds};
use std::time::Duration;
use tokio::time::Instant;

/// Age beyond which a transform does not say where the robot is, nanoseconds of the node's clock. Drivers are late by
/// some 0.1 s.
const MAX_AGE: i64 = 1_000_000_000;
/// Stamp of a transform that holds for all times.
const FIXED: i64 = 0;
/// Longest wait for a transform of now, wall clock: nothing moves meanwhile, and what starts on a busy machine is late.
const PATIENCE: Duration = Duration::from_secs(5);

/// What stands is seen to move by no more than this, metres and radians, for as long as this, nanoseconds of the node's clock.
const STILL: [f64; 2] = [0.002, 0.003];
const STILL_FOR: i64 = 200_000_000;
/// Longest wait until it stands, wall clock.
const COMES_TO_REST: Duration = Duration::from_secs(3);
/// Wall time between two looks at what comes to rest.
const LOOK: Duration = Duration::from_millis(20);

/// Why nobody knows where the robot is.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FramesError {
    /// Nothing new was told within five seconds.
    #[error(
        "nothing new was told of the robot's frames for five seconds ({0}): does its state publisher run?"
    )]
    NotTold(#[from] TfError),
    /// What is told is of a while ago.
    #[error(
        "the transform from `{frame}` to `{target}` is {seconds:.1} s old: are the clocks of all computers synchronised?"
    )]
    Late {
        /// The frame transformed into.
        target: String,
        /// The frame transformed from.
        frame: String,
        /// Its age, seconds.
        seconds: f64,
    },
}

/// Two frames of the robot that move against each other.
#[derive(Clone, Debug)]
pub struct LiveFrames {
    tf: TfBuffer,
    clock: Clock,
    target: String,
    source: String,
}

impl LiveFrames {
    /// The frame `source` in the frame `target`.
    pub fn new(node: &Node, target: &str, source: &str) -> Result<Self, RosError> {
        let (target, source) = (target.to_owned(), source.to_owned());
        Ok(Self { tf: node.tf()?, clock: node.clock(), target, source })
    }

    /// Waits until a transform is told that is not older than a second.
    ///
    /// One look is not enough: the clock and the transforms come over two topics, and where a machine is busy the clock
    /// can be heard to jump by a second between two lines of this function.
    ///
    /// Errors: [`FramesError`].
    pub async fn confirm(&self) -> Result<(), FramesError> {
        let end = Instant::now() + PATIENCE;
        let first = self.newest().ok();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let told = self.tf.wait(&self.target, &self.source, &self.clock.now(), left).await;
            let stamp = self.newest()?;
            let age = self.clock.now_nanoseconds() - stamp;
            match told {
                Ok(_) if stamp == FIXED || age <= MAX_AGE => return Ok(()),
                Ok(_) if !left.is_zero() => {}
                Err(error) if first.is_some_and(|first| stamp <= first) => return Err(error.into()),
                Ok(_) | Err(_) => return Err(self.late(age)),
            }
        }
    }

    /// Waits until one frame stands in the other, at most three seconds; whether it does.
    ///
    /// Nav2 says that a drive has succeeded when the goal is near enough, and the velocity is brought to zero after that.
    pub async fn stand(&self) -> bool {
        let end = Instant::now() + COMES_TO_REST;
        let mut since: Option<Transform> = None;
        while Instant::now() < end {
            // What is not told of at all does not stand.
            let newest = self.tf.lookup(&self.target, &self.source, &Time::default()).ok();
            match (&since, newest) {
                (Some(first), Some(newest)) if are_near(first, &newest) => {
                    if nanoseconds(&newest.stamp) - nanoseconds(&first.stamp) >= STILL_FOR {
                        return true;
                    }
                }
                (_, newest) => since = newest,
            }
            tokio::time::sleep(LOOK).await;
        }
        false
    }

    /// Stamp of the newest transform, nanoseconds of the node's clock.
    fn newest(&self) -> Result<i64, TfError> {
        let newest = self.tf.lookup(&self.target, &self.source, &Time::default())?;
        Ok(nanoseconds(&newest.stamp))
    }

    fn late(&self, age: i64) -> FramesError {
        let (target, frame) = (self.target.clone(), self.source.clone());
        FramesError::Late { target, frame, seconds: age as f64 * 1e-9 }
    }
}

fn are_near(a: &Transform, b: &Transform) -> bool {
    let between = a.isometry().inv_mul(&b.isometry());
    between.translation.vector.norm() <= STILL[0] && between.rotation.angle() <= STILL[1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_msgs::geometry_msgs::msg::TransformStamped;
    use prehend_msgs::tf2_msgs::msg::TFMessage;
    use prehend_ros::{Context, DomainLease, NodeOptions, QosProfile, time_from_nanoseconds};
    use tokio::time::interval;

    /// One robot's frames, told every 50 ms by the stamps of a script.
    struct Stage {
        frames: LiveFrames,
        node: Node,
        _context: Context,
        _lease: DomainLease,
    }

    impl Stage {
        fn start() -> Self {
            let lease = DomainLease::take().expect("a domain is free");
            let context = Context::create_in_domain(lease.domain_id()).expect("joined");
            let node = Node::create(&context, "frames", "/", NodeOptions::default()).expect("node");
            let frames = LiveFrames::new(&node, "odom", "base_link").expect("tf");
            Self { frames, node, _context: context, _lease: lease }
        }

        /// What is said of transforms with the stamps that `stamp` makes of the time.
        async fn confirm(&self, stamp: impl Fn(i64) -> i64) -> Result<(), FramesError> {
            self.told(self.frames.confirm(), stamp, |_| 0.0).await
        }

        /// What `said` comes to while transforms are told: with the stamps that `stamp` makes of the time, and x of the number.
        async fn told<T>(
            &self,
            said: impl Future<Output = T>,
            stamp: impl Fn(i64) -> i64,
            x: impl Fn(u32) -> f64,
        ) -> T {
            let publisher = self.node.create_publisher("/tf", QosProfile::default()).expect("publisher");
            let mut transform =
                TransformStamped { child_frame_id: "base_link".to_owned(), ..Default::default() };
            transform.header.frame_id = "odom".to_owned();
            transform.transform.rotation.w = 1.0;
            let telling = async {
                let mut tick = interval(Duration::from_millis(50));
                for number in 0.. {
                    tick.tick().await;
                    transform.transform.translation.x = x(number);
                    let stamp = stamp(self.node.clock().now_nanoseconds());
                    transform.header.stamp = time_from_nanoseconds(stamp);
                    publisher.publish(&TFMessage { transforms: vec![transform.clone()] }).expect("sent");
                }
            };
            tokio::select! {
                said = said => said,
                () = telling => unreachable!("it tells for ever"),
            }
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn frames_are_of_now_or_late_or_not_told() {
        let stage = Stage::start();
        let nobody = stage.frames.confirm().await;
        assert!(matches!(nobody, Err(FramesError::NotTold(TfError::UnknownFrame { .. }))), "{nobody:?}");
        let late = stage.confirm(|now| now - 3_000_000_000).await;
        assert!(
            matches!(late, Err(FramesError::Late { seconds, .. }) if (2.9..4.0).contains(&seconds)),
            "{late:?}"
        );
        assert_eq!(stage.confirm(|now| now).await, Ok(()));
        let last = stage.node.clock().now_nanoseconds();
        assert!(stage.confirm(|_| last).await.is_err(), "the last that was told");
        let frozen = stage.confirm(|_| last).await;
        assert!(matches!(frozen, Err(FramesError::NotTold(TfError::TooNew { .. }))), "{frozen:?}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_rolls_out_is_waited_for_and_what_rolls_on_does_not_stand() {
        let stage = Stage::start();
        assert!(!stage.frames.stand().await, "nobody tells");
        let rolls_out = |number: u32| 0.01 * f64::from(number.min(8));
        assert!(stage.told(stage.frames.stand(), |now| now, rolls_out).await);
        let newest = stage.frames.tf.lookup("odom", "base_link", &Time::default()).expect("told");
        assert!((newest.translation[0] - 0.08).abs() < 1e-9, "it was waited for: {newest:?}");
        let rolls_on = |number: u32| 0.01 * f64::from(number);
        assert!(!stage.told(stage.frames.stand(), |now| now, rolls_on).await);
        // The same old word again and again says nothing of now.
        let frozen = stage.node.clock().now_nanoseconds();
        assert!(!stage.told(stage.frames.stand(), |_| frozen, |_| 1.0).await);
    }
}
