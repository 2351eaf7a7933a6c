//! Time to propose grasps on one object among nine others, and places for it: the aim is 100 ms for the grasps.

use criterion::{Criterion, criterion_group, criterion_main};
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_scene::Relation;
use prehend_skills::grasp::{Reach, grasp_candidates};
use prehend_skills::place::{Spread, place_candidates};
use prehend_skills::{GraspRequest, GripperModel, HeldShape, PlaceRequest};
use std::hint::black_box;

/// Points every 3 mm on the top and the sides of a box that stands at (x, y).
fn cuboid(x: f64, y: f64, size: Vector3<f64>) -> Vec<Point3<f64>> {
    let count = |length: f64| (length / 0.003) as i32;
    let (nx, ny, nz) = (count(size.x), count(size.y), count(size.z));
    let at = |i: i32, j: i32, k: i32| {
        Point3::new(
            x - size.x / 2.0 + 0.003 * f64::from(i),
            y - size.y / 2.0 + 0.003 * f64::from(j),
            0.003 * f64::from(k),
        )
    };
    let mut points = Vec::new();
    for i in 0..=nx {
        for j in 0..=ny {
            points.push(at(i, j, nz));
            if i == 0 || i == nx || j == 0 || j == ny {
                points.extend((2..nz).map(|k| at(i, j, k)));
            }
        }
    }
    points
}

fn candidates(c: &mut Criterion) {
    let object = cuboid(0.42, 0.0, Vector3::new(0.05, 0.07, 0.10));
    let others: Vec<Vec<Point3<f64>>> = (0..9)
        .map(|i| {
            let (row, column) = (f64::from(i / 3), f64::from(i % 3));
            cuboid(0.32 + 0.12 * row, 0.12 + 0.10 * column, Vector3::new(0.05, 0.05, 0.08))
        })
        .collect();
    let neighbours: Vec<&[Point3<f64>]> = others.iter().map(Vec::as_slice).collect();
    let request = GraspRequest {
        object: &object,
        part: None,
        neighbours: &neighbours,
        support_height: 0.0,
        gripper: GripperModel::default(),
        reach: Reach::default(),
        limit: 30,
    };
    c.bench_function("grasp candidates, one object of ten", |b| {
        b.iter(|| grasp_candidates(black_box(&request)));
    });
    let tool = Isometry3::new(Vector3::new(0.42, 0.0, 0.08), Vector3::x() * std::f64::consts::PI);
    let Some(held) = HeldShape::new(&object, &tool, 0.0, 0.05) else { return };
    for relation in [Relation::NextTo, Relation::Table] {
        let targets: &[&[Point3<f64>]] = if relation == Relation::Table { &[] } else { &neighbours[..1] };
        let request = PlaceRequest {
            relation,
            compartment: None,
            held: &held,
            targets,
            others: &neighbours[1..],
            support_height: 0.0,
            region_low: [0.15, -0.5],
            region_high: [0.7, 0.5],
            area: None,
            greatest_drop: 0.035,
            gripper: GripperModel::default(),
            reach: Reach::default(),
            sight: None,
            swept: &[],
            spread: Spread::Best,
            limit: 14,
        };
        c.bench_function(&format!("places, {}", relation.name()), |b| {
            b.iter(|| place_candidates(black_box(&request)));
        });
    }
}

criterion_group!(benches, candidates);
criterion_main!(benches);
