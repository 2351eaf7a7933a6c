//! `prehend describe`: a thing with moving parts as URDF, from all looks at it so far.

mod doubt;
mod looks;
mod opinion;
mod world;

use super::ask;
use crate::args::DescribeArgs;
use crate::outcome::exit;
use crate::screen::{Screen, print_json};
use doubt::Opinions;
use opinion::Second;
use prehend_articulation::critic::JointFailure;
use prehend_articulation::{
    Described, Observation, Thresholds, Wish, describe, gather, meshes, to_sdf, to_urdf_with_meshes,
};
use prehend_eval::html::escape;
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_nodes::convert;
use prehend_sim::sensors::overlay;
use std::fmt::Write;
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
    let observation = match &args.object {
        Some(object) => seen(args, object, earlier).await?,
        None => earlier.ok_or_else(|| {
            input(format!(
                "{} holds no {OBSERVATION}: describe the thing once without --again",
                args.out.display()
            ))
        })?,
    };
    let thresholds = if args.adaptive { Thresholds::adaptive() } else { Thresholds::default() };
    let described = describe(&observation, thresholds).map_err(|error| input(error.to_string()))?;
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

/// What a graph has seen of a thing: by its describer, which knows the ways of the hand, too; else what its map shows now, after the
/// looks of earlier calls.
async fn seen(
    args: &DescribeArgs,
    object: &str,
    earlier: Option<Observation>,
) -> Result<Observation, (String, u8)> {
    let failed = |message: String| (message, exit::FAILED);
    let (observer, map) = ask::newest_map(&args.show).await?;
    if let Some(answer) = observer.describe(object, args.adaptive).await.map_err(failed)? {
        if answer.error_code != ErrorCode::SUCCESS {
            return Err((answer.error_message, exit::BAD_INPUT));
        }
        return serde_json::from_str(&answer.observation)
            .map_err(|error| failed(format!("the describer's answer: {error}")));
    }
    let map = convert::map_from_msg(&map).map_err(|error| failed(error.to_string()))?;
    let input = |error: gather::GatherError| (error.to_string(), exit::BAD_INPUT);
    let now = gather::observe(gather::thing(object, &map).map_err(input)?, &map);
    let Some(mut all) = earlier else { return Ok(now) };
    match gather::join(&mut all, now) {
        Ok(_) => Ok(all),
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
    put(out, "scene.yaml", world::scene(best, &observation.name, &observation.class).as_bytes())?;
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
    put(out, "index.html", page(observation, described, opinions).as_bytes())
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

/// What the critics say, for people.
fn page(observation: &Observation, described: &Described, opinions: &Opinions) -> String {
    let best = described.best();
    let mut html = String::new();
    // Writing to a string does not fail.
    let _ = write!(
        html,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{name}</title><style>body{{font:16px/1.4 sans-serif;max-width:60em;margin:1em auto;padding:0 1em}}\
         img{{max-width:49%}}td,th{{text-align:left;vertical-align:top;padding:.2em .8em .2em 0}}\
         .bad{{color:#a00}}</style><h1>{name}</h1><p>A {class} with {parts} parts, from {looks} looks. Rated {rating:.1} of 10. {reason}</p>\
         <p><img src=\"closed.png\" alt=\"closed\"> <img src=\"open.png\" alt=\"open\"></p>",
        name = escape(&observation.name),
        class = escape(&observation.class),
        parts = observation.parts.len(),
        looks = observation.looks.len(),
        rating = best.rating.overall,
        reason = described.stop.reason().map(|reason| escape(&reason)).unwrap_or_default(),
    );
    html.push_str(&looks::section(observation, best));
    html.push_str("<h2>Parts</h2><table>");
    for (part, outcome) in observation.parts.iter().zip(&described.parts) {
        let class = if outcome.is_usable() { "" } else { " class=\"bad\"" };
        let _ = write!(html, "<tr{class}><td>{}<td>{}", escape(&part.name), escape(&outcome.say()));
    }
    html.push_str("</table><h2>Joint critic</h2><table><tr><th>joint<th>rating<th>finding<th>seen<th>model<th>suggestion");
    for verdict in &best.verdicts.joints {
        let bad = if verdict.failure_reason == JointFailure::Success { "" } else { " class=\"bad\"" };
        let cells = [
            &verdict.joint,
            &format!("{:.1}", verdict.realism_rating),
            &verdict.failure_reason.name().to_owned(),
            &verdict.gt_description,
            &format!("{}. {}", verdict.candidate_function_description, verdict.pred_description),
            &verdict.improvement_suggestion,
        ];
        let cells: String = cells.iter().map(|cell| format!("<td>{}", escape(cell))).collect();
        let _ = write!(html, "<tr{bad}>{cells}");
    }
    html.push_str("</table><h2>Link critic</h2><table><tr><th>link<th>rating<th>finding<th>why");
    for verdict in &best.verdicts.links {
        let rating = format!("{:.1}", verdict.realism_rating);
        let cells = [verdict.link.as_str(), &rating, verdict.failure.name(), &verdict.description];
        let cells: String = cells.iter().map(|cell| format!("<td>{}", escape(cell))).collect();
        let _ = write!(html, "<tr>{cells}");
    }
    let urdf = &best.verdicts.urdf;
    let _ = write!(
        html,
        "</table><h2>URDF critic</h2><p>Links {:.1}, joints {:.1} of 10. {}</p><ul>",
        urdf.link_position_score,
        urdf.joint_score,
        escape(&urdf.link_position_reasoning)
    );
    for detail in &urdf.joint_evaluation_details {
        let _ = write!(
            html,
            "<li>{}: type {:.1}, position {:.1}. {}",
            escape(&detail.joint_name),
            detail.type_score,
            detail.position_score,
            escape(&detail.reasoning)
        );
    }
    html.push_str("</ul>");
    html.push_str(&opinion::section(described, opinions));
    let _ = write!(html, "<p>The model: <a href=\"model.urdf\">model.urdf</a></p></html>");
    html
}
