//! What each tabletop task is made of.

use super::articulated;
use super::draft::{Draft, always, one_of};
use super::scene::{ANYWHERE, Area, Placed, Thing, distractors};
use super::score::Subject;
use super::task::TabletopTask;
use crate::goal::{GoalSpec, Predicate};
use crate::scenario::catalogue::{CLASSES, Class, Item, Role, class};
use crate::scenario::sentence::{Destination, pick, pick_up, plural, put};
use rand::{Rng, RngExt};

/// Where flat things with keys or plugs lie: in view, and below the hand that points down.
const MIDDLE: Area = Area { x: [0.37, 0.46], y: [-0.12, 0.12] };
/// Where cabinets stand, so that their fronts are in reach.
const BACK: Area = Area { x: [0.73, 0.76], y: [-0.08, 0.08] };
/// Where other things stand before a cabinet, clear of its drawers.
const FRONT: Area = Area { x: [0.27, 0.36], y: [-0.30, 0.30] };
/// Least distance along y between a toy and the next one, metres, for left and right to be clear.
const APART: f64 = 0.08;

/// A new table for a task.
pub(super) fn draft(rng: &mut impl Rng, task: TabletopTask) -> Draft {
    match task {
        TabletopTask::RingBell => pressed(
            rng,
            "desk bell",
            "desk_bell",
            0.055,
            ANYWHERE,
            "bell: [bowl, can]",
            &["ring the desk bell", "ring the bell", "can you ring the desk bell?", "press the desk bell"],
        ),
        TabletopTask::PressSpaceBar => {
            let sentences = [
                "press the space bar",
                "push the space bar",
                "press the space bar on the keyboard",
                "press the keyboard's space bar",
            ];
            let mut draft =
                pressed(rng, "keyboard", "keyboard", 0.15, MIDDLE, "keyboard: [tray]", &sentences);
            draft.spec = GoalSpec::world(vec![Predicate::WasInState {
                object: "keyboard/space bar".to_owned(),
                state: "pressed".to_owned(),
            }]);
            draft
        }
        TabletopTask::Unplug => taken_off(
            rng,
            "power strip",
            "power_strip",
            "plug",
            "unplugged",
            "power strip: [box], power plug: [block]",
            &[
                "unplug the power adapter",
                "unplug the power plug",
                "pull the plug out of the power strip",
                "unplug the plug",
            ],
        ),
        TabletopTask::RemoveThumbtack => taken_off(
            rng,
            "board",
            "thumbtack_board",
            "thumbtack",
            "removed",
            "board: [book], thumbtack: [button]",
            &[
                "remove the thumbtack",
                "pull out the thumbtack",
                "take the thumbtack out of the board",
                "remove the thumbtack from the board",
            ],
        ),
        TabletopTask::OpenDrawerByBar => opened(rng, "drawer_cabinet"),
        TabletopTask::OpenDrawerByKnob => opened(rng, "knob_cabinet"),
        TabletopTask::CloseDrawer => closed(rng),
        TabletopTask::PickSide => side(rng),
        TabletopTask::PickLargest => sized(rng, true),
        TabletopTask::PickSmallest => sized(rng, false),
        TabletopTask::MugByHandle => by_handle(rng, "mug"),
        TabletopTask::PanByHandle => by_handle(rng, "pan"),
        TabletopTask::PutIn => put_in(rng),
        TabletopTask::PutLeftOf => put_left_of(rng),
        TabletopTask::Stack => stack(rng),
        TabletopTask::OpenDoor
        | TabletopTask::CloseDoor
        | TabletopTask::KnobOn
        | TabletopTask::KnobOff
        | TabletopTask::LeverOn
        | TabletopTask::LeverOff
        | TabletopTask::SwitchOn
        | TabletopTask::SwitchOff => articulated::draft(rng, task),
    }
}

/// The classes' own confusions, as a scene file has them.
fn confusions_of(classes: &[&Class]) -> String {
    classes
        .iter()
        .map(|class| format!("{}: [{}]", class.noun, class.confusions.join(", ")))
        .collect::<Vec<_>>()
        .join(", ")
}

fn acted_on(objects: &[&str]) -> Subject {
    let objects = objects.iter().map(|name| (*name).to_owned()).collect();
    Subject { objects, acted_on: true, ..Subject::default() }
}

fn picked(object: &str, has_handle: bool) -> Subject {
    Subject { objects: vec![object.to_owned()], has_handle, ..Subject::default() }
}

/// Something to press, among other things.
fn pressed(
    rng: &mut impl Rng,
    name: &str,
    model: &str,
    reach: f64,
    area: Area,
    confusions: &str,
    sentences: &[&str],
) -> Draft {
    let mut things = vec![Thing::model(name, model, reach, area, [-0.5, 0.5])];
    let count = rng.random_range(2..=4);
    things.extend(distractors(rng, count, &[], ANYWHERE));
    let predicate = Predicate::WasInState { object: name.to_owned(), state: "pressed".to_owned() };
    Draft {
        things,
        confusions: confusions.to_owned(),
        sentence: one_of(rng, sentences),
        spec: GoalSpec::world(vec![predicate]),
        subject: acted_on(&[name]),
        is_clear: always,
    }
}

/// A link that holds until it is pulled off.
fn taken_off(
    rng: &mut impl Rng,
    name: &str,
    model: &str,
    link: &str,
    state: &str,
    confusions: &str,
    sentences: &[&str],
) -> Draft {
    let mut things = vec![Thing::model(name, model, 0.13, MIDDLE, [-1.2, 1.2])];
    let count = rng.random_range(1..=3);
    things.extend(distractors(rng, count, &[], ANYWHERE));
    let object = format!("{name}/{link}");
    let predicate = Predicate::InState { object: object.clone(), state: state.to_owned() };
    Draft {
        things,
        confusions: confusions.to_owned(),
        sentence: one_of(rng, sentences),
        spec: GoalSpec {
            may_move: vec![object.clone(), name.to_owned()],
            ..GoalSpec::world(vec![predicate])
        },
        subject: acted_on(&[&object]),
        is_clear: always,
    }
}

fn cabinet(rng: &mut impl Rng, model: &str) -> Vec<Thing> {
    let mut things = vec![Thing::model("cabinet", model, 0.19, BACK, [-0.12, 0.12])];
    let count = rng.random_range(1..=3);
    // Nothing tall: a drawer comes out over it.
    let tall = ["bottle", "can", "box", "jar", "mug"];
    things.extend(distractors(rng, count, &tall, FRONT));
    things
}

fn opened(rng: &mut impl Rng, model: &str) -> Draft {
    let which = pick(rng, &["top", "middle"]);
    let object = format!("cabinet/{which} drawer");
    let sentence = match rng.random_range(0..4) {
        0 => format!("open the {which} drawer"),
        1 => format!("pull out the {which} drawer"),
        2 => format!("open the {which} drawer of the cabinet"),
        _ => format!("please open the {which} drawer"),
    };
    let predicate = Predicate::InState { object: object.clone(), state: "open".to_owned() };
    Draft {
        things: cabinet(rng, model),
        confusions: "cabinet: [box], drawer: [box]".to_owned(),
        sentence,
        spec: GoalSpec::world(vec![predicate]),
        subject: Subject { has_handle: true, ..acted_on(&[&object]) },
        is_clear: always,
    }
}

fn closed(rng: &mut impl Rng) -> Draft {
    let which = pick(rng, &["top", "middle"]);
    let model = pick(rng, &["drawer_cabinet", "knob_cabinet", "edge_cabinet"]);
    // The cabinet with edges has no middle drawer.
    let which = if model == "edge_cabinet" { "top" } else { which };
    let mut things = cabinet(rng, model);
    if let Some(cabinet) = things.first_mut() {
        *cabinet = cabinet.clone().with(&format!("joints: {{{which}: {{position: [0.09, 0.13]}}}}"));
    }
    let object = format!("cabinet/{which} drawer");
    let sentence = match rng.random_range(0..4) {
        0 => "close the drawer".to_owned(),
        1 => "close the open drawer".to_owned(),
        2 => format!("close the {which} drawer"),
        _ => format!("push the {which} drawer in"),
    };
    let predicate = Predicate::InState { object: object.clone(), state: "closed".to_owned() };
    Draft {
        things,
        confusions: "cabinet: [box], drawer: [box]".to_owned(),
        sentence,
        spec: GoalSpec::world(vec![predicate]),
        subject: acted_on(&[&object]),
        is_clear: always,
    }
}

/// A kind of toy: its noun, a thing of a size between 0 and 1, and what it is taken for.
#[derive(Clone, Copy)]
enum Toy {
    Model(&'static str, &'static str, [f64; 2], f64),
    Class(&'static str),
}

const TOYS: [Toy; 4] = [
    Toy::Model("rubber duck", "rubber_duck", [0.021, 0.032], 1.6),
    Toy::Model("toy car", "toy_car", [0.036, 0.056], 1.0),
    Toy::Class("ball"),
    Toy::Class("block"),
];

impl Toy {
    fn noun(self) -> &'static str {
        match self {
            Self::Model(noun, ..) | Self::Class(noun) => noun,
        }
    }

    fn thing(self, rng: &mut impl Rng, name: &str, size: f64) -> Thing {
        match self {
            Self::Model(_, model, [low, high], reach) => {
                let value = low + (high - low) * size;
                let color = pick(rng, &["red", "yellow", "green", "blue", "orange"]);
                Thing {
                    seen_to: Some(2.6 * value),
                    yaw: [-3.1, 3.1],
                    ..Thing::model(name, model, reach * value, ANYWHERE, [0.0, 0.0])
                }
                .with(&format!("parameters: {{size: {value:.4}}}, color: {color}"))
            }
            Self::Class(noun) => match class(noun) {
                Some(class) => {
                    let color = class.colors[rng.random_range(0..class.colors.len())];
                    Thing::item(name, &class.item(rng, size, color))
                }
                // Every noun above stands in the catalogue: a test says so.
                None => Thing::model(name, noun, 0.04, ANYWHERE, [0.0, 0.0]),
            },
        }
    }
}

/// Two or three toys of one kind; those of sizes `sizes`, the one that is meant first.
fn toys(rng: &mut impl Rng, sizes: &[f64]) -> (&'static str, Vec<Thing>, String) {
    let toy = TOYS[rng.random_range(0..TOYS.len())];
    let mut things: Vec<Thing> = sizes
        .iter()
        .enumerate()
        .map(|(index, size)| toy.thing(rng, &format!("toy {index}"), *size))
        .collect();
    let count = rng.random_range(1..=3);
    things.extend(distractors(rng, count, &[toy.noun()], ANYWHERE));
    (toy.noun(), things, format!("{}: [figure]", toy.noun()))
}

fn side(rng: &mut impl Rng) -> Draft {
    let size = rng.random_range(0.2..0.8);
    let sizes = vec![size; rng.random_range(2..=3)];
    let (noun, things, confusions) = toys(rng, &sizes);
    let left = rng.random_bool(0.5);
    let word = if left { "left" } else { "right" };
    let sentence = match rng.random_range(0..4) {
        0 => pick_up(rng, &format!("the {word} {noun}")),
        1 => pick_up(rng, &format!("the {noun} on the {word}")),
        2 => pick_up(rng, &format!("the {word}most {noun}")),
        _ => format!("pick the {word} {noun}"),
    };
    let is_left = |placed: &[Placed]| of_toys(placed).all(|other| placed[0].y - other.y >= APART);
    let is_right = |placed: &[Placed]| of_toys(placed).all(|other| other.y - placed[0].y >= APART);
    Draft {
        things,
        confusions,
        sentence,
        spec: GoalSpec::world(vec![Predicate::Held { object: "toy 0".to_owned() }]),
        subject: picked("toy 0", false),
        is_clear: if left { is_left } else { is_right },
    }
}

/// The toys but the first.
fn of_toys(placed: &[Placed]) -> impl Iterator<Item = &Placed> {
    placed.iter().skip(1).filter(|other| other.thing.name.starts_with("toy "))
}

fn sized(rng: &mut impl Rng, largest: bool) -> Draft {
    let (own, others) = if largest { (1.0, [0.0, 0.35]) } else { (0.0, [0.65, 1.0]) };
    let mut sizes = vec![own];
    for _ in 0..rng.random_range(1..=2) {
        sizes.push(rng.random_range(others[0]..=others[1]));
    }
    let (noun, things, confusions) = toys(rng, &sizes);
    let many = sizes.len() > 2;
    let word = match (largest, many, rng.random_bool(0.5)) {
        (true, true, true) => "largest",
        (true, true, false) => "biggest",
        (true, false, true) => "larger",
        (true, false, false) => "large",
        (false, true, true) => "smallest",
        (false, true, false) => "tiniest",
        (false, false, true) => "smaller",
        (false, false, false) => "small",
    };
    let phrase = match rng.random_range(0..3) {
        0 if many => format!("the {word} of the {}", plural(noun)),
        _ => format!("the {word} {noun}"),
    };
    Draft {
        things,
        confusions,
        sentence: pick_up(rng, &phrase),
        spec: GoalSpec::world(vec![Predicate::Held { object: "toy 0".to_owned() }]),
        subject: picked("toy 0", false),
        is_clear: always,
    }
}

fn item(rng: &mut impl Rng, noun: &str) -> Option<Item> {
    class(noun).map(|class| class.any(rng))
}

fn by_handle(rng: &mut impl Rng, noun: &'static str) -> Draft {
    let mut things: Vec<Thing> = item(rng, noun).iter().map(|item| Thing::item(noun, item)).collect();
    let count = rng.random_range(2..=4);
    things.extend(distractors(rng, count, &[noun], ANYWHERE));
    let sentence = match rng.random_range(0..4) {
        0 => format!("pick up the {noun} by its handle"),
        1 => format!("pick the {noun} by the handle"),
        2 => format!("grab the {noun} by its handle"),
        _ => format!("lift the {noun} by the handle"),
    };
    Draft {
        things,
        confusions: class(noun).map(|class| confusions_of(&[class])).unwrap_or_default(),
        sentence,
        spec: GoalSpec::world(vec![Predicate::Held { object: noun.to_owned() }]),
        subject: picked(noun, true),
        is_clear: always,
    }
}

/// A movable thing and one of a role that it fits, each the only one of its class.
fn pair(rng: &mut impl Rng, role: Role) -> (Item, Item) {
    loop {
        let item = CLASSES[rng.random_range(0..CLASSES.len())].any(rng);
        let target = CLASSES[rng.random_range(0..CLASSES.len())].any(rng);
        let fits = match role {
            Role::Container => item.fits(&target),
            _ => item.class.noun != target.class.noun,
        };
        if item.class.movable() && target.class.role == role && fits {
            return (item, target);
        }
    }
}

fn two(rng: &mut impl Rng, item: &Item, target: &Item, to: Destination) -> Draft {
    let (first, second) = (item.class.noun, target.class.noun);
    let mut things = vec![Thing::item("object", item), Thing::item("target", target)];
    let count = rng.random_range(1..=3);
    things.extend(distractors(rng, count, &[first, second], ANYWHERE));
    let destination = to.phrase(rng, &format!("the {second}"));
    Draft {
        things,
        confusions: confusions_of(&[item.class, target.class]),
        sentence: put(rng, &format!("the {first}"), &destination),
        spec: GoalSpec::world(vec![to.predicate("object", "target")]),
        subject: picked("object", false),
        is_clear: always,
    }
}

fn put_in(rng: &mut impl Rng) -> Draft {
    let (item, target) = pair(rng, Role::Container);
    two(rng, &item, &target, Destination::In)
}

fn put_left_of(rng: &mut impl Rng) -> Draft {
    let (item, target) = pair(rng, Role::Thing);
    let draft = two(rng, &item, &target, Destination::Side(crate::place::Side::Left));
    // There must be room to the left of the target, on the table.
    let has_room = |placed: &[Placed]| {
        let (Some(object), Some(target)) = (placed.first(), placed.get(1)) else { return false };
        let near = object.thing.reach + target.thing.reach;
        let y = target.y + near + 0.05;
        y < 0.30
            && object.y < target.y
            && placed[1..].iter().all(|other| {
                (other.x - target.x).hypot(other.y - y) >= other.thing.reach + object.thing.reach + 0.02
            })
    };
    Draft { is_clear: has_room, ..draft }
}

fn stack(rng: &mut impl Rng) -> Draft {
    let Some(block) = class("block") else { return put_in(rng) };
    let top = block.colors[rng.random_range(0..block.colors.len())];
    let others: Vec<&&str> = block.colors.iter().filter(|color| **color != top).collect();
    let bottom = others[rng.random_range(0..others.len())];
    let small = rng.random_range(0.1..0.5);
    let (item, target) = (block.item(rng, small, top), block.item(rng, 0.9, bottom));
    let mut things = vec![Thing::item("object", &item), Thing::item("target", &target)];
    let count = rng.random_range(1..=3);
    things.extend(distractors(rng, count, &["block"], ANYWHERE));
    let (a, b) = (format!("the {top} block"), format!("the {bottom} block"));
    let sentence = match rng.random_range(0..3) {
        0 => format!("stack {a} on {b}"),
        1 => format!("put {a} on top of {b}"),
        _ => format!("place {a} on {b}"),
    };
    let predicate = Predicate::On { object: "object".to_owned(), target: "target".to_owned() };
    Draft {
        things,
        confusions: confusions_of(&[block]),
        sentence,
        spec: GoalSpec::world(vec![predicate]),
        subject: picked("object", false),
        is_clear: always,
    }
}
