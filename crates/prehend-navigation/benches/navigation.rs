//! Speed of costmaps, view poses, routes and tours in a room of 10 x 10 m at 0.05 m:
//! `cargo bench -p prehend-navigation --bench navigation`.

use criterion::{Criterion, criterion_group, criterion_main};
use prehend_navigation::grid::Layout;
use prehend_navigation::route::{self, RouteParams};
use prehend_navigation::tour::{self, TourParams};
use prehend_navigation::viewpose::{self, ViewPoseParams};
use prehend_navigation::{Costmap, Footprint, Inflation, OccupancyGrid, Pose2};
use std::hint::black_box;

const INFLATION: Inflation =
    Inflation { inscribed_radius: 0.25, inflation_radius: 0.7, cost_scaling_factor: 4.0 };

/// Walls around, one across with a door of 0.9 m, four tables, two shelves.
fn room() -> OccupancyGrid {
    let layout = Layout { width: 210, height: 210, resolution: 0.05, origin: [-0.25, -0.25] };
    let mut grid = OccupancyGrid::filled(layout, -1).expect("a grid");
    let mut fill = |x: [f64; 2], y: [f64; 2], value: i8| {
        grid.fill_polygon(&[[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]], value);
    };
    fill([-0.1, 10.1], [-0.1, 10.1], 100);
    fill([0.0, 10.0], [0.0, 10.0], 0);
    fill([4.95, 5.05], [0.0, 7.0], 100);
    fill([4.95, 5.05], [7.9, 10.0], 100);
    for (x, y) in [(2.0, 2.5), (2.5, 6.5), (7.5, 2.5), (7.0, 6.0)] {
        fill([x - 0.6, x + 0.6], [y - 0.4, y + 0.4], 100);
    }
    fill([1.0, 2.2], [9.6, 10.0], 100);
    fill([9.6, 10.0], [4.0, 5.2], 100);
    grid
}

fn bench(criterion: &mut Criterion) {
    let grid = room();
    let map = Costmap::new(&grid, INFLATION);
    let footprint = Footprint::polygon(&[[0.37, 0.25], [-0.37, 0.25], [-0.37, -0.25], [0.37, -0.25]])
        .expect("a footprint");
    criterion.bench_function("costmap of 10 x 10 m", |bencher| {
        bencher.iter(|| Costmap::new(black_box(&grid), INFLATION));
    });
    criterion.bench_function("view pose of go_to", |bencher| {
        let params = ViewPoseParams { from: Some([1.0, 1.0]), ..ViewPoseParams::default() };
        bencher.iter(|| {
            let target = black_box([7.3, 6.1]);
            viewpose::search(&map, &footprint, target, Some([0.0, 1.0]), &params).expect("a pose")
        });
    });
    let ways = [
        ("across the room, through the door", Pose2::new(1.0, 1.0, 0.0), Pose2::new(9.0, 1.0, 1.0)),
        ("around a table", Pose2::new(1.0, 2.5, 0.0), Pose2::new(3.2, 2.5, 3.1)),
        ("corner to corner", Pose2::new(0.6, 0.6, 0.0), Pose2::new(9.3, 9.3, 0.0)),
    ];
    for (name, start, goal) in ways {
        criterion.bench_function(&format!("route {name}"), |bencher| {
            bencher.iter(|| {
                route::plan(&map, &footprint, &start, &goal, &RouteParams::default()).expect("a way")
            });
        });
    }
    let closed = {
        let mut grid = grid.clone();
        grid.fill_polygon(&[[4.9, 6.9], [5.1, 6.9], [5.1, 8.0], [4.9, 8.0]], 100);
        Costmap::new(&grid, INFLATION)
    };
    criterion.bench_function("route that does not exist", |bencher| {
        let (start, goal) = (Pose2::new(1.0, 1.0, 0.0), Pose2::new(9.0, 1.0, 1.0));
        bencher.iter(|| {
            route::plan(&closed, &footprint, &start, &goal, &RouteParams::default()).expect_err("closed")
        });
    });
    criterion.bench_function("tour", |bencher| {
        bencher.iter(|| {
            tour::plan(&map, &footprint, &Pose2::new(1.0, 1.0, 0.0), &TourParams::default()).expect("a tour")
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = bench
}
criterion_main!(benches);
