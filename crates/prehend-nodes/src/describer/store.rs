//! Descriptions in a folder, one file each.

use prehend_articulation::Known;
use prehend_config::{JsonFile, JsonFileError};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A thing with the file it is kept in.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) thing: Known,
    pub(super) file: PathBuf,
}

/// What is in the folder, and why not all of it; nothing when there is none.
pub(super) fn read(folder: Option<&Path>) -> (Vec<Kept>, Vec<String>) {
    let (mut kept, mut unread) = (Vec::new(), Vec::new());
    let Some(folder) = folder else { return (kept, unread) };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return (kept, unread),
        Err(error) => {
            unread.push(format!("{}: {error}", folder.display()));
            return (kept, unread);
        }
    };
    let files: BTreeSet<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    for file in files.into_iter().filter(|file| file.extension().is_some_and(|end| end == "json")) {
        let json: JsonFile<Known> = JsonFile::new(&file, "a described thing");
        match json.read() {
            Ok(Some(thing)) => match thing.check() {
                Ok(()) => kept.push(Kept { thing, file }),
                Err(error) => unread.push(json.broken(error).to_string()),
            },
            Ok(None) => {}
            Err(error) => unread.push(error.to_string()),
        }
    }
    (kept, unread)
}

/// A file for a new thing of this name that none of those has and that is not there.
pub(super) fn file_for(name: &str, folder: &Path, taken: &[Option<PathBuf>]) -> PathBuf {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let number = (1..u32::MAX).find(|number| {
        let file = folder.join(format!("{plain}-{number}.json"));
        !file.exists() && !taken.iter().flatten().any(|other| *other == file)
    });
    folder.join(format!("{plain}-{}.json", number.unwrap_or_default()))
}

/// Writes one, whole or not at all.
pub(super) fn write(thing: &Known, file: &Path) -> Result<(), JsonFileError> {
    JsonFile::<Known>::new(file, "a described thing").dense().change(|_| Ok(thing.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Point3;
    use prehend_articulation::{Look, Observation};

    fn thing(name: &str) -> Known {
        let body = (0..60).map(|i| Point3::new(0.01 * f64::from(i % 10), 0.01 * f64::from(i / 10), 0.3));
        let observation = Observation {
            name: name.to_owned(),
            class: "cabinet".to_owned(),
            parts: Vec::new(),
            looks: vec![Look { body: body.collect(), parts: Vec::new() }],
            tracks: Vec::new(),
            eye: Point3::origin(),
        };
        Known::remembered(observation, None)
    }

    #[test]
    fn things_of_one_name_have_files_of_their_own_and_what_is_none_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("deep");
        assert!(read(Some(&folder)).0.is_empty(), "it is not there yet");
        let mut files = Vec::new();
        for _ in 0..2 {
            let file = file_for("../cabinet 0", &folder, &files);
            assert_eq!(file.parent(), Some(folder.as_path()), "{}", file.display());
            write(&thing("cabinet_0"), &file).expect("written");
            files.push(Some(file));
        }
        assert_ne!(files[0], files[1]);
        let mut unsound = thing("cabinet_1");
        unsound.observation.looks.clear();
        write(&unsound, &folder.join("unsound.json")).expect("written");
        std::fs::write(folder.join("broken.json"), "[7").expect("written");
        std::fs::write(folder.join("notes.txt"), "mine").expect("written");
        let (kept, unread) = read(Some(&folder));
        assert_eq!(kept.iter().map(|kept| &kept.thing).collect::<Vec<_>>(), [&thing("cabinet_0"); 2]);
        assert_eq!(unread.len(), 2, "{unread:?}");
        assert!(unread.iter().all(|reason| reason.contains("broken") || reason.contains("unsound")));
        assert_eq!(std::fs::read_to_string(folder.join("broken.json")).expect("there"), "[7");
    }
}
