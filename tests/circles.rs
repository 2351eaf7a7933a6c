//! Files of a crate use each other one way: none uses one that uses it, by itself or through others.
//!
//! A module and those inside it know each other, and tests may look at anything; a name that is passed on by `use` counts for the file
//! that defines it. What macros make is not seen, and of a name that features choose only the last choice.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// A module of a crate by the names that lead to it.
type Module = Vec<String>;

#[derive(Default)]
struct File {
    children: Vec<String>,
    /// What is defined here has no path, what comes by `use` has one.
    names: HashMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    /// Everything it uses.
    paths: Vec<Vec<String>>,
}

/// Length of the comment, text or letter at the start of code.
fn unread(code: &str) -> Option<usize> {
    let until = |from: usize, end: &str| code[from..].find(end).map(|at| from + at + end.len());
    let hashes = code[1..].len() - code[1..].trim_start_matches('#').len();
    match code.as_bytes() {
        [b'/', b'/', ..] => until(2, "\n"),
        [b'/', b'*', ..] => until(2, "*/"),
        [b'"', ..] => until(1, "\""),
        [b'r', ..] if code[1 + hashes..].starts_with('"') => {
            until(2 + hashes, &format!("\"{}", "#".repeat(hashes)))
        }
        [b'\'', b'\\', ..] => until(3, "'"),
        // A lifetime has no second one.
        [b'\'', ..] => code.char_indices().nth(2).filter(|(_, end)| *end == '\'').map(|(at, _)| at + 1),
        _ => None,
    }
}

/// Names, `::` and single signs.
fn words(mut code: &str) -> Vec<&str> {
    let mut words = Vec::new();
    while let Some(first) = code.chars().next() {
        let skipped = if first.is_ascii() { unread(code) } else { None };
        let name = code.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(code.len());
        let sign = if code.starts_with("::") { 2 } else { first.len_utf8() };
        let (word, rest) = code.split_at(skipped.unwrap_or(if name > 0 { name } else { sign }));
        if skipped.is_none() && !first.is_whitespace() {
            words.push(word);
        }
        code = rest;
    }
    words
}

/// Reads the paths of `a::{b, c as d}`, each after `path` and with its name here. Gives where they end.
fn tree(
    words: &[&str],
    mut at: usize,
    mut path: Vec<String>,
    found: &mut Vec<(String, Vec<String>)>,
) -> usize {
    loop {
        match words.get(at) {
            Some(&"{") => {
                at += 1;
                while words.get(at).is_some_and(|word| *word != "}") {
                    at = tree(words, at, path.clone(), found);
                    at += usize::from(words.get(at) == Some(&","));
                }
                return at + 1;
            }
            word => path.extend(word.map(|word| (*word).to_owned())),
        }
        at += 1;
        if words.get(at) != Some(&"::") {
            break;
        }
        at += 1;
    }
    let other = if words.get(at) == Some(&"as") { words.get(at + 1).copied() } else { None };
    let own = path.iter().rfind(|part| *part != "self").cloned().unwrap_or_default();
    found.push((other.map_or(own, str::to_owned), path));
    at + if other.is_some() { 2 } else { 0 }
}

fn parsed(text: &str) -> File {
    // So that every text ends at its next quotation mark.
    let text = text.replace(r"\\", "").replace(r#"\""#, "");
    let words = words(&text);
    let (mut file, mut at) = (File::default(), 0);
    while at < words.len() {
        let mut found = Vec::new();
        match &words[at..] {
            ["#", "[", "cfg", "(", "test", ")", "]", rest @ ..] => {
                let mut depth = 0;
                let is_end = |word: &&str| {
                    depth += i32::from(*word == "{") - i32::from(*word == "}");
                    depth == 0 && [";", "}"].contains(word)
                };
                at += 8 + rest.iter().position(is_end).unwrap_or(rest.len());
            }
            ["mod", child, ";", ..] => {
                file.children.push((*child).to_owned());
                at += 3;
            }
            ["use", ..] => {
                at = tree(&words, at + 1, Vec::new(), &mut found);
                file.paths.extend(found.iter().map(|(_, path)| path.clone()));
                let (globs, names) = found.into_iter().partition(|(name, _)| name == "*");
                file.names.extend::<Vec<_>>(names);
                file.globs.extend(Vec::into_iter(globs).map(|(_, path)| path[..path.len() - 1].to_vec()));
            }
            ["struct" | "enum" | "trait" | "fn" | "type" | "const" | "static", name, ..] => {
                file.names.entry((*name).to_owned()).or_default();
                at += 1;
            }
            ["::" | ".", ..] => at += 2,
            [word, "::", ..] if word.starts_with(|c: char| c.is_alphabetic()) => {
                at = tree(&words, at, Vec::new(), &mut found);
                file.paths.extend(found.into_iter().map(|(_, path)| path));
            }
            _ => at += 1,
        }
    }
    file
}

/// The files of a crate, from its root on.
fn load(src: &Path) -> HashMap<Module, File> {
    let mut files = HashMap::new();
    let mut left = vec![(Module::new(), src.join("lib.rs"), src.to_path_buf())];
    while let Some((module, path, folder)) = left.pop() {
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file = parsed(&text);
        for child in &file.children {
            let (beside, inside) = (folder.join(format!("{child}.rs")), folder.join(child));
            let path = if beside.is_file() { beside } else { inside.join("mod.rs") };
            left.push((module.iter().chain([child]).cloned().collect(), path, inside));
        }
        files.insert(module, file);
    }
    files
}

/// The module that defines what a path means in `module`; `None` when it is none of the crate. A name is followed so often at most.
fn target(files: &HashMap<Module, File>, module: &[String], path: &[String], most: usize) -> Option<Module> {
    let mut at = module.to_vec();
    for (index, part) in path.iter().enumerate() {
        let child: Module = at.iter().chain([part]).cloned().collect();
        match part.as_str() {
            "crate" => at.clear(),
            "super" => at.truncate(at.len().saturating_sub(1)),
            "self" => {}
            _ if files.contains_key(&child) => at = child,
            _ => {
                let file = &files[&at];
                let follow = |to: &Vec<String>, rest| {
                    target(files, &at, &[&to[..], rest].concat(), most.checked_sub(1)?)
                };
                return match file.names.get(part) {
                    Some(here) if here.is_empty() => Some(at),
                    Some(there) => follow(there, &path[index + 1..]),
                    None => file.globs.iter().find_map(|glob| follow(glob, &path[index..])),
                };
            }
        }
    }
    Some(at)
}

/// The circles of files, each as their modules.
fn circles(files: &HashMap<Module, File>) -> Vec<String> {
    let uses = |(module, file): (&Module, &File)| {
        let used = file.paths.iter().filter_map(|path| target(files, module, path, 8));
        let apart = used.filter(|other| !other.starts_with(module) && !module.starts_with(other));
        (module.clone(), apart.collect::<BTreeSet<Module>>())
    };
    let mut reached: BTreeMap<Module, BTreeSet<Module>> = files.iter().map(uses).collect();
    loop {
        let further = |(module, to): (&Module, &BTreeSet<Module>)| {
            (module.clone(), to.iter().flat_map(|next| &reached[next]).chain(to).cloned().collect())
        };
        let grown = reached.iter().map(further).collect();
        if grown == reached {
            break;
        }
        reached = grown;
    }
    let circle = |module: &Module| -> Vec<String> {
        let back = reached[module].iter().filter(|other| reached[*other].contains(module));
        back.map(|module| module.join("::")).collect()
    };
    let circles: BTreeSet<Vec<String>> = reached.keys().map(circle).collect();
    circles.into_iter().filter(|circle| !circle.is_empty()).map(|circle| circle.join(", ")).collect()
}

#[test]
fn files_of_a_crate_use_each_other_one_way() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = std::fs::read_dir(crates).expect("the crates").map(|entry| entry.expect("an entry").path());
    let wrong = folders.filter(|folder| folder.join("src/lib.rs").is_file()).filter_map(|folder| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let found = circles(&load(&folder.join("src")));
        (!found.is_empty()).then(|| format!("{name} has {} circles:\n{}", found.len(), found.join("\n")))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_check_finds_two_files_that_use_each_other() {
    let (plain, passing) = ("mod a; mod b;", "mod a; mod b; pub use a::A; pub use b::*;");
    for (root, a, b, expected) in [
        (plain, "struct A; use crate::b::B;", "struct B; use crate::a::A;", 1),
        (
            plain,
            "struct A; use super::{self, b::{B as C, D}};",
            "struct B; fn f() { let c = ';'; super::a::A(c) }",
            1,
        ),
        (passing, "struct A; use crate::B;", "struct B { a: crate::A }", 1),
        (plain, "use crate::b::B;", "struct B;", 0),
        (plain, "use super::b::B;", "// crate::a::A\nfn B<'a>() -> &'a str { \"\\\" crate::a::A\" }", 0),
        (plain, "use super::b::B;", "struct B; #[cfg(test)] mod tests { use crate::a::A; }", 0),
        (passing, "use crate::*;", "struct B; use std::fmt;", 0),
    ] {
        let files = [(vec![], root), (vec!["a".to_owned()], a), (vec!["b".to_owned()], b)];
        let found = circles(&files.map(|(module, text)| (module, parsed(text))).into());
        assert_eq!(found.len(), expected, "{root} {a} {b}");
    }
}
