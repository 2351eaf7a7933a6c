//! `prehend words`: what unknown words are taken for.

use crate::args::{WordsArgs, WordsCommand};
use crate::outcome::exit;
use crate::screen::{Screen, print_json};
use prehend_agent::language::Lexicon;
use prehend_agent::words::{Book, Lesson, Origin};
use prehend_config::share;
use prehend_nodes::agent::WordDesk;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) async fn run(args: WordsArgs) -> u8 {
    let screen = Screen::new(args.json);
    let desk = match WordDesk::open(&share::resolve(&args.agent)) {
        Ok(desk) => desk,
        Err(wrong) => {
            eprintln!("{wrong}");
            return exit::BAD_INPUT;
        }
    };
    if let WordsCommand::Ask { word, seen } = &args.command {
        return ask(&desk, word, seen, &args, screen).await;
    }
    let Some(book) = args.file.as_ref().map(Book::new).or_else(|| desk.book().cloned()) else {
        eprintln!(
            "words do not last: `words.remember` in {} is false, or there is no home folder",
            args.agent.display()
        );
        return exit::BAD_INPUT;
    };
    let done = match &args.command {
        WordsCommand::List => list(&book, &args, screen),
        WordsCommand::Teach { word, means } => {
            let lesson = desk.taught(word, means);
            match lesson {
                Ok(lesson) => book.keep(&lesson).map(|()| {
                    screen.line(format!("\"{}\" is taken for \"{}\" from now on", lesson.word, lesson.means));
                    if args.json {
                        print_json(&json!(lesson));
                    }
                    exit::DONE
                }),
                Err(why) => {
                    eprintln!("{why}");
                    return exit::FAILED;
                }
            }
        }
        WordsCommand::Forget { word } => {
            let word = desk.singular(word);
            book.forget(&word).map(|was_there| {
                let told = if was_there {
                    "is forgotten"
                } else {
                    "was not known; `prehend words list` shows what is"
                };
                screen.line(format!("\"{word}\" {told}"));
                if args.json {
                    print_json(&json!({ "word": word, "forgotten": was_there }));
                }
                if was_there { exit::DONE } else { exit::FAILED }
            })
        }
        WordsCommand::Ask { .. } => Ok(exit::DONE),
    };
    done.unwrap_or_else(|error| {
        eprintln!("{error}");
        exit::BAD_INPUT
    })
}

/// A sentence in the words that everybody knows: what this user taught, by the settings of the agent in `agent`, is put in.
pub(super) fn in_known_words(sentence: &str, agent: &Path) -> String {
    let lessons = WordDesk::open(agent).ok().and_then(|desk| desk.book()?.all().ok()).unwrap_or_default();
    prehend_agent::words::in_known_words(sentence, &lessons, &Lexicon::built_in())
}

fn list(book: &Book, args: &WordsArgs, screen: Screen) -> Result<u8, prehend_agent::words::BookError> {
    let lessons = book.all()?;
    if args.json {
        print_json(&json!(lessons));
        return Ok(exit::DONE);
    }
    if lessons.is_empty() {
        screen.line(format!("no words yet in {}", book.path().display()));
    }
    for lesson in &lessons {
        screen.line(line(lesson));
    }
    Ok(exit::DONE)
}

fn line(lesson: &Lesson) -> String {
    let from = match lesson.origin {
        Origin::Taught => "taught by a person".to_owned(),
        Origin::Learned => format!("learned from {}", lesson.witnesses.join(" and ")),
    };
    let days = UNIX_EPOCH
        .checked_add(Duration::from_secs(lesson.since))
        .and_then(|since| SystemTime::now().duration_since(since).ok())
        .map_or(0, |age| age.as_secs() / 86_400);
    let age = match days {
        0 => "today".to_owned(),
        1 => "1 day ago".to_owned(),
        days => format!("{days} days ago"),
    };
    format!(
        "{:<24} {:<24} {from}, {age}; confirmed by {} goal(s)",
        lesson.word, lesson.means, lesson.confirmed
    )
}

async fn ask(desk: &WordDesk, word: &str, seen: &[String], args: &WordsArgs, screen: Screen) -> u8 {
    let asked = desk.ask(word, seen).await;
    for fault in &asked.faults {
        eprintln!("{fault}");
    }
    for heard in &asked.heard {
        screen.line(format!(
            "{:<24} takes it for \"{}\" (weight {})",
            heard.witness, heard.label, heard.weight
        ));
    }
    match (&asked.means, asked.heard.is_empty()) {
        (Some(means), _) => screen.line(format!("\"{}\" would be taken for \"{means}\"", asked.word)),
        (None, true) => screen.line(format!(
            "nobody says anything of \"{}\"; `words.search` and `model` in {} say who is asked",
            asked.word,
            args.agent.display()
        )),
        (None, false) => screen.line(format!("\"{}\": {}", asked.word, asked.why)),
    }
    if args.json {
        let heard: Vec<_> = asked
            .heard
            .iter()
            .map(|heard| json!({ "witness": heard.witness, "weight": heard.weight, "label": heard.label }))
            .collect();
        print_json(
            &json!({ "word": asked.word, "means": asked.means, "heard": heard, "faults": asked.faults }),
        );
    }
    if asked.means.is_some() { exit::DONE } else { exit::FAILED }
}
