//! `prehend eval memory --scale N`: how a store bears so many things.

use crate::args::EvalMemoryArgs;
use crate::screen::{Progress, Screen, print_json};
use prehend_eval::memory::{Scale, Scaled, Times, Vectors, scale};
use prehend_memory::WordEncoder;
use serde_json::json;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Steps of each kind of work that are shown: percents.
const STEPS: usize = 100;

pub(super) fn measure(args: &EvalMemoryArgs, things: usize) -> Result<(), String> {
    let screen = Screen::new(args.json);
    let setting = Scale { things, questions: args.questions, writes: args.writes, seed: args.seed };
    let vectors =
        Vectors::new(&setting, &WordEncoder::new(super::names()?)).map_err(|error| error.to_string())?;
    if let Some(folder) = &args.vectors {
        let written = vectors.write(things, folder);
        written.map_err(|error| format!("cannot write to {}: {error}", folder.display()))?;
        screen.line(format!("vectors in {}: python3 tests/peers/memory_index.py {0}", folder.display()));
    }
    let own = OwnFile::new();
    let address = args.store.clone().unwrap_or_else(|| own.path.display().to_string());
    let mut shown: HashMap<&'static str, (Progress, usize)> = HashMap::new();
    let mut told = |what: &'static str, done: usize, of: usize| {
        let (progress, last) = shown.entry(what).or_insert_with(|| (Progress::new(what, STEPS), 0));
        let step = done * STEPS / of.max(1);
        if step > *last {
            *last = step;
            progress.show(step);
        }
    };
    let figures = scale(&address, &setting, &vectors, &mut told).map_err(|error| error.to_string())?;
    shown.values().for_each(|(progress, _)| progress.end());
    tell(&screen, &figures, args, &address);
    if args.json {
        let size = size(&address).map(|[store, index]| json!({ "store_mib": store, "index_mib": index }));
        print_json(&json!({ "seed": args.seed, "store": address, "scale": figures, "files": size }));
    }
    Ok(())
}

fn tell(screen: &Screen, figures: &Scaled, args: &EvalMemoryArgs, address: &str) {
    let times = |times: &Times| match times.n {
        0 => "none came to its end".to_owned(),
        n => format!("{:.2} ms (median), {:.2} ms (p99), n = {n}", times.p50, times.p99),
    };
    let rows = [
        (
            "things",
            format!(
                "{} of {} numbers ({} different), seed {}",
                figures.n, figures.dimensions, figures.vectors, args.seed
            ),
        ),
        ("written", format!("{:.0} a second", figures.written_per_s)),
        ("index", format!("{:.1} s", figures.index_s)),
        (
            "start and first question",
            format!("{:.0} ms, {:.0} MiB of memory", figures.start_ms, figures.memory_mib),
        ),
        ("question about all", times(&figures.all)),
        ("question about one building", times(&figures.one)),
        ("recall at 10", format!("{:.3}", figures.recall_at_10)),
        ("question beside a writer", times(&figures.beside)),
        ("written beside it", format!("{:.0} a second, {} lost", figures.beside_written_per_s, figures.lost)),
    ];
    let mut rows: Vec<[String; 2]> = rows.into_iter().map(|(name, value)| [name.to_owned(), value]).collect();
    if let Some([store, index]) = size(address) {
        rows.push(["on the disk".to_owned(), format!("{store:.0} MiB, index {index:.0} MiB")]);
    }
    screen.table(&rows);
}

/// MiB of a store's file and of its index; `None` of a server.
fn size(address: &str) -> Option<[f64; 2]> {
    let of = |path: &str| std::fs::metadata(path).ok().map(|file| file.len() as f64 / f64::from(1 << 20));
    Some([of(address)?, of(&format!("{address}.index")).unwrap_or(0.0)])
}

/// A store that goes with the run.
struct OwnFile {
    path: PathBuf,
}

impl OwnFile {
    fn new() -> Self {
        Self { path: std::env::temp_dir().join(format!("prehend_scale_{}.db", std::process::id())) }
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm", ".index"] {
            let mut name = self.path.clone().into_os_string();
            name.push(end);
            // What was never made cannot be removed.
            let _ = std::fs::remove_file(Path::new(&name));
        }
    }
}
