//! A picture of each step of a story.

use super::drawn::{hidden, undrawn};
use super::recorded::{Recorded, Step};
use crate::args::ViewArgs;
use crate::outcome::exit;
use crate::screen::{Progress, Screen};
use prehend_nodes::pictures;
use prehend_viewer::draw::OffScreen;
use prehend_viewer::{PanelLine, Stage, Tone, Viewpoint};
use std::path::{Path, PathBuf};

/// Most letters of what happened in the name of a file.
const LETTERS: usize = 48;

/// Whether pictures go into it and not onto it: a folder, or a name that is written as one.
pub(super) fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.to_string_lossy().ends_with('/')
}

/// Writes them into `folder`, all from the same place: from where everything is seen that is ever shown.
pub(super) async fn write(
    mut recorded: Recorded,
    args: &ViewArgs,
    folder: &Path,
) -> Result<(), (String, u8)> {
    let failed = |error: &dyn std::fmt::Display| (error.to_string(), exit::FAILED);
    let steps = recorded.steps();
    if steps.is_empty() {
        return Err(("nothing happens in it: there is no step to draw".to_owned(), exit::FAILED));
    }
    let mut off_screen = OffScreen::new(args.width, args.height).await.map_err(undrawn)?;
    std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    let view = view_of_all(&mut recorded, &steps, args);
    let progress = Progress::new("picture", steps.len());
    for (number, step) in steps.iter().enumerate() {
        let mut stage = recorded.stage_at(step.at);
        stage.hidden = hidden(args);
        stage.selected = args.select.as_deref().map(Into::into);
        let (at, of) = (step.at, recorded.seconds());
        let words = format!("step {} of {}, {at:.1} of {of:.1} s", number + 1, steps.len());
        stage.panel.insert(0, PanelLine::new(Tone::Title, words));
        off_screen.show(stage);
        let picture = off_screen.picture(&view).await;
        pictures::save(&picture, &folder.join(file(number + 1, &step.name)))
            .map_err(|error| failed(&error))?;
        progress.show(number + 1);
    }
    progress.end();
    Screen::new(false).line(format!("{} pictures: {}", steps.len(), folder.display()));
    Ok(())
}

/// From where all is seen that the first, the last and each tenth step show.
fn view_of_all(recorded: &mut Recorded, steps: &[Step], args: &ViewArgs) -> Viewpoint {
    let mut all = Stage::default();
    let each = steps.len().div_ceil(10).max(1);
    for (number, step) in steps.iter().enumerate() {
        if number % each == 0 || number + 1 == steps.len() {
            let stage = recorded.stage_at(step.at);
            all.robot.extend(stage.robot);
            all.stands.extend(stage.stands);
            all.things = if stage.things.is_empty() { all.things } else { stage.things };
            all.floor = stage.floor.or(all.floor);
        }
    }
    Viewpoint::framing(&all, args.width, args.height)
}

/// The name of a step's picture: its number and what happened, without anything that is no part of a name.
fn file(number: usize, name: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let name: String = name.chars().take(LETTERS).map(plain).collect();
    format!("{number:04}_{name}.png").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_numbered_and_no_name_leads_elsewhere() {
        for (number, name, expected) in [
            (1, "goal started", "0001_goal_started.png"),
            (12, "motion grasp/plan planned", "0012_motion_grasp_plan_planned.png"),
            (7, "../../etc/passwd", "0007_______etc_passwd.png"),
            (10_000, "", "10000_.png"),
        ] {
            assert_eq!(file(number, name), PathBuf::from(expected), "{name}");
        }
        assert_eq!(file(1, &"x".repeat(500)).to_string_lossy().len(), 5 + LETTERS + 4);
    }

    #[test]
    fn a_folder_is_one_that_is_there_or_is_written_as_one() {
        let there = tempfile::tempdir().expect("a folder");
        for (path, expected) in
            [(there.path(), true), (Path::new("no/such/"), true), (Path::new("no/such.png"), false)]
        {
            assert_eq!(is_folder(path), expected, "{}", path.display());
        }
    }
}
