//! Articulated things with measures drawn under a seed: what they are in truth.
//!
//! Fronts look to -x of the thing, its origin is on the ground below its middle. Every joint begins at 0, as the thing is found: closed,
//! but for things that are ajar.

use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use prehend_articulation::{Joint, JointKind, Link, Model, Shape, Solid};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// What is generated. The second half was not looked at while the describer was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Rows and columns of drawers with bars.
    Drawers,
    /// A cabinet with a door hinged left or right.
    Door,
    /// A chest with a lid.
    Chest,
    /// A panel with knobs.
    Knobs,
    /// A microwave: a door beside a panel.
    Microwave,
    /// An oven: a flap hinged below.
    Oven,
    /// A cupboard with a door that slides sideways.
    Sliding,
    /// A table with a leaf.
    Folding,
    /// A tap with a lever.
    Tap,
    /// A sloping desk with a lid, hinged level or on a slanted line, or a tapered cabinet with a door: axes along no side of the whole.
    Skewed,
    /// Drawers, a door, a chest or an oven, found part of the way open.
    Ajar,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Drawers,
        Self::Door,
        Self::Chest,
        Self::Knobs,
        Self::Microwave,
        Self::Oven,
        Self::Sliding,
        Self::Folding,
        Self::Tap,
        Self::Skewed,
        Self::Ajar,
    ];

    /// Kinds that were looked at while the describer was written.
    pub const KNOWN: [Self; 4] = [Self::Drawers, Self::Door, Self::Chest, Self::Knobs];

    /// Kinds that were not.
    pub const KEPT_BACK: [Self; 7] =
        [Self::Microwave, Self::Oven, Self::Sliding, Self::Folding, Self::Tap, Self::Skewed, Self::Ajar];

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Drawers => "drawers",
            Self::Door => "door",
            Self::Chest => "chest",
            Self::Knobs => "knobs",
            Self::Microwave => "microwave",
            Self::Oven => "oven",
            Self::Sliding => "sliding",
            Self::Folding => "folding",
            Self::Tap => "tap",
            Self::Skewed => "skewed",
            Self::Ajar => "ajar",
        }
    }
}

/// A thing as it is.
#[derive(Clone, Debug)]
pub struct Thing {
    /// What was drawn.
    pub kind: Kind,
    /// Links and joints; link `i + 1` hangs on joint `i`.
    pub model: Model,
    /// Where it stands.
    pub map_from_model: Isometry3<f64>,
    /// Where a hand holds each moving link, in its frame.
    pub holds: Vec<Point3<f64>>,
}

struct Maker<'a> {
    rng: &'a mut ChaCha8Rng,
    links: Vec<Link>,
    joints: Vec<Joint>,
    holds: Vec<Point3<f64>>,
}

fn solid(size: [f64; 3], at: [f64; 3]) -> Solid {
    Solid { pose: Translation3::new(at[0], at[1], at[2]).into(), shape: Shape::Box(Vector3::from(size)) }
}

impl Maker<'_> {
    fn draw(&mut self, low: f64, high: f64) -> f64 {
        self.rng.random_range(low..high)
    }

    fn body(&mut self, class: &str, solids: Vec<Solid>) {
        self.links.push(Link { name: class.to_owned(), class: class.to_owned(), solids });
    }

    /// A moving link: solids and hold in the thing's frame, which become the link's own.
    fn part(
        &mut self,
        class: &str,
        kind: JointKind,
        (origin, axis): ([f64; 3], [f64; 3]),
        way: f64,
        solids: Vec<Solid>,
        hold: [f64; 3],
    ) {
        let origin = Point3::from(origin);
        let number = self.joints.len();
        let child = self.links.len();
        let to_link = Translation3::from(-origin.coords);
        let solids = solids.into_iter().map(|solid| Solid { pose: to_link * solid.pose, ..solid }).collect();
        self.links.push(Link { name: format!("{class} {number}"), class: class.to_owned(), solids });
        self.joints.push(Joint {
            name: format!("joint {number}"),
            kind,
            parent: 0,
            child,
            origin,
            axis: Unit::new_normalize(Vector3::from(axis)),
            limits: [0.0, way],
            uncertainty: None,
        });
        self.holds.push(to_link * Point3::from(hold));
    }

    /// Boards of a room that is open in front.
    fn carcass(&mut self, [depth, width, height]: [f64; 3], foot: f64) -> Vec<Solid> {
        let board = self.draw(0.010, 0.018);
        let middle = foot + height / 2.0;
        vec![
            solid([depth, width, board], [0.0, 0.0, foot + board / 2.0]),
            solid([depth, width, board], [0.0, 0.0, foot + height - board / 2.0]),
            solid([board, width, height], [depth / 2.0 - board / 2.0, 0.0, middle]),
            solid([depth, board, height], [0.0, width / 2.0 - board / 2.0, middle]),
            solid([depth, board, height], [0.0, board / 2.0 - width / 2.0, middle]),
        ]
    }

    /// A bar before a face at `x`, on two feet.
    fn bar(&mut self, x: f64, [y, z]: [f64; 2], length: f64, upright: bool) -> (Vec<Solid>, [f64; 3]) {
        let out = self.draw(0.030, 0.045);
        let thick = self.draw(0.010, 0.014);
        let along = |a: f64| if upright { [y, z + a] } else { [y + a, z] };
        let size = if upright { [thick, thick, length] } else { [thick, length, thick] };
        let mut solids = vec![solid(size, [x - out, y, z])];
        for end in [-0.45, 0.45] {
            let [y, z] = along(end * length);
            solids.push(solid([out, 0.009, 0.009], [x - out / 2.0, y, z]));
        }
        (solids, [x - out, y, z])
    }

    fn drawers(&mut self) {
        let (rows, columns) = (self.rng.random_range(1..=4), self.rng.random_range(1..=3));
        let (depth, height) = (self.draw(0.25, 0.5), f64::from(rows) * self.draw(0.10, 0.18));
        let width = f64::from(columns) * self.draw(0.25, 0.4);
        let carcass = self.carcass([depth, width, height], 0.0);
        self.body("cabinet", carcass);
        let (wide, high) = (width / f64::from(columns), height / f64::from(rows));
        for row in 0..rows {
            for column in 0..columns {
                let y = (f64::from(column) + 0.5) * wide - width / 2.0;
                let z = (f64::from(row) + 0.5) * high;
                let face = -depth / 2.0;
                let long = depth - 0.04;
                let [inner, floor] = [wide - 0.05, z - high / 2.0 + 0.03];
                let mut solids = vec![
                    solid([0.014, wide - 0.012, high - 0.012], [face - 0.007, y, z]),
                    solid([long, inner, 0.006], [face + long / 2.0, y, floor]),
                ];
                for side in [-1.0, 1.0] {
                    let at = [face + long / 2.0, y + side * inner / 2.0, floor + 0.3 * high];
                    solids.push(solid([long, 0.008, 0.6 * high], at));
                }
                solids.push(solid([0.008, inner, 0.6 * high], [face + long, y, floor + 0.3 * high]));
                let (bar, hold) = self.bar(face - 0.014, [y, z], 0.45 * wide.min(0.3), false);
                solids.extend(bar);
                let way = self.draw(0.6, 0.9) * depth;
                self.part(
                    "drawer",
                    JointKind::Prismatic,
                    ([face, y, z], [-1.0, 0.0, 0.0]),
                    way,
                    solids,
                    hold,
                );
            }
        }
    }

    /// A door between two upright edges in front of `x`; hinged at the first.
    fn door(&mut self, x: f64, [hinge, free]: [f64; 2], [low, high]: [f64; 2]) {
        let (y, z) = ((hinge + free) / 2.0, (low + high) / 2.0);
        let mut solids = vec![solid([0.016, (free - hinge).abs(), high - low], [x - 0.008, y, z])];
        let grip = free + 0.04 * (hinge - free).signum();
        let length = self.draw(0.09, 0.16).min(0.6 * (high - low));
        let lift = self.draw(-0.2, 0.2) * (high - low);
        let (bar, hold) = self.bar(x - 0.016, [grip, z + lift], length, true);
        solids.extend(bar);
        // Opening, the free edge comes to -x.
        let up = if free > hinge { 1.0 } else { -1.0 };
        let way = self.draw(1.4, 2.4);
        let origin = [x - self.draw(0.0, 0.012), hinge, z];
        self.part("door", JointKind::Revolute, (origin, [0.0, 0.0, up]), way, solids, hold);
    }

    fn cabinet(&mut self) {
        let size = [self.draw(0.2, 0.45), self.draw(0.25, 0.55), self.draw(0.3, 0.75)];
        let carcass = self.carcass(size, 0.0);
        self.body("cabinet", carcass);
        let [depth, width, height] = size;
        let edge = if self.rng.random_bool(0.5) { width / 2.0 } else { -width / 2.0 };
        self.door(-depth / 2.0, [edge, -0.98 * edge], [0.006, height - 0.006]);
    }

    fn microwave(&mut self) {
        let [depth, width, height] = [self.draw(0.25, 0.4), self.draw(0.4, 0.55), self.draw(0.22, 0.32)];
        let panel = self.draw(0.09, 0.14);
        let mut solids = self.carcass([depth, width, height], 0.0);
        solids.push(solid([depth, panel, height], [0.0, (panel - width) / 2.0, height / 2.0]));
        self.body("microwave", solids);
        self.door(-depth / 2.0, [width / 2.0, panel - width / 2.0 + 0.004], [0.004, height - 0.004]);
    }

    fn chest(&mut self) {
        let [depth, width, height] = [self.draw(0.2, 0.4), self.draw(0.3, 0.6), self.draw(0.15, 0.35)];
        let board = self.draw(0.010, 0.016);
        let mut solids = vec![solid([depth, width, board], [0.0, 0.0, board / 2.0])];
        for side in [-1.0, 1.0] {
            let (x, y) = (side * (depth - board) / 2.0, side * (width - board) / 2.0);
            solids.push(solid([board, width, height], [x, 0.0, height / 2.0]));
            solids.push(solid([depth, board, height], [0.0, y, height / 2.0]));
        }
        self.body("chest", solids);
        let thick = self.draw(0.012, 0.03);
        let lip = [-depth / 2.0 - 0.015, 0.0, height + thick / 2.0];
        let lid = vec![
            solid([depth, width, thick], [0.0, 0.0, height + thick / 2.0]),
            solid([0.03, 0.3 * width, 0.5 * thick], lip),
        ];
        let way = self.draw(1.2, 1.9);
        let origin = [depth / 2.0, 0.0, height + self.draw(0.0, thick)];
        self.part("lid", JointKind::Revolute, (origin, [0.0, 1.0, 0.0]), way, lid, lip);
    }

    fn oven(&mut self) {
        let size = [self.draw(0.35, 0.5), self.draw(0.4, 0.6), self.draw(0.35, 0.5)];
        let carcass = self.carcass(size, 0.0);
        self.body("oven", carcass);
        let [depth, width, height] = size;
        let (face, middle) = (-depth / 2.0, height / 2.0);
        let mut flap = vec![solid([0.025, width - 0.01, height - 0.03], [face - 0.0125, 0.0, middle])];
        let (bar, hold) = self.bar(face - 0.025, [0.0, height - 0.06], 0.7 * width, false);
        flap.extend(bar);
        let origin = [face - self.draw(0.0, 0.02), 0.0, 0.015];
        let way = self.draw(1.2, 1.6);
        self.part("oven flap", JointKind::Revolute, (origin, [0.0, -1.0, 0.0]), way, flap, hold);
    }

    fn sliding(&mut self) {
        let size = [self.draw(0.25, 0.4), self.draw(0.5, 0.8), self.draw(0.3, 0.6)];
        let mut solids = self.carcass(size, 0.0);
        let [depth, width, height] = size;
        let face = -depth / 2.0;
        // One pane stands, the other slides before it.
        solids.push(solid([0.012, 0.5 * width, height - 0.03], [face + 0.02, 0.25 * width, height / 2.0]));
        self.body("cupboard", solids);
        let pane = 0.5 * width + 0.02;
        let y = pane / 2.0 - width / 2.0;
        let mut door = vec![solid([0.014, pane, height - 0.03], [face - 0.007, y, height / 2.0])];
        let (bar, hold) = self.bar(face - 0.014, [y - 0.35 * pane, height / 2.0], 0.12, true);
        door.extend(bar);
        let way = self.draw(0.35, 0.48) * width;
        let origin = [face, y, height / 2.0];
        self.part("sliding door", JointKind::Prismatic, (origin, [0.0, 1.0, 0.0]), way, door, hold);
    }

    fn folding(&mut self) {
        let [depth, width, height] = [self.draw(0.4, 0.6), self.draw(0.5, 0.8), self.draw(0.4, 0.6)];
        let top = self.draw(0.018, 0.03);
        let mut solids = vec![solid([depth, width, top], [0.0, 0.0, height - top / 2.0])];
        for (x, y) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
            let at = [x * (depth / 2.0 - 0.03), y * (width / 2.0 - 0.03), (height - top) / 2.0];
            solids.push(solid([0.04, 0.04, height - top], at));
        }
        self.body("table", solids);
        // Hanging in front; it folds up.
        let leaf = self.draw(0.2, 0.35);
        let face = -depth / 2.0;
        let hang = height - top - leaf / 2.0;
        let board = vec![solid([0.02, width - 0.02, leaf], [face - 0.012, 0.0, hang])];
        let origin = [face - self.draw(0.0, 0.02), 0.0, height - top / 2.0];
        let hold = [face - 0.012, 0.1 * width, height - top - leaf];
        let way = self.draw(1.3, 1.57);
        self.part("leaf", JointKind::Revolute, (origin, [0.0, 1.0, 0.0]), way, board, hold);
    }

    fn knobs(&mut self) {
        let count = self.rng.random_range(1..=4);
        let [depth, width, height] =
            [self.draw(0.08, 0.3), 0.12 + f64::from(count) * self.draw(0.09, 0.12), self.draw(0.12, 0.25)];
        self.body("panel", vec![solid([depth, width, height], [0.0, 0.0, height / 2.0])]);
        let apart = (width - 0.06) / f64::from(count);
        for number in 0..count {
            let y = (f64::from(number) + 0.5) * apart - (width - 0.06) / 2.0;
            let (radius, long) = (self.draw(0.018, 0.03), self.draw(0.014, 0.022));
            let face = -depth / 2.0;
            let lying = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2);
            let at = |x: f64| Translation3::new(x, y, 0.55 * height);
            let disc = Solid {
                pose: at(face - long / 2.0) * lying,
                shape: Shape::Cylinder { radius, length: long },
            };
            let grip = solid([0.022, 0.010, 2.2 * radius], [face - long - 0.011, y, 0.55 * height]);
            let hold = [face - long - 0.011, y, 0.55 * height + radius];
            let way = self.draw(1.5, 2.8);
            let origin = [face, y, 0.55 * height];
            self.part("knob", JointKind::Revolute, (origin, [-1.0, 0.0, 0.0]), way, vec![disc, grip], hold);
        }
    }

    /// A moving link that was made in a frame of its own, whose origin and axis are those of the joint.
    fn turned_part(
        &mut self,
        class: &str,
        frame: Isometry3<f64>,
        axis: Vector3<f64>,
        way: f64,
        solids: Vec<Solid>,
        hold: [f64; 3],
    ) {
        let solids = solids.into_iter().map(|solid| Solid { pose: frame * solid.pose, ..solid }).collect();
        let at = frame.translation;
        let (axis, hold) = (frame.rotation * axis, frame * Point3::from(hold));
        let joint = ([at.x, at.y, at.z], [axis.x, axis.y, axis.z]);
        self.part(class, JointKind::Revolute, joint, way, solids, [hold.x, hold.y, hold.z]);
    }

    fn skewed(&mut self) {
        if self.rng.random_bool(0.5) { self.desk() } else { self.tapered() }
    }

    /// Low in front; its lid lies on the slope and is hinged at the back, one in two on a line that is not level.
    fn desk(&mut self) {
        let [depth, width, front] = [self.draw(0.25, 0.4), self.draw(0.35, 0.6), self.draw(0.12, 0.25)];
        let slope = self.draw(0.12, 0.45);
        let board = 0.012;
        let rise = depth * slope.tan();
        let mut solids = vec![
            solid([depth, width, board], [0.0, 0.0, board / 2.0]),
            solid([board, width, front], [(board - depth) / 2.0, 0.0, front / 2.0]),
            solid([board, width, front + rise], [(depth - board) / 2.0, 0.0, (front + rise) / 2.0]),
        ];
        for side in [-1.0, 1.0] {
            let y = side * (width - board) / 2.0;
            // Steps below the slope.
            for step in 0..4 {
                let share = (f64::from(step) + 0.5) / 4.0;
                let high = front + rise * (share - 0.125);
                solids.push(solid([depth / 4.0, board, high], [depth * (share - 0.5), y, high / 2.0]));
            }
        }
        self.body("desk", solids);
        let yaw = if self.rng.random_bool(0.5) { self.draw(0.08, 0.25) } else { 0.0 };
        let long = depth / slope.cos() - if yaw > 0.0 { 0.5 * width * yaw.tan() } else { 0.0 };
        let thick = self.draw(0.012, 0.02);
        let frame = Isometry3::from_parts(
            Translation3::new(depth / 2.0, 0.0, front + rise),
            UnitQuaternion::from_axis_angle(&Vector3::y_axis(), -slope)
                * UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw),
        ) * Translation3::new(if yaw > 0.0 { -0.5 * width * yaw.sin() } else { 0.0 }, 0.0, 0.0);
        let lid = vec![
            solid([long, width, thick], [-long / 2.0, 0.0, thick / 2.0]),
            solid([0.03, 0.3 * width, 0.5 * thick], [-long - 0.015, 0.0, thick / 2.0]),
        ];
        let way = self.draw(1.0, 1.7);
        self.turned_part("lid", frame, Vector3::y(), way, lid, [-long - 0.015, 0.0, thick / 2.0]);
    }

    /// Narrower at the top; its door is hinged at a side that leans.
    fn tapered(&mut self) {
        let [depth, width, height] = [self.draw(0.2, 0.4), self.draw(0.35, 0.55), self.draw(0.35, 0.7)];
        let lean = self.draw(0.08, 0.25).min(0.3 * width / height);
        let board = 0.014;
        let top = width - 2.0 * height * lean.tan();
        let mut solids = vec![
            solid([depth, width, board], [0.0, 0.0, board / 2.0]),
            solid([depth, top, board], [0.0, 0.0, height - board / 2.0]),
            solid([board, (width + top) / 2.0, height], [(depth - board) / 2.0, 0.0, height / 2.0]),
        ];
        for side in [-1.0, 1.0] {
            let pose = Isometry3::from_parts(
                Translation3::new(0.0, side * (width + top) / 4.0, height / 2.0),
                UnitQuaternion::from_axis_angle(&Vector3::x_axis(), side * lean),
            );
            let shape = Shape::Box(Vector3::new(depth, board, height / lean.cos()));
            solids.push(Solid { pose, shape });
        }
        self.body("cabinet", solids);
        let side = if self.rng.random_bool(0.5) { 1.0 } else { -1.0 };
        let frame = Isometry3::from_parts(
            Translation3::new(-depth / 2.0, side * (width + top) / 4.0, height / 2.0),
            UnitQuaternion::from_axis_angle(&Vector3::x_axis(), side * lean),
        );
        let (wide, high) = (0.95 * top.max(0.15), 0.9 * height);
        let mut door = vec![solid([0.016, wide, high], [-0.008, -side * wide / 2.0, 0.0])];
        let (bar, hold) = self.bar(-0.016, [-side * (wide - 0.04), 0.0], 0.12, true);
        door.extend(bar);
        let way = self.draw(1.3, 2.0);
        self.turned_part("door", frame, -side * Vector3::z(), way, door, hold);
    }

    fn ajar(&mut self) {
        match self.rng.random_range(0..4) {
            0 => self.drawers(),
            1 => self.cabinet(),
            2 => self.chest(),
            _ => self.oven(),
        }
        // Found there: that is 0.
        for number in 0..self.joints.len() {
            let share = self.draw(0.15, 0.6);
            let joint = &mut self.joints[number];
            let at = share * joint.limits[1];
            joint.limits = [-at, joint.limits[1] - at];
            match joint.kind {
                JointKind::Prismatic => joint.origin += joint.axis.into_inner() * at,
                _ => {
                    let turn = UnitQuaternion::from_axis_angle(&joint.axis, at);
                    let link = &mut self.links[joint.child];
                    link.solids.iter_mut().for_each(|solid| solid.pose = turn * solid.pose);
                    self.holds[number] = turn * self.holds[number];
                }
            }
        }
    }

    fn tap(&mut self) {
        let height = self.draw(0.16, 0.28);
        let pipe = Solid {
            pose: Translation3::new(0.0, 0.0, height / 2.0).into(),
            shape: Shape::Cylinder { radius: self.draw(0.016, 0.024), length: height },
        };
        let spout = solid([self.draw(0.12, 0.2), 0.022, 0.022], [-0.07, 0.0, height - 0.05]);
        let foot = solid([0.1, 0.1, 0.012], [0.0, 0.0, 0.006]);
        self.body("tap", vec![pipe, spout, foot]);
        let long = self.draw(0.09, 0.15);
        let side = if self.rng.random_bool(0.5) { 1.0 } else { -1.0 };
        let lever = vec![
            solid([0.018, long, 0.014], [0.0, side * long / 2.0, height + 0.014]),
            solid([0.034, 0.034, 0.014], [0.0, 0.0, height + 0.007]),
        ];
        let hold = [0.0, side * long * 0.9, height + 0.014];
        let way = self.draw(0.9, 1.6);
        self.part("lever", JointKind::Revolute, ([0.0, 0.0, height], [0.0, 0.0, side]), way, lever, hold);
    }
}

/// Draws a thing of a kind and where it stands: in front of a camera at the origin's side, as a robot would have it.
pub fn thing(kind: Kind, rng: &mut ChaCha8Rng) -> Thing {
    let yaw = rng.random_range(-0.6..0.6);
    let at =
        Vector3::new(rng.random_range(0.75..1.05), rng.random_range(-0.2..0.2), rng.random_range(0.0..0.5));
    let mut maker = Maker { rng, links: Vec::new(), joints: Vec::new(), holds: Vec::new() };
    match kind {
        Kind::Drawers => maker.drawers(),
        Kind::Door => maker.cabinet(),
        Kind::Chest => maker.chest(),
        Kind::Knobs => maker.knobs(),
        Kind::Microwave => maker.microwave(),
        Kind::Oven => maker.oven(),
        Kind::Sliding => maker.sliding(),
        Kind::Folding => maker.folding(),
        Kind::Tap => maker.tap(),
        Kind::Skewed => maker.skewed(),
        Kind::Ajar => maker.ajar(),
    }
    let Maker { links, joints, holds, .. } = maker;
    let model = Model { name: kind.name().to_owned(), links, joints };
    Thing { kind, model, map_from_model: Isometry3::new(at, Vector3::z() * yaw), holds }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn every_kind_is_a_model_that_is_held_and_moves() {
        for kind in Kind::ALL {
            for seed in 0..5 {
                let thing = thing(kind, &mut ChaCha8Rng::seed_from_u64(seed));
                assert_eq!(thing.model.check(), Ok(()), "{kind:?}");
                assert_eq!(thing.holds.len(), thing.model.joints.len());
                for (joint, hold) in thing.model.joints.iter().zip(&thing.holds) {
                    assert!(thing.model.links[joint.child].distance(hold) < 0.01, "{kind:?}");
                    let moved = joint.at(joint.limits[1]) * hold;
                    let began = joint.at(0.0) * hold;
                    assert!((moved - began).norm() > 0.02, "{kind:?}");
                }
            }
        }
    }
}
