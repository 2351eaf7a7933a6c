//! Where the fixtures of a task stand: near where LIBERO has them, usable from where the robot is.

/// Step of the search for a place, metres.
const STEP: f64 = 0.02;
/// Farthest to the left and right that a fixture's middle may be, metres.
const ASIDE: f64 = 0.40;
/// Farthest from the robot's axis at which the arm still works on top of a fixture, metres; farther is worth
/// `TOO_FAR` metres off the wanted place for each metre.
const REACH: f64 = 0.64;
const TOO_FAR: f64 = 3.0;
/// What a metre by which objects have to give way is worth, in metres off the wanted place.
const GIVE_WAY: f64 = 3.0;

/// A rectangle of the table, along the axes of `link_base`, metres.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rectangle {
    pub(super) middle: [f64; 2],
    pub(super) half: [f64; 2],
}

impl Rectangle {
    /// How far it must move to be free of another, metres; 0 when it is.
    fn overlap(&self, other: &Self) -> f64 {
        let deep = |i: usize| self.half[i] + other.half[i] - (self.middle[i] - other.middle[i]).abs();
        deep(0).min(deep(1)).max(0.0)
    }
}

/// A fixture that needs a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'t> {
    pub(super) name: &'t str,
    pub(super) category: &'t str,
    /// Where LIBERO has it, metres in `link_base`.
    pub(super) at: [f64; 2],
    /// Whether the task has something on its top, at first or in the end.
    pub(super) is_top_used: bool,
}

/// A fixture with its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'t> {
    pub(super) name: &'t str,
    pub(super) category: &'t str,
    /// Its origin, metres in `link_base`; its front looks at the robot.
    pub(super) at: [f64; 2],
    /// What it covers, with the room it needs before its front.
    pub(super) ground: Rectangle,
}

/// What a fixture needs.
#[derive(Clone, Copy)]
struct Needs {
    /// Half of what it covers, metres.
    half: [f64; 2],
    /// What must stay free before its front for doors and drawers and the hand at them, metres.
    front: f64,
    /// Where its middle may be in x, metres.
    x: [f64; 2],
}

/// A cabinet stands where its fronts are seen and its drawers reached; one on whose top something is or shall be stands nearer,
/// as the arm reaches less far up there.
fn needs(category: &str, is_top_used: bool) -> Needs {
    let (half, front, x) = match category {
        name if name.contains("cabinet") => {
            ([0.115, 0.16], 0.19, if is_top_used { [0.58, 0.64] } else { [0.70, 0.76] })
        }
        "microwave" => ([0.17, 0.20], 0.14, [0.70, 0.76]),
        name if name.contains("shelf") => ([0.11, 0.17], 0.06, [0.58, 0.70]),
        "desk_caddy" => ([0.10, 0.15], 0.0, [0.40, 0.60]),
        "flat_stove" => ([0.115, 0.15], 0.0, [0.36, 0.58]),
        _ => ([0.085, 0.085], 0.0, [0.34, 0.60]),
    };
    Needs { half, front, x }
}

impl Needs {
    fn ground(&self, [x, y]: [f64; 2]) -> Rectangle {
        Rectangle { middle: [x - self.front / 2.0, y], half: [self.half[0] + self.front / 2.0, self.half[1]] }
    }

    /// The place nearest to the wanted one that covers no ground that is taken and as little of the objects' as may be.
    fn station(&self, wanted: [f64; 2], taken: &[Rectangle], objects: &[Rectangle]) -> Option<[f64; 2]> {
        let steps = |low: f64, high: f64| {
            let count = ((high - low) / STEP + 1e-6).floor() as u32;
            (0..=count).map(move |step| low + f64::from(step) * STEP)
        };
        let cost = |at: &[f64; 2]| {
            let off = (at[0] - wanted[0]).hypot(at[1] - wanted[1]);
            let covered: f64 = objects.iter().map(|object| self.ground(*at).overlap(object)).sum();
            off + TOO_FAR * (at[0].hypot(at[1]) - REACH).max(0.0) + GIVE_WAY * covered
        };
        steps(self.x[0], self.x[1])
            .flat_map(|x| steps(-ASIDE, ASIDE).map(move |y| [x, y]))
            .filter(|at| taken.iter().all(|other| self.ground(*at).overlap(other) <= 0.0))
            .min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }
}

/// A place for each fixture; objects give way where they must. Those with fronts choose first, and
/// do without the room before them where there is none.
///
/// Errors: the name of the first that finds no place.
pub(super) fn stations<'t>(
    fixtures: &[Wanted<'t>],
    objects: &[Rectangle],
) -> Result<Vec<Placed<'t>>, &'t str> {
    let mut grounds: Vec<Rectangle> = Vec::new();
    let mut fixtures: Vec<(Needs, &Wanted<'t>)> =
        fixtures.iter().map(|wanted| (needs(wanted.category, wanted.is_top_used), wanted)).collect();
    fixtures.sort_by(|a, b| b.0.front.total_cmp(&a.0.front).then(a.1.name.cmp(b.1.name)));
    let mut placed = Vec::new();
    for (full, wanted) in fixtures {
        let bare = Needs { front: 0.0, ..full };
        let found = [full, bare]
            .into_iter()
            .find_map(|needs| Some((needs, needs.station(wanted.at, &grounds, objects)?)));
        let (needs, at) = found.ok_or(wanted.name)?;
        let ground = needs.ground(at);
        grounds.push(ground);
        placed.push(Placed { name: wanted.name, category: wanted.category, at, ground });
    }
    Ok(placed)
}
