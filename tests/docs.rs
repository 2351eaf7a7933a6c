//! The pages tell of what is there: each path that they name exists, and each link leads somewhere.
//!
//! A path of the repository is a word of code (in backticks, or of a fenced block) whose first part is a folder or file at the root
//! of the repository that git keeps, or a crate (`prehend-scene/src/map.rs` is below `crates/`). `{a,b}` is each of both, and what
//! follows a `*` is not looked at. So names of ROS, of other repositories, of outputs (`runs/`, `map/`) and of settings are none.
//! A Rust file needs its whole path, since `part.rs` alone could be anywhere.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What git keeps at the root, apart from the build.
const ROOTS: [&str; 8] = [".ci", "config", "crates", "docker", "docs", "launch", "tests", "urdf"];
/// Folders whose pages are read.
const PAGES: [&str; 4] = ["", "docs", "docker", "config/scenes"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The lines of a page: whether each is code, and the line.
fn lines(text: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut code = false;
    text.lines().map(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        (code || fence, line)
    })
}

/// Every word of code in a page.
fn words(text: &str) -> Vec<&str> {
    let code = lines(text).flat_map(|(is_code, line)| {
        let step = if is_code { 1 } else { 2 };
        line.split('`').skip(step - 1).step_by(step)
    });
    code.flat_map(str::split_whitespace)
        .map(|word| word.trim_matches([',', ';', ':', '(', ')', '"', '\'']))
        .collect()
}

/// `a/{b,c}/d` as `a/b/d` and `a/c/d`.
fn expanded(word: &str) -> Vec<String> {
    let Some((head, rest)) = word.split_once('{') else { return vec![word.to_owned()] };
    let Some((choices, tail)) = rest.split_once('}') else { return vec![word.to_owned()] };
    choices.split(',').flat_map(|choice| expanded(&format!("{head}{choice}{tail}"))).collect()
}

/// The file or folder that a word names, when it names one of the repository.
fn named(word: &str) -> Option<PathBuf> {
    let (first, _) = word.split_once('/')?;
    let is_crate = first != ".." && root().join("crates").join(first).join("Cargo.toml").is_file();
    let whole = if is_crate {
        Path::new("crates").join(word)
    } else if ROOTS.contains(&first) {
        PathBuf::from(word)
    } else {
        return None;
    };
    Some(whole.components().take_while(|part| !part.as_os_str().to_string_lossy().contains('*')).collect())
}

/// Where a heading is jumped to, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(text: &str) -> HashSet<String> {
    let headings = lines(text).filter(|(is_code, line)| !is_code && line.starts_with('#'));
    headings.map(|(_, line)| anchor(line.trim_start_matches('#').trim())).collect()
}

/// The targets of all links and pictures outside of code.
fn links(text: &str) -> Vec<&str> {
    let prose = lines(text).filter(|(is_code, _)| !is_code).flat_map(|(_, line)| line.split('`').step_by(2));
    prose.flat_map(|part| part.split("](").skip(1)).filter_map(|rest| rest.split(')').next()).collect()
}

/// Everything in the page at `path` that leads nowhere.
fn findings(path: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in words(text).into_iter().flat_map(expanded) {
        match named(&word) {
            Some(named) if !root().join(&named).exists() => found.push(format!("no such path: {word}")),
            None if word.ends_with(".rs") && !word.contains("://") => {
                found.push(format!("a Rust file without its whole path: {word}"))
            }
            _ => {}
        }
    }
    for link in links(text).into_iter().filter(|link| !link.contains("://")) {
        let (file, part) = link.split_once('#').unwrap_or((link, ""));
        let target = if file.is_empty() { path.to_owned() } else { path.with_file_name("").join(file) };
        if !target.exists() {
            found.push(format!("a link to nothing: {link}"));
        } else if !part.is_empty() {
            let page = if file.is_empty() { text.to_owned() } else { read(&target) };
            if !anchors(&page).contains(part) {
                found.push(format!("a link to no heading: {link}"));
            }
        }
    }
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn what_the_pages_name_is_there() {
    let folders = PAGES.iter().map(|folder| root().join(folder));
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).expect("a folder of pages"));
    let pages: Vec<PathBuf> = files
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    assert!(pages.len() > 10, "{pages:?}");
    let found = pages.iter().flat_map(|page| {
        findings(page, &read(page)).into_iter().map(move |finding| format!("{}: {finding}", page.display()))
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_readme_is_short_enough_to_be_read_to_its_end() {
    let count = read(&root().join("README.md")).lines().count();
    assert!(count <= 220, "{count} lines: move what is not for newcomers to docs/");
}

#[test]
fn the_check_finds_what_leads_nowhere() {
    let page = root().join("README.md");
    let check = |text: &str| findings(&page, text);
    for good in [
        "`prehend-scene/src/map.rs` and `prehend-scene/src/{map,plan}.rs`, `config/robots/*.yaml`, `tests/`",
        "`/prehend/goal`, `runs/RUN/recording`, `../shared/data`, `https://rustup.rs`, config/nothing.yaml",
        "[a](docs/maps.md#recordings) [b](#two-commands) [c](https://example.org/nothing.md)\n## Two commands",
        "```\nprehend demo --scene config/scenes/drawers.yaml   # a [link](nowhere)\n```",
    ] {
        assert_eq!(check(good), Vec::<String>::new(), "{good}");
    }
    for bad in [
        "`prehend-scene/src/nothing.rs`",
        "`prehend-scene/src/{map,nothing}.rs`",
        "`config/nothing/*.yaml`",
        "`map.rs`",
        "```\nprehend demo --scene config/scenes/nothing.yaml\n```",
        "[a](docs/nothing.md)",
        "[a](docs/maps.md#nothing)",
        "[a](#nothing)",
    ] {
        assert_eq!(check(bad).len(), 1, "{bad}");
    }
}
