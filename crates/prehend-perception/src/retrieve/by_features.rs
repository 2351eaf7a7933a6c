//! Object retrieval by features (ASP IV-C): the top k by the likeness of a text to the pictures of each object.

use super::{DEFAULT_K, Match, Rejected, Retrieval};
use prehend_scene::{Object, ObjectMap};

/// Least likeness, as a share of the greatest, of what is meant as well.
const SECOND: f64 = 0.5;

/// Finds what a text means by its likeness to each object, [0, 1], in the order of the map; objects without one (`None`) have no
/// features to compare. `k` = 0 means [`DEFAULT_K`]. The most alike of the k is meant, and so is what is half as much alike; the
/// papers leave the cut to a vision-language model.
pub fn retrieve_by_likeness(map: &ObjectMap, likeness: &[Option<f64>], k: usize) -> Retrieval {
    let mut found = Retrieval::default();
    let mut ranked: Vec<(&Object, f64)> = Vec::new();
    for (object, likeness) in map.objects.iter().zip(likeness) {
        match likeness.filter(|likeness| likeness.is_finite()) {
            Some(likeness) => ranked.push((object, likeness)),
            None => found.doubtful.push(object.key.clone()),
        }
    }
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked.truncate(if k == 0 { DEFAULT_K } else { k });
    let Some((best, most)) = ranked.first().copied() else { return found };
    for (object, similarity) in ranked {
        let key = object.key.clone();
        if similarity >= SECOND * most {
            found.matches.push(Match { key, similarity });
        } else {
            let reason = format!("{} looks much more like it", best.key);
            found.rejected.push(Rejected { key, similarity, reason });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Isometry3, Point3, Vector3};
    use prehend_geometry::{OrientedBox, PointCloud};

    fn check(likeness: &[Option<f64>], k: usize, matches: &[&str], rejected: &[&str], doubtful: &[&str]) {
        let object = |number: usize| {
            let bounds = OrientedBox { pose: Isometry3::identity(), size: Vector3::repeat(0.1) };
            let cloud = PointCloud::from_points(vec![Point3::origin()]);
            Object::unnamed(format!("object_{number}").as_str().into(), cloud, bounds)
        };
        let map = ObjectMap { objects: (0..likeness.len()).map(object).collect(), ..ObjectMap::default() };
        let found = retrieve_by_likeness(&map, likeness, k);
        assert_eq!(found.matches.iter().map(|m| m.key.0.as_str()).collect::<Vec<_>>(), matches);
        assert_eq!(found.rejected.iter().map(|r| r.key.0.as_str()).collect::<Vec<_>>(), rejected);
        assert_eq!(found.doubtful.iter().map(|key| key.0.as_str()).collect::<Vec<_>>(), doubtful);
    }

    #[test]
    fn the_most_alike_is_meant_and_what_is_half_as_much() {
        let of = |numbers: &[f64]| numbers.iter().map(|x| Some(*x)).collect::<Vec<_>>();
        check(&of(&[0.1, 0.5, 0.3, 0.05]), 0, &["object_1", "object_2"], &["object_0"], &[]);
        check(&of(&[0.1, 0.5, 0.3]), 1, &["object_1"], &[], &[]);
        check(&[None, Some(1e-6), Some(f64::NAN)], 0, &["object_1"], &[], &["object_0", "object_2"]);
        check(&[], 0, &[], &[], &[]);
    }
}
