//! Models of the catalogue: links of pieces, joints, states; or one plain shape.

use super::shape::{SHAPES, read_size};
use super::{non_empty, probability, read_color};
use crate::body::{ConvexPart, PartName, object_parts};
use crate::scene::material::default_mass;
use crate::scene::model::{Joint, JointKind, Latch, Link, Model, Spring, StateRule};
use crate::scene::template::Paint;
use crate::scene::{Color, DEFAULT_FRICTION, Shape};
use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use prehend_config::{Map, Value, nearest};
use std::sync::Arc;

/// Wall of the tray that stands for the room in a link, metres.
const INSIDE_WALL: f64 = 0.002;

/// A model with the numbers of its parameters.
#[derive(Clone, Debug)]
pub(super) struct Blueprint {
    pub(super) class: String,
    pub(super) shape: Shape,
    pub(super) color: Color,
    pub(super) color_name: Option<String>,
    pub(super) second_color: Option<Color>,
    pub(super) mass: f64,
    pub(super) friction: f64,
    pub(super) restitution: f64,
    pub(super) fixed: bool,
    pub(super) model: Option<Model>,
}

/// The colours of a model.
#[derive(Clone, Copy)]
struct Colors {
    main: Color,
    second: Option<Color>,
}

pub(super) fn read_blueprint(value: &Value<'_>, paint: &Paint) -> Option<Blueprint> {
    value.map(|map| {
        // Read before, so that the numbers below can use them.
        map.opt("parameters");
        let class = map.req("class").and_then(|value| non_empty(&value)).map(|class| class.to_lowercase());
        let own = map.req("color").and_then(|value| read_color(&value));
        let second = match map.opt("second_color") {
            Some(value) => read_color(&value).map(|(color, _)| Some(color)),
            None => Some(None),
        };
        let (color, color_name) = paint.color.clone().or(own)?;
        let second_color = paint.second.or(second?);
        let colors = Colors { main: color, second: second_color };
        let friction = map.or("friction", DEFAULT_FRICTION, |value| value.f64_in(0.0, 3.0));
        let restitution = map.or("restitution", 0.0, probability);
        let articulated = map.has("links");
        let fixed = map.or("fixed", false, |value| value.bool());
        let (shape, mass, model) = if articulated {
            let model = read_model(map, colors, friction?)?;
            let mass = model.links.iter().map(|link| link.mass).sum();
            (model.links.first()?.shape, mass, Some(model))
        } else {
            let (shape, mass) = read_plain(map)?;
            (shape, mass, None)
        };
        Some(Blueprint {
            class: class?,
            shape,
            color,
            color_name,
            second_color,
            mass,
            friction: friction?,
            restitution: restitution?,
            fixed: fixed?,
            model,
        })
    })
}

fn read_plain(map: &mut Map<'_>) -> Option<(Shape, f64)> {
    let kind = map.req("shape").and_then(|value| value.choice(SHAPES));
    let size = map.opt("size");
    let shape = read_size(kind?, size.as_ref());
    let mass = match map.opt("mass") {
        Some(value) => value.f64_in(0.001, 50.0),
        None => shape.map(|shape| default_mass(&shape)),
    };
    Some((shape?, mass?))
}

fn read_model(map: &mut Map<'_>, colors: Colors, friction: f64) -> Option<Model> {
    let links_value = map.req("links");
    let links = links_value
        .as_ref()
        .and_then(|value| value.list(|item| item.map(|map| read_link(map, colors, friction))));
    let joints_value = map.opt("joints");
    let states_value = map.opt("states");
    let links = links?;
    let Some(links_value) = links_value.filter(|_| !links.is_empty()) else {
        map.report("a model has at least one link");
        return None;
    };
    if let Some(name) = repeated(links.iter().map(|link| link.name.as_str())) {
        links_value.report(format!("two links are called `{name}`"));
        return None;
    }
    let joints = match &joints_value {
        Some(value) => value.list(|item| item.map(|map| read_joint(map, &links)))?,
        None => Vec::new(),
    };
    if let Some(name) = repeated(joints.iter().map(|joint| joint.name.as_str())) {
        map.report(format!("two joints are called `{name}`"));
        return None;
    }
    for (index, link) in links.iter().enumerate() {
        let moving = joints.iter().filter(|joint| joint.child == index).count();
        let wanted = usize::from(index > 0);
        if moving != wanted {
            links_value.report(match index {
                0 => format!("the first link, `{}`, is the root: no joint may move it", link.name),
                _ => format!("`{}` is moved by {moving} joints; every link but the first has one", link.name),
            });
            return None;
        }
    }
    let states = match states_value {
        Some(value) => value.list(|item| item.map(|map| read_state(map, &joints)))?,
        None => Vec::new(),
    };
    Some(Model { links, joints, states })
}

fn repeated<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut seen: Vec<&str> = Vec::new();
    names
        .find(|name| {
            let again = seen.contains(name);
            seen.push(name);
            again
        })
        .map(str::to_owned)
}

/// A piece of a link while it is read.
struct Piece {
    shape: Shape,
    link_from_piece: Isometry3<f64>,
    parts: Vec<ConvexPart>,
    is_region: bool,
}

fn read_link(map: &mut Map<'_>, colors: Colors, friction: f64) -> Option<Link> {
    let name = map.req("name").and_then(|value| non_empty(&value));
    let class = match map.opt("class") {
        Some(value) => non_empty(&value).map(|class| Some(class.to_lowercase())),
        None => Some(None),
    };
    let mass = map.opt("mass").map(|value| value.f64_in(0.001, 100.0));
    let friction = map.or("friction", friction, |value| value.f64_in(0.0, 3.0));
    let pieces =
        map.req("pieces").and_then(|value| value.list(|item| item.map(|map| read_piece(map, colors))));
    let inside = match map.opt("inside") {
        Some(value) => value.map(read_inside).map(Some),
        None => Some(None),
    };
    let pieces = pieces?;
    let inside = inside?;
    let is_enclosed = inside.is_some();
    let Some((shape, link_from_shape)) = inside.or_else(|| stand_in(&pieces)) else {
        map.report("a link has at least one piece that can be felt");
        return None;
    };
    let parts: Vec<ConvexPart> = pieces.into_iter().flat_map(|piece| piece.parts).collect();
    let mass = match mass {
        Some(mass) => mass?,
        None => {
            let felt = parts.iter().filter(|part| !part.only_seen);
            let volume: f64 = felt.map(|part| part.shape.volume()).sum();
            (volume * crate::scene::DEFAULT_DENSITY).max(0.02)
        }
    };
    Some(Link {
        name: name?,
        class: class?,
        parts,
        shape,
        link_from_shape,
        is_enclosed,
        mass,
        friction: friction?,
    })
}

/// The room in a link that has a roof, as a box of `size` around `at`.
fn read_inside(map: &mut Map<'_>) -> Option<(Shape, Isometry3<f64>)> {
    let size = map.req("size").and_then(|value| super::lengths::<3>(&value, 3.0));
    let place = read_place(map);
    Some((Shape::Tray { size: size?, wall: INSIDE_WALL }, place?))
}

/// The shape that stands for a link: its hollow piece, its only one, or the box around all that is no region.
fn stand_in(pieces: &[Piece]) -> Option<(Shape, Isometry3<f64>)> {
    let felt = |piece: &&Piece| piece.parts.iter().any(|part| !part.only_seen);
    let mut bodies: Vec<&Piece> = pieces.iter().filter(felt).filter(|piece| !piece.is_region).collect();
    if bodies.is_empty() {
        bodies = pieces.iter().filter(felt).collect();
    }
    let hollow = bodies.iter().find(|piece| piece.shape.hollow().is_some());
    if let Some(piece) = hollow.or(bodies.first().filter(|_| bodies.len() == 1)) {
        return Some((piece.shape, piece.link_from_piece));
    }
    let (mut low, mut high) = (Point3::from([f64::MAX; 3]), Point3::from([f64::MIN; 3]));
    for part in bodies.iter().flat_map(|piece| &piece.parts).filter(|part| !part.only_seen) {
        for vertex in part.shape.mesh().vertices {
            let vertex = part.body_from_part * vertex;
            low = low.inf(&vertex);
            high = high.sup(&vertex);
        }
    }
    let center = nalgebra::center(&low, &high);
    (!bodies.is_empty())
        .then(|| (Shape::Box { size: (high - low).into() }, Translation3::from(center.coords).into()))
}

fn read_piece(map: &mut Map<'_>, colors: Colors) -> Option<Piece> {
    let kind = map.req("shape").and_then(|value| value.choice(SHAPES));
    let size = map.opt("size");
    let shape = kind.and_then(|kind| read_size(kind, size.as_ref()));
    let link_from_piece = read_place(map);
    let color =
        map.or("color", colors.main, |value| match value.text().filter(|_| !value.is_list()).as_deref() {
            Some("main") => Some(colors.main),
            Some("second") => Some(colors.second.unwrap_or(colors.main)),
            _ => read_color(&value).map(|(color, _)| color),
        });
    let second = match map.opt("second_color") {
        Some(value) => read_color(&value).map(|(color, _)| Some(color)),
        None => Some(None),
    };
    let region = match map.opt("part") {
        Some(value) => read_region(&value).map(Some),
        None => Some(None),
    };
    let only_seen = map.or("painted", false, |value| value.bool());
    let (region, link_from_piece, shape) = (region?, link_from_piece?, shape?);
    let only_seen = only_seen?;
    let parts = object_parts(&shape, color?, second?)
        .into_iter()
        .map(|part| {
            let region = region.clone().or_else(|| part.region.clone());
            let only_seen = only_seen || part.only_seen;
            let body_from_part = link_from_piece * part.body_from_part;
            ConvexPart { body_from_part, only_seen, region, ..part }
        })
        .collect();
    Some(Piece { shape, link_from_piece, parts, is_region: region.is_some() })
}

/// A region by its class, or `{name, class}`.
fn read_region(value: &Value<'_>) -> Option<PartName> {
    if !value.is_map() {
        return Some(PartName::named(&non_empty(value)?.to_lowercase()));
    }
    value.map(|map| {
        let name = map.req("name").and_then(|value| non_empty(&value));
        let class = map.req("class").and_then(|value| non_empty(&value));
        Some(PartName { name: Arc::from(name?), class: Arc::from(class?.to_lowercase()) })
    })
}

/// `at` and `rpy`, both optional.
fn read_place(map: &mut Map<'_>) -> Option<Isometry3<f64>> {
    let at = map.or("at", [0.0; 3], |value| value.numbers::<3>());
    let rpy = map.or("rpy", [0.0; 3], |value| value.numbers::<3>());
    let ([x, y, z], [r, p, w]) = (at?, rpy?);
    if [x, y, z].iter().any(|number| number.abs() > 3.0) {
        map.report("a place more than 3 m from the link's origin");
        return None;
    }
    Some(Isometry3::from_parts(Translation3::new(x, y, z), UnitQuaternion::from_euler_angles(r, p, w)))
}

fn link_index(value: &Value<'_>, links: &[Link]) -> Option<usize> {
    let name = value.text()?;
    let found = links.iter().position(|link| link.name == name);
    if found.is_none() {
        match nearest(&name, links.iter().map(|link| link.name.as_str())) {
            Some(near) => value.report(format!("there is no link `{name}`; did you mean `{near}`?")),
            None => value.report(format!("there is no link `{name}`")),
        }
    }
    found
}

fn read_joint(map: &mut Map<'_>, links: &[Link]) -> Option<Joint> {
    let kinds = [("prismatic", JointKind::Prismatic), ("revolute", JointKind::Revolute)];
    let name = map.req("name").and_then(|value| non_empty(&value));
    let kind = map.req("type").and_then(|value| value.choice(&kinds));
    let parent = map.or("parent", 0, |value| link_index(&value, links));
    let child_value = map.req("child");
    let child = child_value.as_ref().and_then(|value| link_index(value, links));
    let place = read_place(map);
    let axis = map.req("axis").and_then(|value| {
        let axis = Unit::try_new(Vector3::from(value.numbers::<3>()?), 1e-6);
        if axis.is_none() {
            value.report("an axis is not [0, 0, 0]");
        }
        axis
    });
    let limits = map.req("limits").and_then(|value| super::interval(&value, -10.0, 10.0));
    let position_value = map.opt("position");
    let position = match (&position_value, limits) {
        (Some(value), Some([low, high])) => value.f64_in(low, high),
        (Some(value), None) => value.f64(),
        (None, limits) => limits.map(|[low, high]| 0.0_f64.clamp(low, high)),
    };
    let friction = map.or("friction", 0.0, |value| value.f64_in(0.0, 1000.0));
    let damping = map.or("damping", 0.0, |value| value.f64_in(0.0, 10_000.0));
    let spring = match map.opt("spring") {
        Some(value) => value.map(read_spring).map(Some),
        None => Some(None),
    };
    let latch = match map.opt("latch") {
        Some(value) => value.map(read_latch).map(Some),
        None => Some(None),
    };
    let locked = map.or("locked", false, |value| value.bool());
    let breaks_at = match map.opt("breaks_at") {
        Some(value) => value.f64_in(0.1, 1000.0).map(Some),
        None => Some(None),
    };
    let (parent, child) = (parent?, child?);
    if parent >= child {
        if let Some(value) = child_value {
            value.report("a link stands behind its parent in the list of links");
        }
        return None;
    }
    Some(Joint {
        name: name?,
        kind: kind?,
        parent,
        child,
        parent_from_joint: place?,
        axis: axis?,
        limits: limits?,
        position: position?,
        friction: friction?,
        damping: damping?,
        spring: spring?,
        latch: latch?,
        locked: locked?,
        breaks_at: breaks_at?,
    })
}

fn read_spring(map: &mut Map<'_>) -> Option<Spring> {
    let stiffness = map.req("stiffness").and_then(|value| value.f64_in(0.0, 100_000.0));
    let rest = map.or("rest", 0.0, |value| value.f64_in(-10.0, 10.0));
    Some(Spring { stiffness: stiffness?, rest: rest? })
}

fn read_latch(map: &mut Map<'_>) -> Option<Latch> {
    let at = map.or("at", 0.0, |value| value.f64_in(-10.0, 10.0));
    let range = map.or("range", 0.005, |value| value.f64_in(0.0, 3.0));
    let force = map.req("force").and_then(|value| value.f64_in(0.0, 1000.0));
    Some(Latch { at: at?, range: range?, force: force? })
}

fn read_state(map: &mut Map<'_>, joints: &[Joint]) -> Option<StateRule> {
    let state = map.req("state").and_then(|value| non_empty(&value));
    let joint = map.req("joint").and_then(|value| {
        let name = value.text()?;
        let found = joints.iter().position(|joint| joint.name == name);
        if found.is_none() {
            match nearest(&name, joints.iter().map(|joint| joint.name.as_str())) {
                Some(near) => value.report(format!("there is no joint `{name}`; did you mean `{near}`?")),
                None => value.report(format!("there is no joint `{name}`")),
            }
        }
        found
    });
    let mut bound = |key: &'static str| match map.opt(key) {
        Some(value) => value.f64().map(Some),
        None => Some(None),
    };
    let (above, below) = (bound("above"), bound("below"));
    let (above, below) = (above?, below?);
    if above.is_none() && below.is_none() {
        map.report("when does it hold? give `above`, `below` or both");
        return None;
    }
    Some(StateRule { state: state?, joint: joint?, above, below })
}
