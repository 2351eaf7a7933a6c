//! From a source to a window or a picture.

use super::drawn::{hidden, undrawn};
use super::graph::LiveStage;
use super::recorded::Recorded;
use super::robot::Robot;
use super::{areas, run as runs, steps};
use crate::args::ViewArgs;
use crate::outcome::exit;
use crate::run_folder::{recording_at, recording_in};
use crate::screen::Screen;
use prehend_nodes::pictures;
use prehend_recording::SavedMap;
use prehend_ros::shutdown_signal;
use prehend_viewer::draw::{OffScreen, StageWindow};
use prehend_viewer::{PanelLine, Player, Stage, Steer, Tone, Viewpoint, things};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is shown.
enum Source {
    Map(Box<Stage>),
    Graph(Box<LiveStage>),
    /// A recording, or what a run has left.
    Played(Box<Recorded>, Player),
}

impl Source {
    async fn open(args: &ViewArgs) -> Result<Self, (String, u8)> {
        let bad = |error: String| (error, exit::BAD_INPUT);
        if let Some(map) = &args.map {
            return of_map(map, args.number).map(|stage| Self::Map(Box::new(stage))).map_err(bad);
        }
        let recording = args.recording.as_deref().map(recording_at).transpose();
        let recording = recording.map_err(|error| bad(error.to_string()))?;
        let recording = recording.or_else(|| recording_in(args.run.as_deref()?));
        if let Some(recording) = &recording {
            let recorded = Recorded::read(recording, Robot::load(&args.robot).map_err(bad)?).map_err(bad)?;
            let player = Player::new(recorded.seconds(), args.at.unwrap_or(0.0));
            return Ok(Self::Played(Box::new(remembered(recorded, args).map_err(bad)?), player));
        }
        if let Some(folder) = &args.run {
            let recorded = runs::read(folder, Robot::load(&args.robot).map_err(bad)?).map_err(bad)?;
            let begin = if args.out.is_some() { recorded.seconds() } else { 0.0 };
            let steps = recorded.steps().into_iter().map(|step| step.at).collect();
            let player = Player::new(recorded.seconds(), args.at.unwrap_or(begin)).stepping(steps);
            return Ok(Self::Played(Box::new(remembered(recorded, args).map_err(bad)?), player));
        }
        if args.at.is_some() {
            return Err((
                "--at is a time of a recording or of a run: --recording or --run".to_owned(),
                exit::BAD_INPUT,
            ));
        }
        LiveStage::join(args).await.map(|live| Self::Graph(Box::new(live)))
    }

    /// What there is now, when it is not what there was `passed` ago, after what a person wanted and said.
    fn changed(&mut self, passed: Duration, steers: Vec<Steer>, answers: &[bool]) -> Option<Stage> {
        match self {
            Self::Map(_) => None,
            Self::Graph(live) => live.changed(answers),
            Self::Played(_, player) => {
                let is_steered = !steers.is_empty();
                steers.into_iter().for_each(|steer| player.take(steer));
                (player.advance(passed.as_secs_f64()) || is_steered).then(|| self.stage())
            }
        }
    }

    fn stage(&mut self) -> Stage {
        match self {
            Self::Map(stage) => (**stage).clone(),
            Self::Graph(live) => live.stage(),
            Self::Played(recorded, player) => {
                let mut stage = recorded.stage_at(player.at());
                stage.panel.insert(0, PanelLine::new(Tone::Title, player.words()));
                stage
            }
        }
    }
}

pub(super) async fn run(args: &ViewArgs) -> Result<(), (String, u8)> {
    let mut source = Source::open(args).await?;
    if let Some(key) = &args.select {
        let stage = source.stage();
        if !stage.things.iter().any(|thing| thing.key.0 == *key) {
            let keys: Vec<&str> = stage.things.iter().map(|thing| thing.key.0.as_str()).collect();
            return Err((format!("there is no {key} here, but: {}", keys.join(", ")), exit::BAD_INPUT));
        }
    }
    match &args.out {
        Some(folder) if steps::is_folder(folder) => match source {
            Source::Played(recorded, _) => steps::write(*recorded, args, folder).await,
            Source::Map(_) | Source::Graph(_) => Err((
                "a folder takes the steps of a recording or a run: --recording or --run; here --out is a FILE.png".to_owned(),
                exit::BAD_INPUT,
            )),
        },
        Some(file) => picture(&mut source, args, file).await,
        None => window(&mut source, args).await,
    }
}

/// With the areas that are remembered, if they are wanted.
fn remembered(recorded: Recorded, args: &ViewArgs) -> Result<Recorded, String> {
    match &args.memory {
        Some(memory) => Ok(recorded.in_building(areas::read(memory, args.building.as_deref())?)),
        None => Ok(recorded),
    }
}

/// A scene of a saved map.
fn of_map(folder: &Path, number: usize) -> Result<Stage, String> {
    let saved = SavedMap::load(folder).map_err(|error| error.to_string())?;
    let Some(scene) = saved.scenes.get(number) else {
        return Err(format!(
            "{} has {} scenes; --number counts from 0",
            folder.display(),
            saved.scenes.len()
        ));
    };
    Ok(Stage { things: Arc::new(things(&scene.map)), ..Stage::default() })
}

async fn picture(source: &mut Source, args: &ViewArgs, file: &Path) -> Result<(), (String, u8)> {
    let mut off_screen = OffScreen::new(args.width, args.height).await.map_err(undrawn)?;
    tokio::time::sleep(Duration::from_secs_f64(args.after)).await;
    if let Source::Graph(live) = source {
        live.settle().await;
    }
    let selected = args.select.as_deref().map(Into::into);
    let stage = Stage { selected, hidden: hidden(args), ..source.stage() };
    let view = Viewpoint::framing(&stage, args.width, args.height);
    let (count, points) = (stage.things.len(), stage.point_count());
    off_screen.show(stage);
    let picture = off_screen.picture(&view).await;
    pictures::save(&picture, file).map_err(|error| (error.to_string(), exit::FAILED))?;
    Screen::new(false).line(format!("{count} objects, {points} points: {}", file.display()));
    Ok(())
}

async fn window(source: &mut Source, args: &ViewArgs) -> Result<(), (String, u8)> {
    let mut window = StageWindow::open("prehend view", args.width, args.height).await.map_err(undrawn)?;
    // Who opened it beside a graph waits for this line.
    Screen::new(false)
        .line("the window is open: drag, scroll, click a thing, F shows everything, Escape closes");
    window.show(source.stage());
    window.hide(&hidden(args));
    window.select(args.select.as_deref().map(Into::into));
    let ended = shutdown_signal(false);
    tokio::pin!(ended);
    let mut shown = Instant::now();
    loop {
        let started = Instant::now();
        if !window.frame().await {
            return Ok(());
        }
        let passed = shown.elapsed();
        shown = Instant::now();
        if let Some(stage) = source.changed(passed, window.steers(), &window.answers()) {
            window.show(stage);
        }
        // Also lets the tasks of this thread run.
        let rest = window.pace().saturating_sub(started.elapsed());
        if tokio::time::timeout(rest, &mut ended).await.is_ok() {
            return Ok(());
        }
    }
}
