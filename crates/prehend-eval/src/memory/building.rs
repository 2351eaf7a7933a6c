//! Buildings: rooms in two rows, furniture along their walls, things on the furniture.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use prehend_sim::body::{ConvexPart, PartShape, object_parts};
use prehend_sim::scene::{Color, Shape, named_color};
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::FRAC_PI_2;

/// Which buildings are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generator {
    /// Homes: the one that the memory was made with.
    Home,
    /// Offices with a workshop, other furniture, other things and fewer landmarks; nothing was chosen by them.
    Office,
}

/// Height of the walls, and their thickness, metres.
const WALL: [f64; 2] = [2.4, 0.12];
/// Free floor that is left before furniture, and gap beside it, metres.
const GAP: f64 = 0.25;
/// Places tried for a piece of furniture or a thing.
const DRAWS: usize = 60;
/// Distance of a thing from the edge of what carries it, and from other things, metres.
const EDGE: f64 = 0.04;
const APART: f64 = 0.03;

/// How a piece of furniture is built.
#[derive(Clone, Copy, Debug)]
enum Build {
    /// A top on four legs.
    Table,
    /// Closed to the floor.
    Block,
    /// Boards between two sides.
    Shelf,
    /// A seat with a back.
    Seat,
    /// Nothing is put on it.
    Tower,
}

/// A kind of furniture: class, build, depth, length and height in metres, colours.
struct Furniture(&'static str, Build, [f64; 3], &'static [&'static str]);

/// A kind of small thing: class, shape, colours.
struct Small(&'static str, Shape, &'static [&'static str]);

/// A kind of room: its name, its furniture (the first two always), its things.
struct RoomKind {
    name: &'static str,
    furniture: &'static [&'static str],
    things: &'static [&'static str],
}

const WOODS: &[&str] = &["wood", "brown", "white", "black"];
const CLOTHS: &[&str] = &["blue", "grey", "red", "green", "brown"];
const WHITES: &[&str] = &["white", "grey", "black"];
const BRIGHT: &[&str] = &["red", "green", "blue", "yellow", "white", "black", "orange", "purple", "pink"];

const FURNITURE: &[Furniture] = &[
    Furniture("counter", Build::Block, [0.6, 1.5, 0.85], &["white", "grey"]),
    Furniture("stove", Build::Block, [0.6, 0.6, 0.85], &["white", "black"]),
    Furniture("fridge", Build::Tower, [0.65, 0.65, 1.75], WHITES),
    Furniture("sink", Build::Block, [0.55, 0.7, 0.85], &["white", "grey"]),
    Furniture("dishwasher", Build::Block, [0.6, 0.6, 0.82], WHITES),
    Furniture("dining table", Build::Table, [0.9, 1.6, 0.74], WOODS),
    Furniture("table", Build::Table, [0.7, 1.1, 0.72], WOODS),
    Furniture("sideboard", Build::Block, [0.45, 1.3, 0.8], WOODS),
    Furniture("sofa", Build::Seat, [0.85, 1.9, 0.8], CLOTHS),
    Furniture("armchair", Build::Seat, [0.8, 0.8, 0.8], CLOTHS),
    Furniture("coffee table", Build::Table, [0.6, 1.0, 0.42], WOODS),
    Furniture("tv stand", Build::Block, [0.4, 1.3, 0.5], WOODS),
    Furniture("shelf", Build::Shelf, [0.35, 1.0, 1.1], WOODS),
    Furniture("desk", Build::Table, [0.65, 1.4, 0.73], WOODS),
    Furniture("office chair", Build::Seat, [0.55, 0.55, 0.9], CLOTHS),
    Furniture("printer", Build::Block, [0.45, 0.5, 0.6], WHITES),
    Furniture("cabinet", Build::Block, [0.45, 0.9, 1.0], WOODS),
    Furniture("bed", Build::Seat, [1.5, 2.0, 0.5], CLOTHS),
    Furniture("nightstand", Build::Block, [0.4, 0.45, 0.55], WOODS),
    Furniture("dresser", Build::Block, [0.5, 1.1, 0.9], WOODS),
    Furniture("wardrobe", Build::Tower, [0.6, 1.2, 1.9], WOODS),
    Furniture("toilet", Build::Block, [0.6, 0.42, 0.42], &["white"]),
    Furniture("washbasin", Build::Block, [0.45, 0.6, 0.85], &["white"]),
    Furniture("bathtub", Build::Block, [0.75, 1.6, 0.55], &["white"]),
    Furniture("washing machine", Build::Block, [0.6, 0.6, 0.85], WHITES),
    Furniture("bench", Build::Table, [0.4, 1.2, 0.45], WOODS),
    Furniture("workbench", Build::Table, [0.7, 1.6, 0.88], &["wood", "grey"]),
    Furniture("tool chest", Build::Block, [0.45, 0.7, 0.95], &["red", "blue", "black"]),
    Furniture("rack", Build::Shelf, [0.5, 1.2, 1.2], &["grey", "black"]),
    Furniture("whiteboard", Build::Tower, [0.08, 1.6, 1.8], &["white"]),
    Furniture("copier", Build::Block, [0.6, 0.7, 1.0], WHITES),
    Furniture("locker", Build::Tower, [0.5, 0.8, 1.8], &["grey", "blue", "green"]),
    Furniture("stool", Build::Table, [0.35, 0.35, 0.5], WOODS),
];

const SMALL: &[Small] = &[
    Small("mug", Shape::Mug { radius: 0.04, height: 0.095, wall: 0.004, handle: 0.028 }, BRIGHT),
    Small(
        "plate",
        Shape::Plate { radius: 0.12, foot: 0.07, height: 0.025, wall: 0.004 },
        &["white", "blue", "green", "red"],
    ),
    Small("bowl", Shape::Bowl { radius: 0.09, foot: 0.06, height: 0.06, wall: 0.005 }, BRIGHT),
    Small(
        "bottle",
        Shape::Bottle { radius: 0.035, height: 0.24, neck_radius: 0.015, neck_height: 0.06 },
        BRIGHT,
    ),
    Small("can", Shape::Can { radius: 0.033, height: 0.115 }, BRIGHT),
    Small("jar", Shape::Cylinder { radius: 0.04, height: 0.12 }, &["red", "green", "white", "yellow"]),
    Small("apple", Shape::Sphere { radius: 0.038 }, &["red", "green"]),
    Small("banana", Shape::Box { size: [0.04, 0.18, 0.035] }, &["yellow"]),
    Small("orange", Shape::Sphere { radius: 0.04 }, &["orange"]),
    Small("sponge", Shape::Box { size: [0.06, 0.1, 0.035] }, &["yellow", "green", "blue"]),
    Small("towel", Shape::Box { size: [0.18, 0.26, 0.05] }, BRIGHT),
    Small("soap", Shape::Box { size: [0.05, 0.08, 0.03] }, &["white", "pink", "green"]),
    Small(
        "shampoo",
        Shape::Bottle { radius: 0.035, height: 0.2, neck_radius: 0.02, neck_height: 0.03 },
        BRIGHT,
    ),
    Small("book", Shape::Box { size: [0.14, 0.2, 0.03] }, BRIGHT),
    Small("remote", Shape::Box { size: [0.05, 0.17, 0.025] }, &["black", "white", "grey"]),
    Small(
        "vase",
        Shape::Bottle { radius: 0.055, height: 0.28, neck_radius: 0.03, neck_height: 0.08 },
        BRIGHT,
    ),
    Small("candle", Shape::Cylinder { radius: 0.035, height: 0.1 }, &["white", "red", "purple"]),
    Small("pillow", Shape::Box { size: [0.28, 0.4, 0.12] }, BRIGHT),
    Small("lamp", Shape::Cylinder { radius: 0.08, height: 0.32 }, &["white", "yellow", "black", "green"]),
    Small("clock", Shape::Cylinder { radius: 0.07, height: 0.14 }, &["white", "black", "red"]),
    Small("phone", Shape::Box { size: [0.08, 0.16, 0.02] }, &["black", "white"]),
    Small("laptop", Shape::Box { size: [0.24, 0.34, 0.04] }, &["grey", "black", "white"]),
    Small("keyboard", Shape::Box { size: [0.14, 0.42, 0.03] }, &["black", "white"]),
    Small("stapler", Shape::Box { size: [0.04, 0.14, 0.06] }, &["red", "black", "blue"]),
    Small("box", Shape::Box { size: [0.14, 0.2, 0.14] }, BRIGHT),
    Small("toy car", Shape::Box { size: [0.08, 0.16, 0.07] }, &["red", "blue", "yellow"]),
    Small("ball", Shape::Sphere { radius: 0.06 }, BRIGHT),
    Small("basket", Shape::Tray { size: [0.24, 0.32, 0.12], wall: 0.01 }, &["brown", "white", "blue"]),
    Small("tray", Shape::Tray { size: [0.26, 0.36, 0.03], wall: 0.006 }, &["white", "black", "brown"]),
    Small("drill", Shape::Box { size: [0.07, 0.2, 0.18] }, &["yellow", "green", "blue", "red"]),
    Small("hammer", Shape::Box { size: [0.05, 0.3, 0.04] }, &["brown", "black", "yellow"]),
    Small("paint can", Shape::Can { radius: 0.08, height: 0.18 }, BRIGHT),
    Small("folder", Shape::Box { size: [0.24, 0.3, 0.03] }, BRIGHT),
    Small("kettle", Shape::Cylinder { radius: 0.08, height: 0.22 }, &["white", "black", "red"]),
];

const HOME: &[RoomKind] = &[
    RoomKind {
        name: "kitchen",
        furniture: &["counter", "fridge", "stove", "sink", "table", "dishwasher", "shelf"],
        things: &[
            "mug", "plate", "bowl", "bottle", "can", "jar", "apple", "banana", "orange", "sponge", "towel",
            "kettle", "tray",
        ],
    },
    RoomKind {
        name: "dining room",
        furniture: &["dining table", "sideboard", "bench", "shelf"],
        things: &["plate", "bowl", "mug", "candle", "vase", "bottle", "tray", "orange", "apple"],
    },
    RoomKind {
        name: "living room",
        furniture: &["sofa", "coffee table", "tv stand", "armchair", "shelf", "cabinet"],
        things: &["remote", "book", "vase", "pillow", "candle", "mug", "lamp", "clock", "basket", "phone"],
    },
    RoomKind {
        name: "office",
        furniture: &["desk", "office chair", "printer", "shelf", "cabinet"],
        things: &["laptop", "keyboard", "stapler", "book", "mug", "lamp", "phone", "folder", "box", "clock"],
    },
    RoomKind {
        name: "bedroom",
        furniture: &["bed", "nightstand", "wardrobe", "dresser", "desk", "bench"],
        things: &[
            "pillow", "lamp", "clock", "book", "phone", "toy car", "ball", "basket", "towel", "box", "mug",
        ],
    },
    RoomKind {
        name: "bathroom",
        furniture: &["washbasin", "toilet", "bathtub", "washing machine", "shelf", "cabinet"],
        things: &["towel", "soap", "shampoo", "candle", "basket", "bottle", "sponge", "mug"],
    },
];

const OFFICE: &[RoomKind] = &[
    RoomKind {
        name: "office",
        furniture: &["desk", "office chair", "whiteboard", "rack", "table", "locker"],
        things: &["laptop", "keyboard", "stapler", "book", "mug", "phone", "folder", "box", "bottle", "lamp"],
    },
    RoomKind {
        name: "workshop",
        furniture: &["workbench", "tool chest", "rack", "stool", "locker", "table"],
        things: &["drill", "hammer", "paint can", "box", "can", "jar", "towel", "bottle", "basket"],
    },
    RoomKind {
        name: "kitchen",
        furniture: &["counter", "fridge", "sink", "table", "stool", "dishwasher"],
        things: &["mug", "plate", "bottle", "can", "kettle", "sponge", "bowl", "banana", "orange", "tray"],
    },
    RoomKind {
        name: "copy room",
        furniture: &["copier", "rack", "table", "cabinet", "locker"],
        things: &["folder", "box", "stapler", "book", "tray", "basket", "paint can"],
    },
    RoomKind {
        name: "bathroom",
        furniture: &["washbasin", "toilet", "cabinet", "bench"],
        things: &["towel", "soap", "bottle", "basket", "sponge"],
    },
];

/// Something of a building.
#[derive(Clone, Debug)]
pub struct TrueThing {
    /// What it is.
    pub class: &'static str,
    /// Its colour, one of the scene's words.
    pub color: &'static str,
    /// Index of its room.
    pub room: usize,
    /// Index of what it stands on; `None` for furniture.
    pub on: Option<usize>,
    /// `building_from_thing`; furniture's origin is on the floor below its middle, other things' is below their middle.
    pub pose: Isometry3<f64>,
    /// Full lengths along its own x, y and z, metres.
    pub size: [f64; 3],
    /// Its surface, in its own frame.
    pub parts: Vec<ConvexPart>,
}

impl TrueThing {
    /// Whether it is furniture.
    pub fn is_furniture(&self) -> bool {
        self.on.is_none()
    }
}

/// A rectangle of the floor with its name.
#[derive(Clone, Debug)]
pub struct Room {
    /// What it is.
    pub name: &'static str,
    /// Least and greatest x and y, metres.
    pub low: [f64; 2],
    /// See `low`.
    pub high: [f64; 2],
}

/// A building with everything in it; frame: origin in a corner on the floor, z up.
#[derive(Clone, Debug)]
pub struct Building {
    /// Its name.
    pub name: String,
    /// Rooms.
    pub rooms: Vec<Room>,
    /// Furniture and things.
    pub things: Vec<TrueThing>,
}

/// A building that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildingError {
    /// The tables of this file disagree.
    #[error("no {what} is called `{name}`")]
    Unknown {
        /// Furniture, thing or colour.
        what: &'static str,
        /// The name.
        name: String,
    },
}

/// What a view of a room shows in words: so many things of it with their colours, on a piece of its furniture.
pub(super) fn scene_words(
    generator: Generator,
    things: std::ops::RangeInclusive<usize>,
    rng: &mut impl Rng,
) -> String {
    let Some(room) = generator.rooms().choose(rng) else { return String::new() };
    let colored = |name: &str, colors: &[&str], rng: &mut _| match colors.choose(rng) {
        Some(color) => format!("{color} {name}"),
        None => name.to_owned(),
    };
    let count = rng.random_range(things);
    let mut said: Vec<String> = Vec::new();
    for _ in 0..count {
        let small = room.things.choose(rng).and_then(|name| SMALL.iter().find(|small| small.0 == *name));
        said.extend(small.map(|Small(name, _, colors)| colored(name, colors, rng)));
    }
    let piece = room.furniture.choose(rng).and_then(|name| FURNITURE.iter().find(|piece| piece.0 == *name));
    let on = piece.map_or_else(String::new, |Furniture(name, .., colors)| {
        format!(" on the {}", colored(name, colors, rng))
    });
    format!("{}: {}{on}", room.name, said.join(", "))
}

impl Generator {
    fn rooms(self) -> &'static [RoomKind] {
        match self {
            Self::Home => HOME,
            Self::Office => OFFICE,
        }
    }
}

impl Building {
    /// Draws a building with so many rooms.
    ///
    /// Errors: [`BuildingError`].
    pub fn new(generator: Generator, rooms: usize, seed: u64) -> Result<Self, BuildingError> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let kinds = generator.rooms();
        // Each kind once, then any; neighbours differ by chance only.
        let mut chosen: Vec<&RoomKind> = kinds.iter().collect();
        while chosen.len() < rooms {
            chosen.extend(kinds.choose(&mut rng));
        }
        chosen.truncate(rooms.max(1));
        chosen.shuffle(&mut rng);
        let name = match generator {
            Generator::Home => format!("home {seed}"),
            Generator::Office => format!("office {seed}"),
        };
        let mut building = Self { name, rooms: Vec::new(), things: Vec::new() };
        let mut x = [0.0; 2];
        for (index, kind) in chosen.into_iter().enumerate() {
            let row = index % 2;
            let (width, depth) = (rng.random_range(3.8..5.4), rng.random_range(3.6..4.8));
            let low = if row == 0 { [x[0], -depth] } else { [x[1], 1.6] };
            x[row] += width + WALL[1];
            building.rooms.push(Room { name: kind.name, low, high: [low[0] + width, low[1] + depth] });
            building.furnish(index, kind, &mut rng)?;
        }
        Ok(building)
    }

    fn furnish(&mut self, room: usize, kind: &RoomKind, rng: &mut ChaCha8Rng) -> Result<(), BuildingError> {
        let first = self.things.len();
        let (always, sometimes) = kind.furniture.split_at(2.min(kind.furniture.len()));
        let mut pieces: Vec<&str> = always.to_vec();
        pieces.extend(sometimes.iter().filter(|_| rng.random_bool(0.65)));
        for name in pieces {
            self.put_furniture(room, name, rng)?;
        }
        let carriers: Vec<usize> = (first..self.things.len()).collect();
        let count = rng.random_range(9..16);
        for _ in 0..count {
            // Now and then something lies where it does not belong.
            let stray = rng.random_bool(0.15).then(|| SMALL.choose(rng)).flatten().map(|small| small.0);
            let Some(name) = stray.or_else(|| kind.things.choose(rng).copied()) else { continue };
            self.put_small(room, name, &carriers, rng)?;
        }
        Ok(())
    }

    /// Along a wall, its back to it; left out when no place is free.
    fn put_furniture(&mut self, room: usize, name: &str, rng: &mut impl Rng) -> Result<(), BuildingError> {
        let unknown = || BuildingError::Unknown { what: "furniture", name: name.to_owned() };
        let Furniture(class, build, size, colors) =
            FURNITURE.iter().find(|furniture| furniture.0 == name).ok_or_else(unknown)?;
        let Room { low, high, .. } = self.rooms[room].clone();
        let [depth, length, _] = *size;
        for _ in 0..DRAWS {
            let side = rng.random_range(0..4);
            let yaw = FRAC_PI_2 * f64::from(side);
            // The back is at +x of its own frame.
            let (half_x, half_y) =
                if side % 2 == 0 { (depth / 2.0, length / 2.0) } else { (length / 2.0, depth / 2.0) };
            let mut along = |axis: usize, half: f64| {
                let (from, to) = (low[axis] + half, high[axis] - half);
                if from < to { rng.random_range(from..to) } else { (from + to) / 2.0 }
            };
            let place = match side {
                0 => [high[0] - half_x - 0.02, along(1, half_y)],
                1 => [along(0, half_x), high[1] - half_y - 0.02],
                2 => [low[0] + half_x + 0.02, along(1, half_y)],
                _ => [along(0, half_x), low[1] + half_y + 0.02],
            };
            let reach = |thing: &TrueThing| {
                let turned = thing.pose.rotation.euler_angles().2.abs() % std::f64::consts::PI > 0.5;
                let [depth, length, _] = thing.size;
                if turned { [length / 2.0, depth / 2.0] } else { [depth / 2.0, length / 2.0] }
            };
            let is_free =
                self.things.iter().filter(|thing| thing.room == room && thing.is_furniture()).all(|thing| {
                    let [x, y] = reach(thing);
                    let (dx, dy) = (
                        (thing.pose.translation.x - place[0]).abs(),
                        (thing.pose.translation.y - place[1]).abs(),
                    );
                    dx > x + half_x + GAP || dy > y + half_y + GAP
                });
            if !is_free {
                continue;
            }
            let color = colors.choose(rng).copied().unwrap_or("grey");
            let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw);
            let pose = Isometry3::from_parts(Translation3::new(place[0], place[1], 0.0), turn);
            let parts = furniture_parts(*build, *size, paint(color)?);
            self.things.push(TrueThing { class, color, room, on: None, pose, size: *size, parts });
            return Ok(());
        }
        Ok(())
    }

    /// On a piece of furniture of the room; left out when no place is free.
    fn put_small(
        &mut self,
        room: usize,
        name: &str,
        carriers: &[usize],
        rng: &mut impl Rng,
    ) -> Result<(), BuildingError> {
        let unknown = || BuildingError::Unknown { what: "thing", name: name.to_owned() };
        let Small(class, shape, colors) = SMALL.iter().find(|small| small.0 == name).ok_or_else(unknown)?;
        let half = shape.half_extents();
        for _ in 0..DRAWS {
            let Some(&on) = carriers.choose(rng) else { return Ok(()) };
            let carrier = &self.things[on];
            let tops = tops(carrier);
            let Some(&top) = tops.choose(rng) else { continue };
            let room_x = carrier.size[0] / 2.0 - half.x.hypot(half.y) - EDGE;
            let room_y = carrier.size[1] / 2.0 - half.x.hypot(half.y) - EDGE;
            if room_x <= 0.0 || room_y <= 0.0 {
                continue;
            }
            let local =
                Vector3::new(rng.random_range(-room_x..room_x), rng.random_range(-room_y..room_y), top);
            let place = carrier.pose * nalgebra::Point3::from(local);
            let radius = half.x.hypot(half.y);
            let is_free = self.things.iter().filter(|thing| thing.on == Some(on)).all(|thing| {
                let other = (thing.size[0] / 2.0).hypot(thing.size[1] / 2.0);
                let apart = (thing.pose.translation.vector - place.coords).norm();
                apart > radius + other + APART
            });
            if !is_free {
                continue;
            }
            let color = colors.choose(rng).copied().unwrap_or("grey");
            let yaw = rng.random_range(-FRAC_PI_2..FRAC_PI_2);
            let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw);
            let pose = Isometry3::from_parts(Translation3::from(place.coords + Vector3::z() * half.z), turn);
            let parts = object_parts(shape, paint(color)?, None);
            let size = [2.0 * half.x, 2.0 * half.y, 2.0 * half.z];
            self.things.push(TrueThing { class, color, room, on: Some(on), pose, size, parts });
            return Ok(());
        }
        Ok(())
    }

    /// Floor and walls of a room, map frame.
    pub fn shell(&self, room: usize) -> Vec<(bool, ConvexPart)> {
        let Some(Room { low, high, .. }) = self.rooms.get(room) else { return Vec::new() };
        let middle = [0, 1].map(|axis| (low[axis] + high[axis]) / 2.0);
        let half = [0, 1].map(|axis| (high[axis] - low[axis]) / 2.0);
        let solid = |center: [f64; 3], half: [f64; 3], color: [u8; 3]| ConvexPart {
            shape: PartShape::Box { half: half.into() },
            body_from_part: Isometry3::translation(center[0], center[1], center[2]),
            color: Color(color),
            only_seen: false,
            region: None,
        };
        let mut parts =
            vec![(true, solid([middle[0], middle[1], -0.02], [half[0], half[1], 0.02], [150, 146, 140]))];
        let (tall, thick) = (WALL[0] / 2.0, WALL[1] / 2.0);
        for side in [-1.0, 1.0] {
            let x = middle[0] + side * (half[0] + thick);
            let y = middle[1] + side * (half[1] + thick);
            parts.push((false, solid([x, middle[1], tall], [thick, half[1], tall], [224, 220, 210])));
            parts.push((false, solid([middle[0], y, tall], [half[0], thick, tall], [224, 220, 210])));
        }
        parts
    }
}

/// Heights on which things stand, in the frame of the furniture.
fn tops(thing: &TrueThing) -> Vec<f64> {
    let height = thing.size[2];
    let found = FURNITURE.iter().find(|furniture| furniture.0 == thing.class);
    match found.map(|furniture| furniture.1) {
        Some(Build::Table | Build::Block) => vec![height],
        Some(Build::Shelf) => vec![height, height * 0.5],
        Some(Build::Seat) => vec![seat(height)],
        Some(Build::Tower) | None => Vec::new(),
    }
}

fn seat(height: f64) -> f64 {
    (height * 0.55).max(0.38)
}

fn paint(color: &str) -> Result<Color, BuildingError> {
    named_color(color).ok_or_else(|| BuildingError::Unknown { what: "colour", name: color.to_owned() })
}

fn furniture_parts(build: Build, [depth, length, height]: [f64; 3], color: Color) -> Vec<ConvexPart> {
    let solid = |half: [f64; 3], at: [f64; 3]| ConvexPart {
        shape: PartShape::Box { half: half.into() },
        body_from_part: Isometry3::translation(at[0], at[1], at[2]),
        color,
        only_seen: false,
        region: None,
    };
    let (x, y) = (depth / 2.0, length / 2.0);
    match build {
        Build::Table => {
            let mut parts = vec![solid([x, y, 0.015], [0.0, 0.0, height - 0.015])];
            for (sx, sy) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
                let leg = (height - 0.03) / 2.0;
                parts.push(solid([0.025, 0.025, leg], [sx * (x - 0.04), sy * (y - 0.04), leg]));
            }
            parts
        }
        Build::Block | Build::Tower => vec![solid([x, y, height / 2.0], [0.0, 0.0, height / 2.0])],
        Build::Shelf => {
            let side = |sy: f64| solid([x, 0.012, height / 2.0], [0.0, sy * (y - 0.012), height / 2.0]);
            let board = |z: f64| solid([x, y - 0.02, 0.0125], [0.0, 0.0, z - 0.0125]);
            let back = solid([0.006, y, height / 2.0], [x - 0.006, 0.0, height / 2.0]);
            vec![side(1.0), side(-1.0), board(height), board(height * 0.5), back]
        }
        Build::Seat => {
            let top = seat(height);
            let back = (height - top).max(0.06);
            vec![
                solid([x, y, top / 2.0], [0.0, 0.0, top / 2.0]),
                solid([0.06, y, back / 2.0], [x - 0.06, 0.0, top + back / 2.0]),
            ]
        }
    }
}
