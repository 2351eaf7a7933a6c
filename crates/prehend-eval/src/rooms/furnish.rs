//! Furnished rooms as scene files: furniture along the walls and in the middle, things, cabinets and pairs of a kind on it.

use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, RngExt};
use std::f64::consts::{FRAC_PI_2, PI};
use std::fmt::Write as _;

/// Least and greatest size of a room, metres.
const SIZE: [[f64; 2]; 2] = [[4.6, 7.0], [4.0, 5.6]];
/// Floor that is left between pieces of furniture, so that the base passes, metres.
const PASSAGE: f64 = 0.95;
/// Gap between furniture and the wall behind it, metres.
const BEHIND: [f64; 2] = [0.02, 0.06];
/// Places tried for a piece.
const DRAWS: usize = 60;
/// Length of furniture that one thing takes, and one cabinet, metres.
const BIN: f64 = 0.21;
const CABINET_BIN: f64 = 0.44;

/// A piece of furniture: its model, and the range of its length, depth and height, metres.
struct Piece {
    model: &'static str,
    length: [f64; 2],
    depth: [f64; 2],
    height: [f64; 2],
    /// Things stand on it.
    carries: bool,
}

const fn piece(model: &'static str, length: [f64; 2], depth: [f64; 2], height: [f64; 2]) -> Piece {
    Piece { model, length, depth, height, carries: true }
}

const PIECES: [Piece; 6] = [
    piece("table", [0.9, 1.5], [0.6, 0.8], [0.66, 0.74]),
    piece("desk", [1.1, 1.5], [0.6, 0.7], [0.70, 0.75]),
    piece("side_table", [0.5, 0.7], [0.45, 0.55], [0.55, 0.68]),
    piece("counter", [1.2, 1.88], [0.55, 0.65], [0.70, 0.80]),
    piece("shelf", [0.8, 1.2], [0.32, 0.38], [0.70, 0.80]),
    Piece { carries: false, ..piece("sofa", [1.5, 1.9], [0.75, 0.85], [0.8, 0.8]) },
];

/// Things with drawers or doors, and the joints that may be open.
const CABINETS: [(&str, &[&str]); 5] = [
    ("drawer_cabinet", &["top", "middle", "bottom"]),
    ("knob_cabinet", &["top", "middle"]),
    ("edge_cabinet", &[]),
    ("wooden_cabinet", &["top", "middle", "bottom"]),
    ("door_cabinet", &["door"]),
];

/// Small things: class, other keys, colours.
const THINGS: [(&str, &str, &[&str]); 14] = [
    ("apple", "shape: sphere, size: {radius: 0.034}, mass: 0.15", &["red", "light green"]),
    ("tomato", "shape: sphere, size: {radius: 0.032}, mass: 0.12", &["red"]),
    ("orange", "shape: sphere, size: {radius: 0.036}, mass: 0.16", &["orange"]),
    ("egg", "shape: egg, mass: 0.06", &["cream", "white"]),
    ("ball", "shape: sphere, size: {radius: 0.03}, mass: 0.1", &["yellow", "blue"]),
    ("mug", "shape: mug, size: {radius: 0.039, height: 0.09}, mass: 0.28", &["blue", "red", "white"]),
    ("can", "shape: can, size: {radius: 0.032, height: 0.1}, mass: 0.3", &["green", "red", "black"]),
    ("block", "shape: box, size: [0.05, 0.05, 0.05], mass: 0.1", &["purple", "blue", "yellow"]),
    ("book", "shape: box, size: [0.14, 0.19, 0.03], mass: 0.4", &["dark blue", "dark red", "black"]),
    ("milk", "shape: box, size: [0.055, 0.055, 0.13], mass: 0.35", &["white"]),
    ("bowl", "shape: bowl, size: {radius: 0.085, foot: 0.06, height: 0.05}, mass: 0.4", &["white", "blue"]),
    ("plate", "shape: plate, size: {radius: 0.085}, mass: 0.35", &["white", "red"]),
    ("pan", "shape: pan, size: {radius: 0.085, height: 0.04}, mass: 0.6", &["dark grey"]),
    ("basket", "shape: tray, size: {x: 0.19, y: 0.16, z: 0.06}, mass: 0.4", &["brown"]),
];

/// What a detector mixes up here.
const CONFUSIONS: &str = "apple: [ball, tomato], tomato: [apple], orange: [ball], mug: [cup], egg: [ball], can: [cup], block: [box], \
                          book: [box], milk: [box], drawer: [box], desk: [table], side table: [table], shelf: [cabinet]";

/// A piece of furniture where it stands.
struct Placed {
    piece: &'static Piece,
    name: String,
    size: [f64; 3],
    at: [f64; 2],
    yaw: f64,
    /// Half of what it takes along the walls, metres.
    half: [f64; 2],
}

/// A room as a scene file; it need not have room for everything. `detector` are the detector's keys.
pub(super) fn room(name: &str, detector: &str, rng: &mut impl Rng) -> String {
    let [width, depth] = SIZE.map(|[low, high]| rng.random_range(low..high));
    let mut placed: Vec<Placed> = Vec::new();
    let mut order: Vec<&'static Piece> = PIECES.iter().chain(PIECES.iter().take(4)).collect();
    order.shuffle(rng);
    let wanted = rng.random_range(3..=5);
    for piece in order {
        if placed.iter().filter(|other| other.piece.carries).count() == wanted {
            break;
        }
        let number = placed.iter().filter(|other| other.piece.model == piece.model).count();
        placed.extend(stand(piece, number, [width, depth], &placed, rng));
    }
    let mut text = format!("name: {name}\n");
    let (x, y) = start([width, depth], &placed, rng);
    let yaw = rng.random_range(-PI..PI);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "robot: {{xy: [{x:.3}, {y:.3}], yaw: {yaw:.3}}}");
    let _ = writeln!(text, "room: {{size: [{width:.3}, {depth:.3}]}}");
    let _ = writeln!(text, "localisation: {{sigma_xy: 0.015, sigma_yaw: 0.008, drift: 0.02}}");
    let _ = writeln!(text, "detector: {{{detector}, confusions: {{{CONFUSIONS}}}}}\nobjects:");
    for Placed { piece, name, size: [depth, length, height], at: [x, y], yaw, .. } in &placed {
        let sizes = match piece.carries {
            true => format!("length: {length:.3}, depth: {depth:.3}, height: {height:.3}"),
            false => format!("length: {length:.3}, depth: {depth:.3}"),
        };
        let model = piece.model;
        let _ = writeln!(
            text,
            "- {{name: {name}, model: {model}, parameters: {{{sizes}}}, pose: {{xy: [{x:.3}, {y:.3}], yaw: {yaw:.4}}}}}"
        );
    }
    let mut names = Vec::new();
    for carrier in placed.iter().filter(|placed| placed.piece.carries) {
        load(&mut text, carrier, &mut names, rng);
    }
    text
}

/// A place for a piece: against a wall, or, for tables, anywhere with any heading.
fn stand(
    piece: &'static Piece,
    number: usize,
    room: [f64; 2],
    others: &[Placed],
    rng: &mut impl Rng,
) -> Option<Placed> {
    let [depth, length, height] = [piece.depth, piece.length, piece.height]
        .map(|[low, high]| if low < high { rng.random_range(low..high) } else { low });
    for _ in 0..DRAWS {
        let is_free_standing = piece.model.ends_with("table") && rng.random_bool(0.4);
        let side = rng.random_range(0..4_u8);
        let turned = if is_free_standing { rng.random_range(-0.6..0.6) } else { 0.0 };
        let yaw = FRAC_PI_2 * f64::from(side) + turned;
        let (sin, cos) = (yaw.sin().abs(), yaw.cos().abs());
        let half = [(depth * cos + length * sin) / 2.0, (depth * sin + length * cos) / 2.0];
        let mut within = |axis: usize, gap: f64| {
            let (from, to) = (half[axis] + gap, room[axis] - half[axis] - gap);
            (from < to).then(|| rng.random_range(from..to))
        };
        let gap = if is_free_standing { PASSAGE } else { BEHIND[1] };
        let (Some(x), Some(y)) = (within(0, gap), within(1, gap)) else { continue };
        let behind = rng.random_range(BEHIND[0]..BEHIND[1]);
        let at = match (is_free_standing, side) {
            (true, _) => [x, y],
            (_, 0) => [room[0] - half[0] - behind, y],
            (_, 1) => [x, room[1] - half[1] - behind],
            (_, 2) => [half[0] + behind, y],
            _ => [x, half[1] + behind],
        };
        let is_free = others.iter().all(|other| {
            (0..2).any(|axis| (at[axis] - other.at[axis]).abs() > half[axis] + other.half[axis] + PASSAGE)
        });
        if is_free {
            let base = piece.model.replace('_', " ");
            let name = if number == 0 { base } else { format!("{base} {}", number + 1) };
            return Some(Placed { piece, name, size: [depth, length, height], at, yaw, half });
        }
    }
    None
}

/// Where the robot starts: the freest of some places.
fn start(room: [f64; 2], placed: &[Placed], rng: &mut impl Rng) -> (f64, f64) {
    let mut best = (f64::NEG_INFINITY, [room[0] / 2.0, room[1] / 2.0]);
    for _ in 0..DRAWS {
        let at = [0, 1].map(|axis| rng.random_range(0.6..room[axis] - 0.6));
        let away = |other: &Placed| {
            (0..2)
                .map(|axis| (at[axis] - other.at[axis]).abs() - other.half[axis])
                .fold(f64::NEG_INFINITY, f64::max)
        };
        let free = placed.iter().map(away).fold(f64::INFINITY, f64::min);
        if free > best.0 {
            best = (free, at);
        }
    }
    (best.1[0], best.1[1])
}

/// Puts things on a piece, from one end to the other; some are two of a kind side by side.
fn load(text: &mut String, carrier: &Placed, names: &mut Vec<String>, rng: &mut impl Rng) {
    let [depth, length, _] = carrier.size;
    let mut at = 0.05 - length / 2.0;
    let end = length / 2.0 - 0.05;
    let mut has_cabinet = depth < 0.5 || rng.random_bool(0.45);
    let mut again: Option<usize> = None;
    while at + BIN <= end {
        if !has_cabinet && at + CABINET_BIN <= end && rng.random_bool(0.4) {
            has_cabinet = true;
            cabinet(text, carrier, at + CABINET_BIN / 2.0, names, rng);
            at += CABINET_BIN;
            continue;
        }
        if again.is_none() && rng.random_bool(0.3) {
            at += BIN;
            continue;
        }
        let kind = again.take().unwrap_or_else(|| rng.random_range(0..THINGS.len()));
        let (class, keys, colors) = THINGS[kind];
        if rng.random_bool(0.25) {
            again = Some(kind);
        }
        let color = colors.choose(rng).copied().unwrap_or("grey");
        let name = fresh(names, class);
        let front = [0.13 - depth / 2.0, (0.25 - depth / 2.0).min(depth / 2.0 - 0.1)];
        let middle = at + BIN / 2.0;
        let _ = writeln!(
            text,
            "- {{name: {name}, class: {class}, {keys}, color: {color}, on: {}, region: {{x: [{:.3}, {:.3}], y: [{:.3}, {:.3}]}}}}",
            carrier.name,
            front[0],
            front[1].max(front[0] + 0.01),
            middle - 0.02,
            middle + 0.02
        );
        at += BIN;
    }
}

/// Something with drawers or a door in the middle of a piece, its front to the room; now and then one of them is open.
fn cabinet(text: &mut String, carrier: &Placed, middle: f64, names: &mut Vec<String>, rng: &mut impl Rng) {
    let (model, joints) = CABINETS[rng.random_range(0..CABINETS.len())];
    let name = fresh(names, "cabinet");
    let open = match joints.choose(rng).filter(|_| rng.random_bool(0.4)) {
        Some(&"door") => ", joints: {door: {position: [1.2, 1.6]}}".to_owned(),
        Some(joint) => format!(", joints: {{{joint}: {{position: [0.08, 0.11]}}}}"),
        None => String::new(),
    };
    let yaw = rng.random_range(-0.15..0.15);
    let _ = writeln!(
        text,
        "- {{name: {name}, model: {model}, on: {}, region: {{x: [0.02, 0.08], y: [{:.3}, {:.3}], yaw: {yaw:.3}}}{open}}}",
        carrier.name,
        middle - 0.02,
        middle + 0.02
    );
}

/// A name that nothing has yet.
fn fresh(names: &mut Vec<String>, class: &str) -> String {
    let number = names.iter().filter(|other| other.starts_with(class)).count();
    let name = if number == 0 { class.to_owned() } else { format!("{class} {}", number + 1) };
    names.push(name.clone());
    name
}
