//! `prehend completions` and `prehend man`: what shells and `man` know of the command line, from its own definition.

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::outcome::exit;
use crate::run_folder::WriteError;
use crate::screen::{Screen, print_json};
use clap::builder::Resettable;
use clap::{Command, CommandFactory};
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// Prints the completions of a shell; gives the exit code.
pub(super) fn completions(args: &CompletionsArgs) -> u8 {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "prehend", &mut text);
    match std::io::stdout().write_all(&text) {
        Ok(()) => exit::DONE,
        Err(error) => {
            eprintln!("cannot print the completions: {error}");
            exit::FAILED
        }
    }
}

/// Writes the manual pages; gives the exit code.
pub(super) fn man(args: &ManArgs) -> u8 {
    match write(&args.out) {
        Ok(count) if args.json => {
            print_json(&json!({ "pages": count, "folder": args.out }));
            exit::DONE
        }
        Ok(count) => {
            Screen::new(false).line(format!("{count} pages in {}", args.out.display()));
            exit::DONE
        }
        Err(error) => {
            eprintln!("{error}");
            exit::BAD_INPUT
        }
    }
}

/// How many pages were written.
fn write(out: &Path) -> Result<usize, WriteError> {
    std::fs::create_dir_all(out).map_err(|error| WriteError { path: out.to_owned(), error })?;
    let mut command = Cli::command();
    command.build();
    pages(&command, "prehend", out)
}

/// The page of a command and those of the commands below it, named as `git` names its own: `prehend-eval-tabletop.1`.
fn pages(command: &Command, name: &str, out: &Path) -> Result<usize, WriteError> {
    let mut text = Vec::new();
    let path = out.join(format!("{name}.1"));
    let failed = |error| WriteError { path: path.clone(), error };
    let page = command.clone().display_name(name).after_help(Resettable::Reset);
    clap_mangen::Man::new(page).render(&mut text).map_err(failed)?;
    if let Some(notes) = command.get_after_help() {
        text.extend_from_slice(as_it_stands(&notes.to_string()).as_bytes());
    }
    std::fs::write(&path, text).map_err(failed)?;
    let mut count = 1;
    let below = command.get_subcommands().filter(|one| !one.is_hide_set() && one.get_name() != "help");
    for one in below {
        count += pages(one, &format!("{name}-{}", one.get_name()), out)?;
    }
    Ok(count)
}

/// A section whose lines stay lines: examples and tables would be filled into paragraphs.
fn as_it_stands(notes: &str) -> String {
    let lines = notes.lines().map(|line| {
        let escaped = line.replace('\\', "\\e").replace('-', "\\-");
        // A point or an apostrophe at its beginning would be a request to roff.
        if escaped.starts_with(['.', '\'']) { format!("\\&{escaped}") } else { escaped }
    });
    format!(".SH NOTES\n.nf\n{}\n.fi\n", lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::as_it_stands;

    #[test]
    fn lines_stay_lines_and_are_no_requests() {
        let section = as_it_stands("Examples:\n  a --b \\\n.so /etc/passwd\n'x");
        let expected = ".SH NOTES\n.nf\nExamples:\n  a \\-\\-b \\e\n\\&.so /etc/passwd\n\\&'x\n.fi\n";
        assert_eq!(section, expected);
    }
}
