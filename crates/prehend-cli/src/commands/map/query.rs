//! `prehend map query`: the robot's own retrieval on a map in a folder.

use super::{Failure, text};
use crate::args::map::QueryArgs;
use crate::outcome::exit;
use crate::screen::{Screen, print_json};
use prehend_config::share;
use prehend_perception::retrieve::{retrieve, retrieve_by_likeness};
use prehend_perception::traits::WORDS;
use prehend_perception::{Lexicon, Retrieval};
use prehend_recording::SavedMap;
use prehend_scene::{ObjectKey, ObjectMap};
use serde_json::json;
use std::path::Path;

/// The words of the robot's object map.
const SYNONYMS: &str = "config/language/synonyms.yaml";

/// Answers; the exit code is 1 when nothing fits.
pub(super) fn run(args: &QueryArgs) -> u8 {
    match ask(args) {
        Ok(found) if found.matches.is_empty() => exit::FAILED,
        Ok(_) => exit::DONE,
        Err(Failure { message, code }) => {
            eprintln!("{message}");
            code
        }
    }
}

fn ask(args: &QueryArgs) -> Result<Retrieval, Failure> {
    let screen = Screen::new(args.json);
    let saved = SavedMap::load(&args.map).map_err(Failure::input)?;
    let lexicon = Lexicon::load(&share::resolve(Path::new(SYNONYMS))).map_err(Failure::input)?;
    let map = saved.all();
    let likeness = text::likeness(&saved.embedder, &map, args);
    let found = match &likeness {
        Ok(Some(likeness)) => retrieve_by_likeness(&map, likeness, args.k),
        _ => retrieve(&map, &args.text, args.k, &lexicon),
    };
    if let Err(error) = &likeness {
        let made = &saved.embedder;
        screen.line(format!(
            "words and colours are compared, as `{made}`, which made the features, cannot read: {error}"
        ));
    }
    let by_features = matches!(likeness, Ok(Some(_)));
    let unnamed = map.objects.iter().filter(|object| object.class_name.is_empty()).count();
    if unnamed == map.objects.len() && !by_features {
        screen.line(format!(
            "none of the {unnamed} objects has a name, since no detector saw the frames: only colours and sizes are compared"
        ));
    }
    if found.matches.is_empty() {
        screen.line("nothing fits");
    }
    for (place, fit) in found.matches.iter().enumerate() {
        let about = describe(&saved, &map, &fit.key);
        screen.line(format!("{}. {} ({:.2}): {about}", place + 1, fit.key, fit.similarity));
    }
    for rejected in &found.rejected {
        let about = describe(&saved, &map, &rejected.key);
        screen
            .line(format!("not {} ({:.2}): {}; {about}", rejected.key, rejected.similarity, rejected.reason));
    }
    if args.json {
        let matches: Vec<_> =
            found.matches.iter().map(|fit| json!({ "key": fit.key, "similarity": fit.similarity })).collect();
        let rejected: Vec<_> = found
            .rejected
            .iter()
            .map(|r| json!({ "key": r.key, "similarity": r.similarity, "reason": r.reason }))
            .collect();
        print_json(&json!({
            "query": args.text,
            "compared": if by_features { &saved.embedder } else { WORDS },
            "matches": matches,
            "rejected": rejected,
            "doubtful": found.doubtful,
            "unnamed": unnamed,
            "objects": map.objects.len(),
        }));
    }
    Ok(found)
}

/// Name, colours, size and scene of an object.
fn describe(saved: &SavedMap, map: &ObjectMap, key: &ObjectKey) -> String {
    let Some(object) = map.get(key) else { return String::new() };
    let name = if object.class_name.is_empty() { "no name" } else { &object.class_name };
    let colors: Vec<String> = object
        .color_fractions
        .iter()
        .take(3)
        .map(|(word, share)| format!("{word} {:.0} %", share * 100.0))
        .collect();
    let size = object.bounds.size.map(|metres| metres * 1e3);
    let scene =
        saved.scenes.iter().find(|scene| scene.map.get(key).is_some()).map_or("", |scene| &scene.name);
    format!("{name}, {}, {:.0} x {:.0} x {:.0} mm, in {scene}", colors.join(", "), size.x, size.y, size.z)
}
