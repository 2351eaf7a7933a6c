//! `prehend record`: topics of a running graph into a bag.

use crate::args::record::RecordArgs;
use crate::domain::Domain;
use crate::interrupt::Interrupt;
use crate::outcome::exit;
use crate::recording::{self, Meter};
use crate::screen::{Screen, print_json};
use prehend_bags::{RecordError, Recorder, Topics, WriteError};
use prehend_msgs::names;
use prehend_robots::RobotConfig;
use prehend_ros::{Context, Node, NodeOptions};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

/// How often it is looked how far the recording is.
const LOOK: Duration = Duration::from_millis(250);
/// After this time without any topic it is told what is waited for.
const SILENCE: Duration = Duration::from_secs(3);

pub(super) async fn run(args: RecordArgs) -> u8 {
    let mut interrupt = Interrupt::new(args.supervised);
    match record(&args, &mut interrupt).await {
        Ok(code) => code,
        Err((message, code)) => {
            eprintln!("{message}");
            code
        }
    }
}

type Failure = (String, u8);

fn input(error: impl std::fmt::Display) -> Failure {
    (error.to_string(), exit::BAD_INPUT)
}

fn not_ready(error: impl std::fmt::Display) -> Failure {
    (error.to_string(), exit::NOT_READY)
}

/// The exit code of what went wrong with the bag.
fn failed(error: &RecordError) -> Failure {
    let code = match error {
        RecordError::Write(WriteError::Exists { .. } | WriteError::Name { .. }) => exit::BAD_INPUT,
        RecordError::Write(WriteError::Write { .. }) | RecordError::Thread(_) => exit::FAILED,
        RecordError::Ros(_) => exit::NOT_READY,
    };
    (error.to_string(), code)
}

async fn record(args: &RecordArgs, interrupt: &mut Interrupt) -> Result<u8, Failure> {
    let robot = RobotConfig::load(&args.robot).map_err(input)?;
    let named: Vec<&String> = args.topics.iter().chain(&args.named).collect();
    let topics = match (args.all, named.as_slice()) {
        (true, _) => Topics::All,
        (false, []) => {
            let resolve = |name: &str| match name.strip_prefix('/') {
                Some(_) => name.to_owned(),
                None => names::in_namespace(names::NAMESPACE, name),
            };
            Topics::Named(recording::topics_of(&robot, resolve))
        }
        (false, named) => Topics::Named(named.iter().map(|name| recording::absolute(name)).collect()),
    };
    let domain = Domain::find().map_err(input)?;
    let folder = match &args.out {
        Some(folder) => folder.clone(),
        None => PathBuf::from("recordings").join(crate::run_folder::utc(SystemTime::now())),
    };
    let folder = std::path::absolute(&folder).map_err(input)?;
    let context = Context::create_in_domain(domain.id).map_err(not_ready)?;
    let name = format!("prehend_record_{}", std::process::id());
    let node = Node::create(&context, &name, names::NAMESPACE, NodeOptions::default()).map_err(not_ready)?;
    let mut options = args.bag.options(topics);
    options.bag.notes = recording::notes(&args.robot, None);
    let recorder = Recorder::start(&node, &folder, options).map_err(|error| failed(&error))?;
    let screen = Screen::new(args.json);
    screen.line(format!("recording ROS domain {} into {}; Ctrl-C ends it", domain.id, folder.display()));
    let started = Instant::now();
    let end = args.seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let mut meter = Meter::new();
    let mut look = tokio::time::interval(LOOK);
    let mut told_silence = false;
    loop {
        tokio::select! {
            () = interrupt.raised() => break,
            _ = look.tick() => {}
        }
        for remark in recorder.remarks() {
            meter.leave();
            screen.line(remark);
        }
        let progress = recorder.progress();
        meter.show(&progress);
        if progress.topics == 0 && started.elapsed() > SILENCE && !told_silence {
            told_silence = true;
            screen.line(format!("none of these topics is published in ROS domain {} so far", domain.id));
        }
        if recorder.has_failed() || end.is_some_and(|end| started.elapsed() >= end) {
            break;
        }
    }
    meter.leave();
    let recorded = recorder.finish().await.map_err(|error| failed(&error))?;
    recording::tell(&recorded, &screen);
    if args.json {
        print_json(&recording::as_json(&recorded));
    }
    Ok(if recorded.written.messages == 0 { exit::NOT_READY } else { exit::DONE })
}
