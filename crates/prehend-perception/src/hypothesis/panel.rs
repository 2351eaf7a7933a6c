//! Fronts of drawers and doors by geometry. What the detector merged is cut along the seams between fronts. What it split is joined where
//! there is no seam. What is not the front, nor before it, nor inside it, is left out.

mod settings;

use super::{Hypothesis, HypothesisSettings};
use crate::Keyframe;
use crate::parts::mechanism::Front;
use crate::segment::Scene;
use nalgebra::{Point3, Vector3};
use prehend_scene::furniture;
use std::collections::HashSet;

pub use settings::PanelSettings;

/// Stands for a pixel whose ray to the face is blocked.
const HIDDEN: usize = usize::MAX;

/// A face with its points: place along the normal, across, height.
struct Face {
    front: Front,
    /// Hypotheses it was found from.
    members: Vec<usize>,
}

/// One front: pixels and ranges across and of height.
struct Piece {
    pixels: Vec<usize>,
    across: (f64, f64),
    height: (f64, f64),
}

/// Replaces the hypotheses named as panels by the fronts that geometry shows; those of which it shows none stay.
pub(super) fn settle(
    frame: &Keyframe,
    scene: &Scene,
    settings: &HypothesisSettings,
    found: &mut Vec<Hypothesis>,
) {
    let eye = Point3::from(frame.map_from_camera.translation.vector);
    let is_panel = |hypothesis: &Hypothesis| {
        hypothesis.detections.iter().any(|label| {
            frame.detections.iter().any(|d| d.label == *label && furniture::is_panel(&d.class_name))
        })
    };
    let mut faces: Vec<Face> = Vec::new();
    for (number, hypothesis) in found.iter().enumerate().filter(|(_, h)| is_panel(h)) {
        let points: Vec<Point3<f64>> =
            hypothesis.pixels.iter().filter_map(|index| scene.grid.points[*index]).collect();
        let Some(front) = Front::find(&points, &eye).filter(|front| closes(front, &points, &settings.panel))
        else {
            continue;
        };
        match faces.iter_mut().find(|face| is_same(&face.front, &front, &settings.panel)) {
            Some(face) => {
                face.members.push(number);
                face.front.across = join(face.front.across, front.across);
                face.front.height = join(face.front.height, front.height);
            }
            None => faces.push(Face { front, members: vec![number] }),
        }
    }
    // From the nearest face on: what lies in an open drawer, its back wall above all, is no front.
    let before = |face: &Face| eye.coords.dot(&face.front.normal) - face.front.offset;
    faces.sort_by(|a, b| before(a).total_cmp(&before(b)));
    let panels: Vec<usize> = (0..found.len()).filter(|number| is_panel(&found[*number])).collect();
    let mut gone = Vec::new();
    let mut made: Vec<Hypothesis> = Vec::new();
    for face in &faces {
        if face.members.iter().any(|member| gone.contains(member)) {
            continue;
        }
        let fronts = fronts_of(face, (frame, scene), (found, &panels), settings);
        if fronts.is_empty() {
            continue;
        }
        gone.extend(&face.members);
        made.extend(fronts);
        let taken: HashSet<usize> = made.iter().flat_map(|h| h.pixels.iter().copied()).collect();
        for number in &panels {
            let left = found[*number].pixels.iter().filter(|index| !taken.contains(index)).count();
            if !gone.contains(number)
                && (2 * left < found[*number].pixels.len() || left < settings.min_pixels)
            {
                gone.push(*number);
            }
        }
    }
    gone.sort_unstable();
    for number in gone.into_iter().rev() {
        found.remove(number);
    }
    found.extend(made);
}

/// Whether a face is in front of what it was found in: before a wall of a hollow there is the rest of the drawer.
fn closes(front: &Front, points: &[Point3<f64>], settings: &PanelSettings) -> bool {
    let is_before = |p: &&Point3<f64>| p.coords.dot(&front.normal) - front.offset > settings.before;
    points.iter().filter(is_before).count() as f64 <= settings.before_front * points.len() as f64
}

fn is_same(a: &Front, b: &Front, settings: &PanelSettings) -> bool {
    a.normal.angle(&b.normal) < settings.same_angle && (a.offset - b.offset).abs() < settings.same_offset
}

fn join(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0.min(b.0), a.1.max(b.1))
}

/// The fronts in one face, each with what stands before it and lies in it.
fn fronts_of(
    face: &Face,
    (frame, scene): (&Keyframe, &Scene),
    (found, panels): (&[Hypothesis], &[usize]),
    settings: &HypothesisSettings,
) -> Vec<Hypothesis> {
    let panel = &settings.panel;
    let (normal, offset) = (face.front.normal, face.front.offset);
    let eye = &Point3::from(frame.map_from_camera.translation.vector);
    let side = Vector3::new(-normal.y, normal.x, 0.0);
    let around = |range: (f64, f64), v: f64, margin: f64| v > range.0 - margin && v < range.1 + margin;
    let mut on_face: Vec<(f64, f64, usize)> = Vec::new();
    let eye_out = eye.coords.dot(&normal) - offset;
    let width = frame.intrinsics.width.max(1);
    for (index, point) in scene.grid.points.iter().enumerate() {
        // The gripper hides what is behind it, however near it is itself.
        let is_robot = scene.robot.get(index).copied().unwrap_or(false);
        let ray = || frame.intrinsics.unproject((index % width) as f64, (index / width) as f64, 1.0);
        let seen = if is_robot { Some(frame.map_from_camera * ray()) } else { *point };
        let Some(p) = seen else { continue };
        let out = p.coords.dot(&normal) - offset;
        // What stands before the face hides the place where its ray meets the face: that is no seam.
        let (p, index) = match out {
            _ if !is_robot && scene.clusters[index] == 0 => continue,
            _ if !is_robot && out.abs() < panel.thickness => (p, index),
            _ if is_robot || out > 0.0 => match shadow(eye, &p, out, eye_out) {
                Some(p) => (p, HIDDEN),
                None => continue,
            },
            _ => continue,
        };
        let across = p.coords.dot(&side);
        if around(face.front.across, across, panel.margin) && around(face.front.height, p.z, panel.margin) {
            on_face.push((across, p.z, index));
        }
    }
    let mut pieces = Vec::new();
    cut(on_face, panel.cuts, true, panel, &mut pieces);
    // Whatever it was called: a handle that only the picture's border shows bears any name.
    let before: Vec<Point3<f64>> = scene
        .grid
        .points
        .iter()
        .flatten()
        .copied()
        .filter(|p| (panel.stands_out..panel.before).contains(&(p.coords.dot(&normal) - offset)))
        .collect();
    let height_of = |index: usize| scene.grid.points[index].map(|p| p.z);
    // A door may well have something above its handle.
    let named = face.members.iter().flat_map(|member| &found[*member].detections);
    let mut classes = named.filter_map(|label| frame.detections.iter().find(|d| d.label == *label));
    let may_be_several = classes.any(|detection| !furniture::is_door(&detection.class_name));
    let pieces: Vec<Piece> = pieces
        .into_iter()
        .flat_map(|piece| {
            let is_on = |p: &&Point3<f64>| {
                around(piece.across, p.coords.dot(&side), 0.0) && around(piece.height, p.z, 0.0)
            };
            let heights = before.iter().filter(is_on).map(|p| p.z).collect();
            let rows = if may_be_several { rows(heights, panel) } else { Vec::new() };
            divided(piece, &rows, height_of, panel)
        })
        .collect();
    // Whose pixel it is.
    let owner = |index: usize| {
        face.members.iter().copied().find(|member| found[*member].pixels.binary_search(&index).is_ok())
    };
    let owners: Vec<Vec<(usize, usize)>> = pieces
        .iter()
        .map(|piece| {
            let mut counts: Vec<(usize, usize)> = face.members.iter().map(|m| (*m, 0)).collect();
            for member in piece.pixels.iter().filter_map(|index| owner(*index)) {
                counts.iter_mut().filter(|(m, _)| *m == member).for_each(|(_, n)| *n += 1);
            }
            counts.retain(|(_, n)| *n as f64 >= panel.named * piece.pixels.len() as f64);
            counts
        })
        .collect();
    let mut made = Vec::new();
    for (piece, members) in pieces.iter().zip(&owners) {
        if members.is_empty() || piece.pixels.len() < settings.min_pixels {
            continue;
        }
        let mut pixels = piece.pixels.clone();
        let mut inside = Vec::new();
        // The hollow of a drawer may be a cluster, or even a mask, of its own.
        for index in panels.iter().flat_map(|number| &found[*number].pixels) {
            let Some(p) = scene.grid.points[*index] else { continue };
            let out = p.coords.dot(&normal) - offset;
            if !around(piece.across, p.coords.dot(&side), panel.beside) {
                continue;
            }
            if (panel.thickness..panel.before).contains(&out) && around(piece.height, p.z, panel.beside) {
                pixels.push(*index);
            } else if out <= -panel.thickness
                && out > -panel.behind
                && p.z > piece.height.0 - panel.beside
                && p.z < piece.height.1 + panel.above
            {
                inside.push(*index);
            }
        }
        if inside.len() as f64 >= panel.inside * piece.pixels.len() as f64 {
            pixels.extend(inside);
        }
        pixels.sort_unstable();
        pixels.dedup();
        // A mask over several fronts bears the name of one of them, as all are of one kind.
        let several =
            |member: usize| owners.iter().filter(|all| all.iter().any(|(m, _)| *m == member)).count() > 1;
        let detections: Vec<u16> =
            members.iter().flat_map(|(member, _)| found[*member].detections.iter().copied()).collect();
        made.push(Hypothesis {
            cluster: found[members[0].0].cluster,
            from_merged: members.iter().all(|(member, _)| several(*member)),
            pixels,
            detections,
        });
    }
    made
}

/// Heights of the rows of handles among the heights of what stands before a front; a bar that stands upright is no row.
fn rows(mut heights: Vec<f64>, settings: &PanelSettings) -> Vec<f64> {
    heights.sort_by(f64::total_cmp);
    heights
        .chunk_by(|a, b| b - a < settings.row_gap)
        .filter(|row| row.len() >= settings.row_points && row[row.len() - 1] - row[0] < settings.row_tall)
        .map(|row| row[row.len() / 2])
        .collect()
}

/// A front with several rows of handles is as many fronts, of which the seams were not seen.
fn divided(
    piece: Piece,
    rows: &[f64],
    height_of: impl Fn(usize) -> Option<f64>,
    settings: &PanelSettings,
) -> Vec<Piece> {
    let seams: Vec<f64> = rows
        .windows(2)
        .filter(|pair| pair[1] - pair[0] >= settings.min_height)
        .map(|pair| f64::midpoint(pair[0], pair[1]))
        .collect();
    if seams.is_empty() {
        return vec![piece];
    }
    let ends = || [piece.height.0].into_iter().chain(seams.iter().copied()).chain([piece.height.1]);
    ends()
        .zip(ends().skip(1))
        .map(|height| {
            let is_in = |index: &&usize| height_of(**index).is_some_and(|z| z >= height.0 && z < height.1);
            Piece {
                pixels: piece.pixels.iter().filter(is_in).copied().collect(),
                across: piece.across,
                height,
            }
        })
        .collect()
}

/// Where the ray from the eye through a point, which is `out` before a face, meets the face; `eye_out` is how far the eye is
/// before it. `None` when it does not.
fn shadow(eye: &Point3<f64>, p: &Point3<f64>, out: f64, eye_out: f64) -> Option<Point3<f64>> {
    let nearer = eye_out - out;
    (nearer > 1e-3).then(|| eye + (p - eye) * (eye_out / nearer))
}

/// Cuts points of a face (across, height, pixel) along empty strips, across and up in turns.
fn cut(
    points: Vec<(f64, f64, usize)>,
    cuts: usize,
    by_height: bool,
    settings: &PanelSettings,
    pieces: &mut Vec<Piece>,
) {
    let parts = if cuts == 0 { vec![points] } else { strips(points, by_height, settings) };
    if cuts > 1 || (cuts == 1 && parts.len() > 1) {
        for part in parts {
            cut(part, cuts - 1, !by_height, settings, pieces);
        }
        return;
    }
    for part in parts {
        let (Some(across), Some(height)) =
            (range(part.iter().map(|p| p.0).collect()), range(part.iter().map(|p| p.1).collect()))
        else {
            continue;
        };
        if across.1 - across.0 >= settings.min_width && height.1 - height.0 >= settings.min_height {
            let mut pixels: Vec<usize> = part.into_iter().map(|p| p.2).filter(|p| *p != HIDDEN).collect();
            pixels.sort_unstable();
            pieces.push(Piece { pixels, across, height });
        }
    }
}

/// The groups of points between empty strips along one direction.
fn strips(
    points: Vec<(f64, f64, usize)>,
    by_height: bool,
    settings: &PanelSettings,
) -> Vec<Vec<(f64, f64, usize)>> {
    let place = |p: &(f64, f64, usize)| if by_height { p.1 } else { p.0 };
    let Some((low, high)) = range(points.iter().map(place).collect()) else { return Vec::new() };
    let count = ((high - low) / settings.strip).ceil().max(1.0) as usize;
    let bin = |p: &(f64, f64, usize)| {
        (((place(p) - low) / settings.strip) as isize).clamp(0, count as isize - 1) as usize
    };
    let mut counts = vec![0_usize; count];
    for point in &points {
        counts[bin(point)] += 1;
    }
    let mut sorted: Vec<usize> = counts.iter().copied().filter(|n| *n > 0).collect();
    sorted.sort_unstable();
    let usual = sorted.get(sorted.len() / 2).copied().unwrap_or(0) as f64;
    // The number of the group of each strip; seams belong to none.
    let mut group_of: Vec<Option<usize>> = vec![None; count];
    let (mut group, mut open) = (0, false);
    for (strip, n) in counts.iter().enumerate() {
        if *n as f64 >= settings.seam * usual {
            group_of[strip] = Some(group);
            open = true;
        } else if open {
            group += 1;
            open = false;
        }
    }
    let mut groups = vec![Vec::new(); group + 1];
    for point in points {
        if let Some(group) = group_of[bin(&point)] {
            groups[group].push(point);
        }
    }
    groups.retain(|points| !points.is_empty());
    groups
}

/// Least and greatest value but for the outermost hundredths.
fn range(mut values: Vec<f64>) -> Option<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let skip = values.len() / 100;
    Some((*values.get(skip)?, *values.get(values.len().checked_sub(1 + skip)?)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hypothesis::hypotheses;
    use crate::render::{Form, VGA, looking, relabel, render, thing};
    use crate::segment::{SegmentSettings, segment};
    use nalgebra::Isometry3;
    use prehend_geometry::OrientedBox;

    /// A grid of points 1 mm apart, without those that `hidden` names.
    fn face(width: f64, height: f64, hidden: impl Fn(f64, f64) -> bool) -> Vec<(f64, f64, usize)> {
        let (nx, ny) = ((width * 1e3) as usize, (height * 1e3) as usize);
        (0..nx * ny)
            .map(|i| ((i % nx) as f64 * 1e-3, (i / nx) as f64 * 1e-3, i))
            .filter(|(x, z, _)| !hidden(*x, *z))
            .collect()
    }

    #[test]
    fn fronts_are_cut_along_their_seams_and_not_where_a_bar_hides_them() {
        let check = |hidden: &dyn Fn(f64, f64) -> bool, expected: usize| {
            let settings = PanelSettings::default();
            let mut pieces = Vec::new();
            cut(face(0.30, 0.25, hidden), settings.cuts, true, &settings, &mut pieces);
            assert_eq!(pieces.len(), expected);
        };
        let seam = |v: f64, at: f64| (v - at).abs() < 0.0025;
        check(&|_, _| false, 1);
        check(&|_, z| seam(z, 0.08) || seam(z, 0.165), 3);
        // A bar and its shadow over half of the width make no seam.
        check(&|x, z| (0.08..0.22).contains(&x) && (0.10..0.12).contains(&z), 1);
        // Two columns of two, and one wide drawer below.
        check(&|x, z| seam(z, 0.08) || z > 0.08 && (seam(x, 0.15) || seam(z, 0.16)), 5);
        check(&|_, _| true, 0);
    }

    #[test]
    fn a_front_with_several_rows_of_handles_is_several() {
        let bar = |z: f64| (0..40).map(move |i| z + f64::from(i % 8) * 1e-3);
        let check = |heights: Vec<f64>, expected: &[(f64, f64)]| {
            let settings = PanelSettings::default();
            let heights_of: Vec<f64> = (0..250).map(|i| f64::from(i) * 1e-3).collect();
            let piece = Piece { pixels: (0..250).collect(), across: (0.0, 0.3), height: (0.0, 0.25) };
            let found = divided(piece, &rows(heights, &settings), |index| Some(heights_of[index]), &settings);
            let found: Vec<(f64, f64)> = found.iter().map(|piece| piece.height).collect();
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (found.0 - expected.0).abs() < 2e-3 && (found.1 - expected.1).abs() < 2e-3,
                    "{found:?}"
                );
            }
        };
        let all = (0.0, 0.25);
        check(bar(0.12).collect(), &[all]);
        check(bar(0.04).chain(bar(0.12)).collect(), &[(0.0, 0.084), (0.084, 0.25)]);
        check(
            bar(0.04).chain(bar(0.12)).chain(bar(0.20)).collect(),
            &[(0.0, 0.084), (0.084, 0.164), (0.164, 0.25)],
        );
        // An upright bar, two legs of one handle, and a few stray points.
        check((0..100).map(|i| 0.05 + f64::from(i) * 1e-3).collect(), &[all]);
        check(bar(0.10).chain(bar(0.13)).collect(), &[all]);
        check(bar(0.12).chain([0.05, 0.051, 0.2]).collect(), &[all]);
    }

    /// A drawer seen into from above, its front below the edge of the picture: the wall at its back is the largest upright face.
    #[test]
    fn the_back_of_a_hollow_is_no_front() {
        let grid = |n: usize, step: f64| (0..n).map(move |i| i as f64 * step);
        let mut points: Vec<Point3<f64>> = Vec::new();
        for y in grid(60, 0.005) {
            points.extend(grid(20, 0.004).map(|z| Point3::new(0.6, y, 0.2 + z)));
        }
        let eye = Point3::new(0.2, 0.15, 0.6);
        let settings = PanelSettings::default();
        let front = |points: &[Point3<f64>]| {
            Front::find(points, &eye).filter(|front| closes(front, points, &settings))
        };
        assert!(front(&points).is_some());
        for x in grid(35, 0.004) {
            points.extend(grid(60, 0.005).map(|y| Point3::new(0.46 + x, y, 0.2)));
        }
        assert!(front(&points).is_none());
    }

    #[test]
    fn a_front_whose_middle_the_gripper_hides_is_one_front() {
        // A drawer's front 30 cm wide, and the hand upright before its middle.
        let hand = Form::Block([0.03, 0.05, 0.40]);
        let things = [
            thing("drawer", Form::Block([0.02, 0.30, 0.20]), 0.60, 0.0, [150, 150, 150]),
            thing("", hand, 0.42, 0.0, [20, 20, 20]),
        ];
        let mut frame = render(&things, &VGA, &looking([0.20, 0.0, 0.35], [0.60, 0.0, 0.10]), 0.001, 1);
        // No detector names the robot; where its links are is known.
        relabel(&mut frame, |label, _, _| if label == 1 { 1 } else { 0 });
        frame.detections.truncate(1);
        let size = Vector3::new(0.05, 0.07, 0.42);
        frame.robot = vec![OrientedBox { pose: Isometry3::translation(0.42, 0.0, 0.20), size }];
        let scene = segment(&frame, &SegmentSettings::default(), None, 1);
        let fronts = |scene: &Scene| {
            let (found, _) = hypotheses(&frame, scene, &HypothesisSettings::default());
            let named = found.iter().filter(|hypothesis| !hypothesis.detections.is_empty());
            let mut widths: Vec<f64> = named.map(|front| width(&front.pixels, scene)).collect();
            widths.sort_by(f64::total_cmp);
            widths
        };
        let whole = fronts(&scene);
        assert!(matches!(whole[..], [width] if width > 0.28), "{whole:?}");
        // Not knowing the robot, the picture shows two fronts.
        let torn = fronts(&Scene { robot: Vec::new(), ..scene });
        assert!(matches!(torn[..], [_, width] if width < 0.14), "{torn:?}");
    }

    /// Extent of pixels along y, metres.
    fn width(pixels: &[usize], scene: &Scene) -> f64 {
        let places = pixels.iter().filter_map(|index| scene.grid.points[*index]).map(|p| p.y);
        range(places.collect()).map_or(0.0, |(low, high)| high - low)
    }
}
