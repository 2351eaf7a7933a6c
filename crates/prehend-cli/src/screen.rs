//! Where lines for people go: stdout, or stderr when stdout is reserved for one JSON object.

use std::io::{IsTerminal, Write};

/// A colour of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// As it comes.
    Plain,
    /// What is done.
    Green,
    /// What is refused or broken.
    Red,
    /// What deserves a look.
    Yellow,
    /// What moves.
    Blue,
    /// What is seen.
    Cyan,
    /// What matters least.
    Dim,
}

impl Paint {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "0",
            Self::Green => "32",
            Self::Red => "31",
            Self::Yellow => "33",
            Self::Blue => "34",
            Self::Cyan => "36",
            Self::Dim => "2",
        }
    }
}

/// Prints lines for people; coloured on a terminal unless `NO_COLOR` is set.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    to_stderr: bool,
    colored: bool,
}

impl Screen {
    /// A screen; with `json`, stdout is left alone.
    pub fn new(json: bool) -> Self {
        let terminal = if json { std::io::stderr().is_terminal() } else { std::io::stdout().is_terminal() };
        let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { to_stderr: json, colored: terminal && !forbidden }
    }

    /// Prints one line. A reader that went away (`| head`) is no error.
    pub fn line(&self, text: impl AsRef<str>) {
        let line = format!("{}\n", text.as_ref());
        let _ = if self.to_stderr {
            std::io::stderr().write_all(line.as_bytes())
        } else {
            let mut out = std::io::stdout();
            out.write_all(line.as_bytes()).and_then(|()| out.flush())
        };
    }

    /// Prints rows with their columns below each other.
    pub fn table<const N: usize>(&self, rows: &[[String; N]]) {
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; N] = std::array::from_fn(width);
        for row in rows {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            self.line(cells.join("  ").trim_end());
        }
    }

    /// `text` in a colour when the screen has colours.
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        if self.colored && paint != Paint::Plain {
            format!("\x1b[{}m{text}\x1b[0m", paint.code())
        } else {
            text.to_owned()
        }
    }
}

/// Prints one JSON value as one line on stdout.
pub fn print_json(value: &impl serde::Serialize) {
    if let Ok(text) = serde_json::to_string(value) {
        let mut out = std::io::stdout();
        let _ = writeln!(out, "{text}").and_then(|()| out.flush());
    }
}

/// One line on stderr that tells how far a long job is; on a terminal it is written over, elsewhere it comes a few times.
#[derive(Debug)]
pub struct Progress {
    what: &'static str,
    total: usize,
    is_terminal: bool,
}

impl Progress {
    /// A job of `total` of these, in the singular.
    pub fn new(what: &'static str, total: usize) -> Self {
        Self { what, total, is_terminal: std::io::stderr().is_terminal() }
    }

    /// Tells that so many are done.
    pub fn show(&self, done: usize) {
        let line = format!("{} {done} of {}", self.what, self.total);
        let is_due = done == self.total || done.is_multiple_of(self.total.div_ceil(10).max(10));
        if self.is_terminal {
            let _ = write!(std::io::stderr(), "\r{line}");
        } else if is_due {
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }

    /// Leaves the line.
    pub fn end(&self) {
        if self.is_terminal {
            let _ = writeln!(std::io::stderr());
        }
    }
}
