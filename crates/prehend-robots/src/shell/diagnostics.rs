//! `/diagnostics`: how this node is doing, once a second.
//!
//! | status | OK | WARN | ERROR | STALE |
//! |---|---|---|---|---|
//! | `NODE: state` | active | not active; `/clock` does not tick | must not move the robot; an error was logged within 10 s | |
//! | `NODE: peers` | all that were heard beat | one fell silent | one fell silent while it moved the robot | nobody was heard |
//! | `NODE: sensors` | samples come | one is older than 2 s | | nothing ever came on one |
//! | `NODE: topics` | nothing dropped | samples were dropped since the last second | | |
//!
//! A node without sensors has no such status. Values tell state, last error, ages, rates and drops.

use super::Peers;
use super::life::Life;
use prehend_msgs::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus, KeyValue};
use prehend_ros::{Node, Publisher, TopicEnd, TopicHealth, last_error};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Time between two reports, wall clock.
const PERIOD: Duration = Duration::from_secs(1);
/// A sensor whose newest sample is older is late.
const LATE: Duration = Duration::from_secs(2);
/// How long a logged error counts.
const FRESH_ERROR: Duration = Duration::from_secs(10);

/// Key of the value of `NODE: state` that tells whether the node's time runs: `true` or `false`.
pub const CLOCK_TICKS: &str = "clock ticks";

const OK: u8 = DiagnosticStatus::OK;
const WARN: u8 = DiagnosticStatus::WARN;
const ERROR: u8 = DiagnosticStatus::ERROR;
const STALE: u8 = DiagnosticStatus::STALE;

/// What the state of a node is judged by.
#[derive(Clone, Debug, Default)]
struct Facts {
    active: bool,
    /// Why the node must not move the robot, although it is active.
    barred: Option<String>,
    clock_ticks: bool,
    last_error: Option<(Duration, String)>,
}

/// Level, message and values of one status.
type Verdict = (u8, String, Vec<(String, String)>);

fn pair(key: &str, value: impl ToString) -> (String, String) {
    (key.to_owned(), value.to_string())
}

fn judge_state(facts: &Facts) -> Verdict {
    let mut values = vec![pair("active", facts.active), pair(CLOCK_TICKS, facts.clock_ticks)];
    if let Some((age, line)) = &facts.last_error {
        values.push(pair("last error", line));
        values.push(pair("last error, seconds ago", format!("{:.0}", age.as_secs_f64())));
    }
    let recent = facts.last_error.as_ref().filter(|(age, _)| *age < FRESH_ERROR);
    let (level, message) = match (&facts.barred, recent) {
        (Some(reason), _) => (ERROR, reason.clone()),
        (None, Some((_, line))) => (ERROR, line.clone()),
        (None, None) if !facts.active => (WARN, "not active".to_owned()),
        (None, None) if !facts.clock_ticks => (WARN, "/clock does not tick".to_owned()),
        (None, None) => (OK, "active".to_owned()),
    };
    (level, message, values)
}

/// A peer: its name, how long it is silent, whether that is too long, and whether it said that it moves the robot.
type Peer = (String, Duration, bool, bool);

fn judge_peers(peers: &[Peer]) -> Verdict {
    let values =
        peers.iter().map(|(name, age, _, _)| pair(name, format!("{:.1} s ago", age.as_secs_f64()))).collect();
    let silent = |moving: bool| {
        let names = peers.iter().filter(|(_, _, silent, moves)| *silent && (!moving || *moves));
        names.map(|(name, ..)| name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (lost, lost_in_motion) = (silent(false), silent(true));
    let (level, message) = if peers.is_empty() {
        (STALE, "no other node was heard".to_owned())
    } else if !lost_in_motion.is_empty() {
        (ERROR, format!("silent since it moved the robot: {lost_in_motion}"))
    } else if !lost.is_empty() {
        (WARN, format!("silent: {lost}"))
    } else {
        (OK, format!("{} heard", peers.len()))
    };
    (level, message, values)
}

fn judge_sensors(sensors: &[&TopicHealth], before: &HashMap<String, TopicHealth>) -> Verdict {
    let mut values = Vec::new();
    for sensor in sensors {
        let earlier = before.get(&sensor.topic).map_or(0, |earlier| earlier.samples);
        let age = sensor.age.map_or_else(|| "never".to_owned(), |age| format!("{:.2} s", age.as_secs_f64()));
        values.push(pair(&format!("{}, age", sensor.topic), age));
        values.push(pair(
            &format!("{}, rate", sensor.topic),
            format!("{} Hz", sensor.samples.saturating_sub(earlier)),
        ));
        values.push(pair(&format!("{}, dropped", sensor.topic), sensor.dropped));
    }
    let named = |wanted: &dyn Fn(&TopicHealth) -> bool| {
        let names = sensors.iter().filter(|sensor| wanted(sensor)).map(|sensor| sensor.topic.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    let (never, late) =
        (named(&|sensor| sensor.age.is_none()), named(&|sensor| sensor.age.is_some_and(|age| age > LATE)));
    let (level, message) = if !never.is_empty() {
        (STALE, format!("nothing was heard on {never}"))
    } else if !late.is_empty() {
        (WARN, format!("late: {late}"))
    } else {
        (OK, "samples come".to_owned())
    };
    (level, message, values)
}

fn judge_topics(all: &[TopicHealth], before: &HashMap<String, TopicHealth>) -> Verdict {
    let total: u64 = all.iter().map(|topic| topic.dropped).sum();
    let mut values = vec![pair("topics", all.len()), pair("dropped in all", total)];
    let mut losing = Vec::new();
    for topic in all {
        let more =
            topic.dropped.saturating_sub(before.get(&topic.topic).map_or(0, |earlier| earlier.dropped));
        if more > 0 {
            let end = if topic.end == TopicEnd::Publisher { "sending" } else { "receiving" };
            values.push(pair(&format!("{}, dropped in {end}", topic.topic), topic.dropped));
            losing.push(topic.topic.as_str());
        }
    }
    if losing.is_empty() {
        (OK, "nothing is dropped".to_owned(), values)
    } else {
        (WARN, format!("samples are dropped on {}", losing.join(", ")), values)
    }
}

/// Reports until the task ends.
pub(super) async fn report(
    node: Node,
    robot: String,
    publisher: Publisher<DiagnosticArray>,
    peers: Peers,
    life: Arc<Life>,
    heartbeat: String,
) {
    let mut interval = tokio::time::interval(PERIOD);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut before: HashMap<String, TopicHealth> = HashMap::new();
    loop {
        interval.tick().await;
        let active = *life.active.borrow();
        let facts = Facts {
            active,
            barred: peers.bar().filter(|_| active).map(|bar| bar.to_string()),
            clock_ticks: node.clock().is_ticking(),
            last_error: last_error(),
        };
        let topics = node.topic_health();
        // Beats are no sensor, although they may be lost as well.
        let sensors: Vec<&TopicHealth> = topics
            .iter()
            .filter(|topic| topic.end == TopicEnd::Sensor && topic.topic != heartbeat)
            .filter(|topic| !topic.topic.ends_with(super::CLAIM))
            .collect();
        let mut verdicts = vec![
            ("state", judge_state(&facts)),
            ("peers", judge_peers(&peers.ages())),
            ("topics", judge_topics(&topics, &before)),
        ];
        if !sensors.is_empty() {
            verdicts.push(("sensors", judge_sensors(&sensors, &before)));
        }
        let status = verdicts.into_iter().map(|(what, (level, message, values))| DiagnosticStatus {
            level,
            name: format!("{}: {what}", node.fully_qualified_name()),
            message,
            hardware_id: robot.clone(),
            values: values.into_iter().map(|(key, value)| KeyValue { key, value }).collect(),
        });
        let mut array = DiagnosticArray { status: status.collect(), ..Default::default() };
        array.header.stamp = node.now();
        if let Err(error) = publisher.publish(&array) {
            tracing::debug!("diagnostics: {error}");
        }
        before = topics.into_iter().map(|topic| (topic.topic.clone(), topic)).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sensor(age: Option<f64>, samples: u64, dropped: u64) -> TopicHealth {
        let age = age.map(Duration::from_secs_f64);
        TopicHealth { topic: "/camera".to_owned(), end: TopicEnd::Sensor, samples, dropped, age }
    }

    #[test]
    fn levels_of_the_state() {
        let good = Facts { active: true, clock_ticks: true, ..Facts::default() };
        let error = |age: u64| Some((Duration::from_secs(age), "the arm is gone".to_owned()));
        for (facts, level, message) in [
            (good.clone(), OK, "active"),
            (Facts { active: false, ..good.clone() }, WARN, "not active"),
            (Facts { clock_ticks: false, ..good.clone() }, WARN, "/clock does not tick"),
            (Facts { last_error: error(3), ..good.clone() }, ERROR, "the arm is gone"),
            (Facts { last_error: error(30), ..good.clone() }, OK, "active"),
            (Facts { barred: Some("held by x".to_owned()), ..good.clone() }, ERROR, "held by x"),
        ] {
            let (found, words, _) = judge_state(&facts);
            assert_eq!((found, words.as_str()), (level, message), "{facts:?}");
        }
    }

    #[test]
    fn levels_of_the_peers() {
        let peer = |silent, moves| ("skills".to_owned(), Duration::from_secs(1), silent, moves);
        for (peers, level) in [
            (vec![], STALE),
            (vec![peer(false, true)], OK),
            (vec![peer(false, false), peer(true, false)], WARN),
            (vec![peer(true, true)], ERROR),
        ] {
            assert_eq!(judge_peers(&peers).0, level, "{peers:?}");
        }
    }

    #[test]
    fn levels_of_sensors_and_drops() {
        let before: HashMap<String, TopicHealth> = [("/camera".to_owned(), sensor(Some(0.0), 85, 2))].into();
        for (now, level, drops) in [
            (sensor(Some(0.1), 100, 2), OK, OK),
            (sensor(Some(3.0), 85, 2), WARN, OK),
            (sensor(None, 0, 2), STALE, OK),
            (sensor(Some(0.1), 100, 5), OK, WARN),
        ] {
            let (found, _, values) = judge_sensors(&[&now], &before);
            assert_eq!(found, level, "{now:?}");
            assert_eq!(judge_topics(std::slice::from_ref(&now), &before).0, drops, "{now:?}");
            if level == OK {
                assert!(values.contains(&("/camera, rate".to_owned(), "15 Hz".to_owned())), "{values:?}");
            }
        }
    }
}
