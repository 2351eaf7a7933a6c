//! `prehend up`: the graph, until it is told to end.

use super::{graph_options, scene, start_code, view};
use crate::args::UpArgs;
use crate::domain::Purpose;
use crate::gated::Moved;
use crate::graph::{Graph, GraphError};
use crate::interrupt::Interrupt;
use crate::outcome::exit;
use crate::recording;
use crate::run_folder::{MOTIONS, RECORDING, RESULT, RunFolder, TRACE, WriteError};
use crate::screen::{Paint, Screen};
use crate::supervisor::Event;
use crate::trace;
use futures::StreamExt;
use serde_json::Value;
use std::error::Error;
use std::time::Duration;

/// How long the end of what was just stopped is waited for.
const LAST_EVENTS: Duration = Duration::from_millis(200);

pub(super) async fn run(args: UpArgs) -> u8 {
    let screen = Screen::new(false);
    if let Err(error) = scene::load(&args.graph.scene, args.graph.seed) {
        eprintln!("{error}");
        return exit::BAD_INPUT;
    }
    if let Err(error) = view::check(&args.graph) {
        eprintln!("{error}");
        return exit::BAD_INPUT;
    }
    let mut folder = match RunFolder::named_or_dated(args.out.as_deref(), args.graph.seed) {
        Ok(folder) => folder,
        Err(error) => {
            eprintln!("{error}");
            return exit::BAD_INPUT;
        }
    };
    // From here on, so that no signal is lost between two steps.
    let mut interrupt = Interrupt::new(args.supervised);
    let options = match graph_options(&args.graph, args.speed, Purpose::Up, folder.logs()) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return exit::NOT_READY;
        }
    };
    let mut graph = match Graph::start(&options) {
        Ok(graph) => graph,
        Err(error) => return refuse(&error),
    };
    let report = |missing: &[String]| screen.line(format!("waiting for: {}", missing.join(", ")));
    match graph.ready(report, interrupt.raised()).await {
        Ok(took) => {
            let id = graph.domain.id;
            screen
                .line(format!("ready in {:.1} s; ROS_DOMAIN_ID is {id}; Ctrl-C ends it", took.as_secs_f64()));
            screen.line("in another terminal: prehend goal \"put the red mug in the bowl\"");
        }
        Err(error) => {
            let code = refuse(&error);
            graph.stop().await;
            return code;
        }
    }
    let _viewer = match args.graph.view {
        true => view::Beside::open(&graph, &options, args.graph.memory.as_deref(), &screen).await,
        false => None,
    };
    let recorder = match args.record {
        true => {
            let notes = recording::notes(&args.graph.robot, None);
            let Graph { observer, robot, .. } = &graph;
            recording::begin(&observer.node, &folder.file(RECORDING), robot, notes, &screen).await
        }
        false => None,
    };
    let code = serve(&mut graph, &mut folder, &screen, &mut interrupt).await;
    screen.line("stopping the robot and all processes");
    graph.observer.stop_robot("prehend up was ended").await;
    recording::end(recorder, &screen).await;
    if let Err(error) = say_how_it_moved(&mut graph, &mut folder, &screen).await {
        tracing::warn!("how the robot moved is not known: {error}");
    }
    graph.stop().await;
    code
}

/// Asks physics when the robot moved, and tells what of that had a permit.
async fn say_how_it_moved(
    graph: &mut Graph,
    folder: &mut RunFolder,
    screen: &Screen,
) -> Result<(), Box<dyn Error>> {
    let last = async {
        while let Some(event) = graph.observer.trace.next().await {
            screen.line(trace::to_line(&event, screen));
            folder.add_event(&event)?;
        }
        Ok::<_, WriteError>(())
    };
    // The stream has no end, so this always takes the whole time.
    tokio::time::timeout(LAST_EVENTS, last).await.unwrap_or(Ok(()))?;
    let motions = graph.judge.motions().await?;
    let trace = std::fs::read_to_string(folder.file(TRACE))?;
    let trace: Result<Vec<Value>, _> = trace.lines().map(serde_json::from_str).collect();
    let moved = Moved::new(&motions, &trace?);
    screen.line(moved.told());
    folder.write_json(MOTIONS, &motions)?;
    folder.write_json(RESULT, &moved)?;
    Ok(())
}

fn refuse(error: &GraphError) -> u8 {
    eprintln!("{error}");
    start_code(error)
}

/// Shows the trace until the end is asked for or the sim is lost.
async fn serve(graph: &mut Graph, folder: &mut RunFolder, screen: &Screen, interrupt: &mut Interrupt) -> u8 {
    loop {
        tokio::select! {
            () = interrupt.raised() => return exit::DONE,
            Some(event) = graph.observer.trace.next() => {
                screen.line(trace::to_line(&event, screen));
                if let Err(error) = folder.add_event(&event) {
                    tracing::warn!("{error}");
                }
            }
            event = graph.supervisor.event() => match event {
                Event::Died { name, status, restart_in: None } => {
                    let log = graph.supervisor.log_path(&name);
                    let what = format!("{name} ended ({status}) and cannot be started again without losing the world: everything ends; `prehend up` starts anew (log: {})", log.display());
                    screen.line(screen.paint(Paint::Red, &what));
                    return exit::FAILED;
                }
                other => tell(&other, screen),
            },
        }
    }
}

/// Says what happened to a process, when a person wants to know.
pub(super) fn tell(event: &Event, screen: &Screen) {
    match event {
        Event::Died { name, status, restart_in } => {
            let next = match restart_in {
                Some(pause) => format!("it is started again in {:.1} s", pause.as_secs_f64()),
                None => "it is not started again".to_owned(),
            };
            screen.line(screen.paint(Paint::Red, &format!("{name} ended ({status}); {next}")));
        }
        Event::NotStarted { name, error } => {
            screen.line(screen.paint(Paint::Red, &format!("{name} could not be started: {error}")));
        }
        Event::Started { name, pid } => tracing::debug!("{name} runs as process {pid}"),
    }
}
