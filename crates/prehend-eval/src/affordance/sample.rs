//! One sample: a thing of the object map, the part that is looked for, and the part's own pixels in every view.

use super::scenes::{Kind, Subset, TARGET, scene};
use crate::watch::{Looked, POSES, Watch};
use nalgebra::{Point3, Unit, Vector3};
use prehend_geometry::backproject::point_grid;
use prehend_geometry::plane::Plane;
use prehend_geometry::{Mask, PointCloud};
use prehend_harness::imagination;
use prehend_harness::subject::Subject;
use prehend_perception::MapSettings;
use prehend_perception::evidence::{Knowledge, support_under};
use prehend_perception::parts::working_parts;
use prehend_scene::{ActionTable, Object};
use prehend_sim::world::{ArmModel, DEFAULT_GRIP_FORCE};
use prehend_skills::GripperModel;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Fewest pixels of the part in the view that shows most of it.
const LEAST: usize = 60;
/// How far the part's middle may be outside the box of the thing it belongs to, metres.
const MARGIN: f64 = 0.03;
/// Farthest that is looked at, metres.
const RANGE: f64 = 3.0;
/// Views that are taken: from home, from near, and from the side.
const VIEWS: [usize; 3] = [0, 2, 4];
/// Draws of a scene in which the part is to be seen.
const DRAWS: u64 = 8;

/// Views by name, each with the labels of what belongs to the sample's thing.
type Looks = Vec<(&'static str, Looked, Vec<u16>)>;

/// A sample.
pub struct Sample {
    /// What it is about.
    pub kind: Kind,
    /// What makes it hard.
    pub subset: Subset,
    /// What the skills look at; `None` when the map has no such thing, or no such part of it was found.
    pub subject: Option<Arc<Subject>>,
    /// Each part of the kind, by view: any of them will do.
    pub truth: Vec<BTreeMap<String, Mask>>,
}

/// Makes a sample.
///
/// Errors: in words, when the scene cannot be made, or its part is seen in none of the draws.
pub fn sample(
    arm: &ArmModel,
    scenes: &Path,
    knowledge: &Arc<Knowledge>,
    table: &ActionTable,
    (kind, subset, seed): (Kind, Subset, u64),
) -> Result<Sample, String> {
    let path = scenes.join("affordance.yaml");
    let mut why = format!("its part is not to be seen in {DRAWS} draws from seed {seed}");
    for draw in 0..DRAWS {
        let seed = seed.wrapping_add(draw.wrapping_mul(0x9e37_79b9));
        let text = scene(kind, subset, seed);
        let mut watch = Watch::new(arm, &path, seed, MapSettings::default());
        let mut look_around = || -> Result<Looks, String> {
            let mut looks = Vec::new();
            for (name, pose) in VIEWS.iter().map(|view| &POSES[*view]) {
                let (placed, world) = watch.world(&text, pose)?;
                looks.push((*name, watch.look(&placed, &world, name)?, targets(&world)));
            }
            Ok(looks)
        };
        // Things that do not fit beside each other are drawn again.
        let looks = match look_around() {
            Ok(looks) => looks,
            Err(error) => {
                why = error;
                continue;
            }
        };
        let truth = parts_of(&looks, kind.part);
        let most = truth.iter().flat_map(BTreeMap::values).map(Mask::area).max().unwrap_or(0);
        if most < LEAST {
            continue;
        }
        let map = watch.map();
        let plane = map.support_plane.and_then(|[a, b, c, d]| {
            Unit::try_new(Vector3::new(a, b, c), 1e-6).map(|normal| Plane { normal, offset: d })
        });
        let middle = looks
            .iter()
            .find_map(|(view, look, _)| middle_of(truth.iter().find_map(|part| part.get(*view))?, look));
        let holds = |object: &&Object| middle.is_some_and(|middle| object.bounds.contains(&middle, MARGIN));
        let object = map.objects.iter().filter(holds).min_by(|a, b| volume(a).total_cmp(&volume(b)));
        let wanted = table.part_kind(kind.part).unwrap_or(kind.part);
        let subject = object.and_then(|object| {
            let found = working_parts(object, support_under(object, plane.as_ref()), table);
            let part = found.into_iter().find(|part| part.kind == wanted)?;
            let knowledge = Arc::clone(knowledge);
            let hand = imagination::hand(&GripperModel::default(), DEFAULT_GRIP_FORCE);
            let (object, part, hand) = (object.clone(), Some(part), Some(hand));
            Some(Arc::new(Subject { object, plane, part, knowledge, hand }))
        });
        return Ok(Sample { kind, subset, subject, truth });
    }
    Err(format!("{}, {}: {why}", kind.name, subset.name()))
}

fn volume(object: &Object) -> f64 {
    object.bounds.size.iter().product()
}

/// Labels of what belongs to the sample's thing.
fn targets(world: &prehend_sim::world::World) -> Vec<u16> {
    let of_target = |name: &str| {
        name == TARGET || name.starts_with(&format!("{TARGET} ")) || name.starts_with(&format!("{TARGET}/"))
    };
    (1_u16..)
        .zip(world.entities())
        .filter(|(_, entity)| of_target(&entity.name))
        .map(|(label, _)| label)
        .collect()
}

/// Every region of this class on the sample's thing, by view.
fn parts_of(looks: &[(&'static str, Looked, Vec<u16>)], class: &str) -> Vec<BTreeMap<String, Mask>> {
    let mut parts: BTreeMap<u16, BTreeMap<String, Mask>> = BTreeMap::new();
    for (view, look, targets) in looks {
        let regions = (1_u16..).zip(&look.region_classes).filter(|(_, found)| *found == class);
        for (label, _) in regions {
            let (width, height) = (look.drawn.parts.width, look.drawn.parts.height);
            let pixels = look.drawn.parts.labels.iter().zip(&look.drawn.labels.labels).enumerate();
            let own: Vec<usize> = pixels
                .filter(|(_, (part, thing))| {
                    **part == label && (targets.is_empty() || targets.contains(thing))
                })
                .map(|(index, _)| index)
                .collect();
            if !own.is_empty() {
                parts
                    .entry(label)
                    .or_default()
                    .insert((*view).to_owned(), Mask::from_indices(width, height, &own));
            }
        }
    }
    parts.into_values().collect()
}

/// The middle of what a mask shows, map frame.
fn middle_of(mask: &Mask, look: &Looked) -> Option<Point3<f64>> {
    let grid = point_grid(&look.drawn.depth, &look.intrinsics, &look.base_from_camera, RANGE);
    PointCloud::from_points(grid.of(&mask.indices())).centroid()
}
