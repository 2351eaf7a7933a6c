//! `prehend describe`: a thing with moving parts as URDF, from all looks at it so far.

mod doubt;
mod looks;
mod opinion;
mod page;
mod scene;
mod tables;

use super::ask;
use crate::args::DescribeArgs;
use crate::outcome::exit;
use crate::screen::{Screen, print_json};
use doubt::Opinions;
use opinion::Second;
use prehend_articulation::{
    Described, Known, Observation, Thresholds, Wish, gather, meshes, to_sdf, to_urdf_with_meshes,
};
use prehend_convert as convert;
use prehend_drawing::overlay;
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use std::path::Path;

/// What was seen so far.
const OBSERVATION: &str = "observation.json";

pub(super) async fn run(args: DescribeArgs) -> u8 {
    match describe_it(&args).await {
        Ok(()) => exit::DONE,
        Err((message, code)) => {
            eprintln!("{message}");
            code
        }
    }
}

async fn describe_it(args: &DescribeArgs) -> Result<(), (String, u8)> {
    let screen = Screen::new(args.show.json);
    let input = |message: String| (message, exit::BAD_INPUT);
    let output = |message: String| (message, exit::FAILED);
    let second = args.opinion.as_deref().map(Second::read).transpose().map_err(input)?;
    let earlier = read(&args.out.join(OBSERVATION)).map_err(input)?;
    let known = match &args.object {
        Some(object) => seen(args, object, earlier).await?,
        None => earlier.map(|earlier| Known::remembered(earlier, None)).ok_or_else(|| {
            input(format!(
                "{} holds no {OBSERVATION}: describe the thing once without --again",
                args.out.display()
            ))
        })?,
    };
    let thresholds = if args.adaptive { Thresholds::adaptive() } else { Thresholds::default() };
    let described = match known.described.clone() {
        Some(described) => described,
        None => known.describe(thresholds).map_err(|error| input(error.to_string()))?,
    };
    let observation = known.observation;
    let mut opinions = Opinions::default();
    write_all(&args.out, &observation, &described).map_err(output)?;
    write_told(&args.out, &observation, &described, &opinions).map_err(output)?;
    tell(&screen, &args.out, &observation, &described);
    // What is described is there already, whatever becomes of this.
    if let Some(second) = second {
        opinions = second.ask(&observation, &described).await;
        write_told(&args.out, &observation, &described, &opinions).map_err(output)?;
        opinion::tell(&screen, &described, &opinions);
    }
    if args.show.json {
        print_json(&opinions.told(&described));
    }
    Ok(())
}

/// What an earlier call left.
fn read(file: &Path) -> Result<Option<Observation>, String> {
    match std::fs::read(file) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| format!("{}: {error}; take another --out, or remove it", file.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", file.display())),
    }
}

/// What a graph has seen of a thing: by its describer, which knows the ways of the hand, too, and has described it; else what its map
/// shows now, after the looks of earlier calls.
async fn seen(
    args: &DescribeArgs,
    object: &str,
    earlier: Option<Observation>,
) -> Result<Known, (String, u8)> {
    let failed = |message: String| (message, exit::FAILED);
    let (observer, map) = ask::newest_map(&args.show.robot, &args.show.ros).await?;
    if let Some(answer) = observer.describe(object, args.adaptive).await.map_err(failed)? {
        if answer.error_code != ErrorCode::SUCCESS {
            return Err((answer.error_message, exit::BAD_INPUT));
        }
        let wrong = |error: &dyn std::fmt::Display| failed(format!("the describer's answer: {error}"));
        let observation = serde_json::from_str(&answer.observation).map_err(|error| wrong(&error))?;
        let described = serde_json::from_str(&answer.description).map_err(|error| wrong(&error))?;
        let known = Known::remembered(observation, Some(described));
        known.check().map_err(|error| wrong(&error))?;
        return Ok(known);
    }
    let map = convert::map_from_msg(&map).map_err(|error| failed(error.to_string()))?;
    let input = |error: gather::GatherError| (error.to_string(), exit::BAD_INPUT);
    let now = gather::observe(gather::thing(object, &map).map_err(input)?, &map);
    let Some(mut all) = earlier else { return Ok(Known::remembered(now, None)) };
    match gather::join(&mut all, now) {
        Ok(_) => Ok(Known::remembered(all, None)),
        Err(error) => Err((format!("{error}: take another --out"), exit::BAD_INPUT)),
    }
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

/// Whole or not at all: what was seen cannot be seen again.
fn put(out: &Path, name: &str, bytes: &[u8]) -> Result<(), String> {
    let (path, draft) = (out.join(name), out.join(format!(".{name}.new")));
    std::fs::write(&draft, bytes)
        .and_then(|()| std::fs::rename(&draft, &path))
        .map_err(|error| failed(&path, &error))
}

/// All but what an opinion may be added to.
fn write_all(out: &Path, observation: &Observation, described: &Described) -> Result<(), String> {
    std::fs::create_dir_all(out).map_err(|error| failed(out, &error))?;
    let json = serde_json::to_vec(observation).map_err(|error| failed(out, &error))?;
    put(out, OBSERVATION, &json)?;
    let best = described.best();
    let meshes = meshes(observation, best);
    let folder = out.join("meshes");
    std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    for mesh in &meshes {
        std::fs::write(out.join(&mesh.name), &mesh.bytes).map_err(|error| failed(&folder, &error))?;
    }
    put(out, "model.urdf", to_urdf_with_meshes(&best.model, &meshes).as_bytes())?;
    put(out, "model.sdf", to_sdf(&best.model, &meshes).as_bytes())?;
    // Pieces of an earlier call, which no file names any more.
    for entry in std::fs::read_dir(&folder).map_err(|error| failed(&folder, &error))?.flatten() {
        let is_named = meshes.iter().any(|mesh| out.join(&mesh.name) == entry.path());
        if !is_named && entry.path().extension().is_some_and(|end| end == "stl") {
            std::fs::remove_file(entry.path()).map_err(|error| failed(&folder, &error))?;
        }
    }
    put(out, "scene.yaml", scene::scene(best, &observation.name, &observation.class).as_bytes())?;
    let view = looks::camera(observation, best);
    for (name, share) in [("closed.png", 0.0), ("open.png", looks::OPEN)] {
        let picture = looks::drawn(best, &looks::opened(best, share), &view);
        let picture = picture.map_err(|error| error.to_string())?;
        put(out, name, &overlay::png(&picture).map_err(|error| error.to_string())?)?;
    }
    for (name, picture) in looks::pictures(observation, best)? {
        put(out, name, &picture)?;
    }
    Ok(())
}

/// The description and the page, with what was said of it.
fn write_told(
    out: &Path,
    observation: &Observation,
    described: &Described,
    opinions: &Opinions,
) -> Result<(), String> {
    let json = serde_json::to_vec_pretty(&opinions.told(described)).map_err(|error| failed(out, &error))?;
    put(out, "description.json", &json)?;
    put(out, "index.html", page::page(observation, described, opinions).as_bytes())
}

fn tell(screen: &Screen, out: &Path, observation: &Observation, described: &Described) {
    let best = described.best();
    screen.line(format!(
        "{} ({}), {} {}: {:.1} of 10",
        observation.name,
        observation.class,
        observation.looks.len(),
        if observation.looks.len() == 1 { "look" } else { "looks" },
        best.rating.overall
    ));
    for (part, outcome) in observation.parts.iter().zip(&described.parts) {
        screen.line(format!("  {}: {}", part.name, outcome.say()));
    }
    for wish in &described.wishes {
        screen.line(match wish {
            Wish::Move { part } => format!("  move {part} and describe again: its joint will be known then"),
            Wish::Look { part } => format!("  look at {part} from elsewhere and describe again"),
        });
    }
    if let Some(reason) = described.stop.reason() {
        screen.line(format!("  stopped after {} proposals: {reason}", described.iterations.len()));
    }
    screen.line(format!("  {}, {}", out.join("model.urdf").display(), out.join("index.html").display()));
}
