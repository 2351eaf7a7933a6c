//! Words over the picture: names of things, the panel, and what is known of the thing that was clicked.

use super::ink;
use crate::{Label, Layer, PanelLine, Rgb, Stage, Tone, Viewpoint, spread};
use kiss3d::camera::FixedView2d;
use kiss3d::glamx::Vec2;
use kiss3d::scene::SceneNode2d;
use kiss3d::text::Font;
use kiss3d::window::Window;
use nalgebra::{Point3, Vector3};

/// Height of a line of the panel, and of a name in the picture, pixels.
const LINE: f32 = 19.0;
const NAME: f32 = 17.0;
/// About the width of a letter of a name, pixels.
const LETTER: f64 = 8.2;
/// Letters of a line of the panel; longer lines go on below.
const LETTERS: usize = 44;
/// Width of the panel, and its distance from the border, pixels.
const WIDTH: f32 = 350.0;
const BORDER: f32 = 12.0;
/// Colour of names, and of what is behind words.
const WORDS: Rgb = [236, 238, 242];
const BEHIND: Rgb = [8, 9, 11];
/// Colour of the line from a name to its thing.
const LEADER: Rgb = [150, 154, 164];

fn color(tone: Tone) -> Rgb {
    match tone {
        Tone::Title => [120, 176, 255],
        Tone::Plain => WORDS,
        Tone::Good => [106, 224, 140],
        Tone::Bad => [255, 112, 100],
    }
}

/// Writes the names of things, parts, areas and of what is held where they are, so that none covers another.
pub(super) fn write_names(stage: &Stage, view: &Viewpoint, window: &mut Window) {
    let mut labels = Vec::new();
    let mut write = |text: String, place: &Point3<f64>| {
        let Some(at) = view.pixel(place) else { return };
        let size = [LETTER * text.chars().count() as f64, f64::from(NAME)];
        labels.push(Label { text, at, depth: (place - view.eye).norm(), size });
    };
    for thing in stage.things.iter() {
        let middle = thing.bounds.pose.translation.vector;
        let top = Point3::new(middle.x, middle.y, thing.bounds.top());
        // Of a thing that nobody named there is nothing to be sure of.
        let sure = if thing.sure > 0.0 { format!(" {:.2}", thing.sure) } else { String::new() };
        write(format!("{}{sure}", thing.name), &top);
        for part in &thing.parts {
            let tip = part.at + part.normal.unwrap_or_else(Vector3::zeros) * 0.07;
            write(format!("{} {:.2}", part.name, part.sure), &tip);
        }
    }
    if let Some((name, place)) = &stage.held_name {
        write(format!("{name} (held)"), place);
    }
    for area in stage.areas.iter().filter(|_| stage.shows(Layer::Areas)) {
        if let Some(middle) = area.middle() {
            write(area.name.clone(), &middle);
        }
    }
    let size = Vec2::new(view.width as f32, view.height as f32);
    let font = Font::default();
    for label in spread(labels, f64::from(view.width), f64::from(view.height)) {
        if let Some(ends) = label.leader {
            // The middle of the picture is the origin of its lines, and y goes up.
            let [from, to] =
                ends.map(|end| Vec2::new(end.x as f32 - size.x / 2.0, size.y / 2.0 - end.y as f32));
            window.draw_line_2d(from, to, ink(LEADER, 1.0), 1.0);
        }
        let at = Vec2::new(label.corner.x as f32, label.corner.y as f32);
        window.draw_text(&label.text, at + Vec2::ONE, NAME, &font, ink(BEHIND, 1.0));
        window.draw_text(&label.text, at, NAME, &font, ink(WORDS, 1.0));
    }
}

/// Writes the panel at the left and what is known of the selected thing at the right; gives what is to be drawn behind the words.
pub(super) fn write_panel(stage: &Stage, width: u32, window: &mut Window) -> (SceneNode2d, FixedView2d) {
    let mut behind = SceneNode2d::empty();
    let size = window.size();
    let mut block = |lines: &[PanelLine], left: f32| {
        let lines: Vec<PanelLine> = lines.iter().flat_map(wrapped).collect();
        if lines.is_empty() {
            return;
        }
        let height = LINE * lines.len() as f32 + BORDER;
        // The middle of the picture is its origin, and y goes up.
        let middle = Vec2::new(
            left + WIDTH / 2.0 - size.x as f32 / 2.0,
            size.y as f32 / 2.0 - BORDER / 2.0 - height / 2.0,
        );
        behind.add_rectangle(WIDTH, height).set_color(ink(BEHIND, 0.7)).set_position(middle);
        for (row, line) in lines.iter().enumerate() {
            let at = Vec2::new(left + BORDER / 2.0, BORDER + LINE * row as f32);
            window.draw_text(&line.text, at, LINE, &Font::default(), ink(color(line.tone), 1.0));
        }
    };
    block(&stage.panel, BORDER / 2.0);
    if let Some(thing) = stage.selected_thing() {
        let known: Vec<PanelLine> = thing
            .known
            .iter()
            .enumerate()
            .map(|(row, text)| PanelLine::new(if row == 0 { Tone::Title } else { Tone::Plain }, text))
            .collect();
        block(&known, width as f32 - WIDTH - BORDER / 2.0);
    }
    (behind, FixedView2d::new(kiss3d::camera::CoordinateSystem2d::CenterUp, false))
}

/// The line in pieces that the panel is wide enough for, broken between words where there are any.
fn wrapped(line: &PanelLine) -> Vec<PanelLine> {
    let mut pieces = vec![String::new()];
    for word in line.text.split(' ') {
        let letters: Vec<char> = word.chars().collect();
        for (number, chunk) in letters.chunks(LETTERS).enumerate() {
            let chunk: String = chunk.iter().collect();
            let last = pieces.len() - 1;
            let has = pieces[last].chars().count();
            if has == 0 {
                pieces[last] = chunk;
            } else if number == 0 && has + 1 + chunk.chars().count() <= LETTERS {
                pieces[last] = format!("{} {chunk}", pieces[last]);
            } else {
                pieces.push(chunk);
            }
        }
    }
    pieces.into_iter().map(|text| PanelLine { text, tone: line.tone }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words_and_nothing_is_lost() {
        let text =
            "grasp red_mug_0: refused: omega 0.41 is below 0.70; the object is not where the evidence says";
        let pieces = wrapped(&PanelLine::new(Tone::Bad, text));
        assert!(pieces.len() > 1 && pieces.iter().all(|piece| piece.text.chars().count() <= LETTERS));
        assert!(pieces.iter().all(|piece| piece.tone == Tone::Bad));
        let joined: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(joined.join(" "), text);
        let long = "x".repeat(2 * LETTERS + 1);
        let pieces = wrapped(&PanelLine::new(Tone::Plain, &long));
        assert_eq!(pieces.iter().map(|piece| piece.text.len()).collect::<Vec<_>>(), [LETTERS, LETTERS, 1]);
        assert_eq!(wrapped(&PanelLine::new(Tone::Plain, "")).len(), 1);
    }
}
