//! A robot that drives through the rooms of the repository: what it reports, what it touches, what it carries along.

use prehend_navigation::follow::{Follow, FollowParams, Follower, Velocity};
use prehend_navigation::route::{RouteParams, plan};
use prehend_navigation::tour::{self, TourParams};
use prehend_navigation::viewpose::{self, ViewPoseParams};
use prehend_navigation::{Costmap, Footprint, Inflation, Pose2};
use prehend_sim::world::{ArmModel, DriveError, JointPoint, LaserSpec, STEP, TrajectoryError};
use prehend_sim::{Scene, World};
use std::path::PathBuf;

const HOME: [f64; 6] = [0.0, -0.5081, -1.9857, 0.0, 2.1098, 0.0];

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn model(name: &str) -> ArmModel {
    let text = std::fs::read_to_string(repository().join(format!("urdf/{name}.urdf"))).expect("a URDF");
    ArmModel::from_urdf(&text).expect("a model")
}

fn scene(name: &str) -> Scene {
    let path = repository().join(format!("config/scenes/{name}.yaml"));
    Scene::load(&path).unwrap_or_else(|findings| panic!("{findings}"))
}

fn world(name: &str, seed: u64) -> World {
    let placed = scene(name).instantiate(seed).unwrap_or_else(|error| panic!("{name} {seed}: {error}"));
    World::new(&placed, &model("ranger_xarm6"), &HOME).expect("a world")
}

fn footprint() -> Footprint {
    Footprint::polygon(&[[0.37, 0.25], [-0.37, 0.25], [-0.37, -0.25], [0.37, -0.25]]).expect("a footprint")
}

fn costmap(world: &World) -> Costmap {
    let grid = world.survey(0.05).expect("a room").expect("a grid");
    Costmap::new(&grid, Inflation { inscribed_radius: 0.25, inflation_radius: 0.7, cost_scaling_factor: 4.0 })
}

/// Drives by its own belief, planning again where something is in the way; where it truly ends.
fn drive(world: &mut World, goal: Pose2) -> Pose2 {
    let map = costmap(world);
    let mut story = Vec::new();
    for _ in 0..3 {
        let start = world.believed_pose().expect("a base");
        let route = plan(&map, &footprint(), &start, &goal, &RouteParams::default())
            .unwrap_or_else(|error| panic!("{goal:?}: {error}, {story:?}"));
        let mut follower = Follower::new(&route, FollowParams::default());
        for _ in 0..4000 {
            let believed = world.believed_pose().expect("a base");
            match follower.step(&believed, &map, &footprint(), 4.0 * STEP) {
                Follow::Drive(velocity) => world.drive(velocity).expect("drives"),
                Follow::Arrived => return world.base_pose().expect("a base"),
                other => {
                    story.push((other, believed, route));
                    break;
                }
            }
            (0..4).for_each(|_| world.step());
        }
        // The command ends, and the base stands.
        (0..240).for_each(|_| world.step());
    }
    panic!("not there: {story:?}");
}

#[test]
fn every_room_of_the_repository_stands_and_nothing_falls_down() {
    let mut rooms = 0;
    for entry in std::fs::read_dir(repository().join("config/scenes")).expect("scenes") {
        let name = entry.expect("entry").file_name().to_string_lossy().into_owned();
        let Some(name) = name.strip_suffix(".yaml").filter(|name| name.starts_with("room_")) else {
            continue;
        };
        rooms += 1;
        for seed in 1..4 {
            let world = world(name, seed);
            let truth = world.truth();
            for object in truth.objects.iter().filter(|object| !object.fixed) {
                assert!(!object.fallen && object.position[2] > 0.5, "{name} {seed}: {object:?}");
            }
            let start = world.base_pose().expect("a base");
            assert!(!footprint().collides(&costmap(&world), &start), "{name}");
            assert!(world.bumps().is_empty());
        }
    }
    assert!(rooms >= 3, "{rooms}");
}

#[test]
fn it_drives_where_it_is_sent_and_reports_what_it_does() {
    let mut world = world("room_two_tables", 1);
    let odometry = world.odometry().expect("a base").0;
    assert_eq!((odometry.x, odometry.y), (0.0, 0.0));
    let goal = Pose2::new(2.9, 1.3, 0.0);
    let at = drive(&mut world, goal);
    // Its belief is within its tolerance, and its belief is wrong by centimetres.
    assert!(at.distance(&goal) < 0.12, "{at:?}");
    let believed = world.believed_pose().expect("a base");
    assert!(believed.distance(&at) > 1e-4 && believed.distance(&at) < 0.1, "{believed:?} {at:?}");
    let (odometry, velocity) = world.odometry().expect("a base");
    assert!(odometry.x.hypot(odometry.y) > 1.5 && velocity.linear.abs() < 0.05);
    assert!(world.bumps().is_empty() && !world.motions().base.is_empty());
    let truth = world.truth().base.expect("a base");
    assert_eq!(truth.pose, [at.x, at.y, at.yaw]);
    // The camera and the hand came along.
    let camera = world.frame().base_from_camera.translation;
    assert!((camera.x - at.x).hypot(camera.y - at.y) < 0.9);
}

#[test]
fn the_same_commands_give_the_same_states_bit_for_bit() {
    let run = || {
        let mut world = world("room_kitchen", 5);
        for step in 0..600 {
            if step % 10 == 0 {
                world.drive(Velocity { linear: 0.3, angular: -0.2 }).expect("drives");
            }
            world.step();
        }
        (world.state_hash(), world.scan(&LaserSpec::default()))
    };
    assert_eq!(run(), run());
}

#[test]
fn what_it_bumps_into_stops_it_and_it_can_back_away() {
    let mut world = world("room_two_tables", 1);
    // Straight ahead, whatever is there: a wall in the end.
    let forward = Velocity { linear: 0.4, angular: 0.0 };
    let mut steps = 0;
    while world.bumps().is_empty() {
        world.drive(forward).expect("drives");
        world.step();
        steps += 1;
        assert!(steps < 6000, "no bump at {:?}", world.base_pose());
    }
    let bump = world.bumps()[0].clone();
    assert!(bump.force >= 80.0, "{bump:?}");
    let at = world.base_pose().expect("a base");
    (0..120).for_each(|_| world.step());
    let later = world.base_pose().expect("a base");
    assert!(at.distance(&later) < 1e-6, "it stands");
    for _ in 0..240 {
        world.drive(Velocity { linear: -0.2, angular: 0.0 }).expect("drives");
        world.step();
    }
    assert!(world.base_pose().expect("a base").distance(&at) > 0.1);
}

#[test]
fn arm_and_base_do_not_move_at_once() {
    let mut world = world("room_office", 2);
    let mut to = HOME;
    to[0] = 0.6;
    let points = [
        JointPoint { time: 0.0, positions: HOME.to_vec(), velocities: None },
        JointPoint { time: 2.0, positions: to.to_vec(), velocities: None },
    ];
    world.drive(Velocity { linear: 0.1, angular: 0.0 }).expect("drives");
    world.step();
    assert_eq!(world.execute(&points), Err(TrajectoryError::Driving));
    // The command ends by itself.
    (0..240).for_each(|_| world.step());
    world.execute(&points).expect("the arm moves");
    world.step();
    let refused = world.drive(Velocity { linear: 0.1, angular: 0.0 });
    assert_eq!(refused, Err(DriveError::ArmMoves));
    assert_eq!(world.drive(Velocity { linear: f64::NAN, angular: 0.0 }), Err(DriveError::NotFinite));
}

#[test]
fn the_scanner_sees_walls_and_an_obstacle_that_is_put_there() {
    let mut world = world("room_two_tables", 1);
    let spec = LaserSpec::default();
    let index = |angle: f64| ((angle - spec.angle_min) / spec.angle_increment).round() as usize;
    let at = world.base_pose().expect("a base");
    let before = world.scan(&spec).expect("a laser");
    assert_eq!(before.len(), 541);
    assert!(before.iter().filter(|range| range.is_finite()).count() > 500);
    let ahead = at.transform([1.2, 0.0]);
    assert!(world.put_obstacle(Some(ahead)));
    (0..2).for_each(|_| world.step());
    let after = world.scan(&spec).expect("a laser");
    // From the scanner at 0.34 m to the near side of a box of 0.4 m (seen somewhat from a corner).
    let range = f64::from(after[index(0.0)]);
    assert!(range > 0.5 && range < 0.75 && before[index(0.0)] > after[index(0.0)] + 0.3, "{range}");
    assert!(world.put_obstacle(None) && !world.put_obstacle(Some([f64::NAN, 0.0])));
    (0..2).for_each(|_| world.step());
    assert!((world.scan(&spec).expect("a laser")[index(0.0)] - before[index(0.0)]).abs() < 0.1);
}

#[test]
fn the_survey_knows_walls_and_furniture() {
    let world = world("room_two_tables", 1);
    let grid = world.survey(0.05).expect("a room").expect("a grid");
    assert_eq!(grid.occupied([3.9, 1.3]), Some(true), "the table");
    assert_eq!(grid.occupied([2.5, 2.0]), Some(false), "floor");
    assert_eq!(grid.occupied([-0.05, 2.0]), Some(true), "a wall");
    assert_eq!(grid.occupied([-0.4, 2.0]), None, "outside");
    assert!(world.survey(0.0).expect("a room").is_err());
}

#[test]
fn a_jump_of_the_localisation_fades() {
    let mut world = world("room_two_tables", 1);
    let before = world.believed_pose().expect("a base");
    assert!(world.jump_localisation(Pose2::new(0.5, 0.0, 0.2)));
    let jumped = world.believed_pose().expect("a base");
    assert!((jumped.distance(&before) - 0.5).abs() < 1e-9);
    (0..(20.0 / STEP) as usize).for_each(|_| world.step());
    assert!(world.believed_pose().expect("a base").distance(&before) < 0.01);
}

#[test]
fn rooms_need_a_base_and_a_base_needs_a_room() {
    use prehend_sim::world::ArmModel;
    let fixed: ArmModel = model("xarm6");
    let placed = scene("room_two_tables").instantiate(1).expect("placed");
    let error = World::new(&placed, &fixed, &HOME).err().expect("refused");
    assert!(error.to_string().contains("base that drives"));
    let table = scene("tabletop").instantiate(1).expect("placed");
    let error = World::new(&table, &model("ranger_xarm6"), &HOME).err().expect("refused");
    assert!(error.to_string().contains("`room`"));
    let mut world = World::new(&table, &fixed, &HOME).expect("a world");
    assert_eq!(world.drive(Velocity::default()), Err(DriveError::NoBase));
    assert!(world.scan(&LaserSpec::default()).is_none() && world.survey(0.05).is_none());
    assert!(world.base_pose().is_none() && !world.jump_localisation(Pose2::default()));
}

#[test]
fn every_thing_of_the_rooms_can_be_driven_to() {
    let mut drives = 0;
    for (name, seeds) in [("room_two_tables", 11..13), ("room_kitchen", 21..23), ("room_office", 31..33)] {
        for seed in seeds {
            let mut world = world(name, seed);
            let things: Vec<_> = world.truth().objects.into_iter().filter(|object| !object.fixed).collect();
            for thing in things {
                let target = [thing.position[0], thing.position[1]];
                let params = ViewPoseParams {
                    from: world.believed_pose().map(|pose| pose.xy()),
                    ..ViewPoseParams::default()
                };
                let map = costmap(&world);
                let found = viewpose::search(&map, &footprint(), target, None, &params)
                    .unwrap_or_else(|error| panic!("{name} {seed} {}: {error}", thing.name));
                let at = drive(&mut world, found.pose);
                // Where it truly stands the arm reaches: 0.28 m ahead is its base.
                let [x, y] = at.inverse_transform(target);
                let reach = (x - 0.28).hypot(y);
                assert!((0.2..0.75).contains(&reach), "{name} {seed} {}: {reach} from {found:?}", thing.name);
                drives += 1;
            }
            assert!(world.bumps().is_empty(), "{name} {seed}: {:?}", world.bumps());
        }
    }
    assert!(drives > 30, "{drives}");
}

#[test]
fn a_short_tour_sees_every_thing_of_a_room() {
    for name in ["room_two_tables", "room_kitchen", "room_office"] {
        let world = world(name, 4);
        let start = world.believed_pose().expect("a base");
        let params = TourParams { camera: [0.5, 0.0], field_of_view: 0.96, ..TourParams::default() };
        let tour = tour::plan(&costmap(&world), &footprint(), &start, &params).expect("a tour");
        assert!((2..=14).contains(&tour.len()), "{name}: {tour:?}");
        for thing in world.truth().objects.iter().filter(|object| !object.fixed) {
            let sees = |pose: &&Pose2| {
                let [x, y] = pose.inverse_transform([thing.position[0], thing.position[1]]);
                let (dx, distance) = (x - 0.5, (x - 0.5).hypot(y));
                dx > 0.0 && (0.4..2.5).contains(&distance) && y.atan2(dx).abs() < 0.48
            };
            assert!(tour.iter().any(|pose| sees(&pose)), "{name}: {} from {tour:?}", thing.name);
        }
    }
}
