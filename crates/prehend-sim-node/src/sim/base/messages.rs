//! Messages of a base, and that one was not sent.

use nalgebra::Isometry3;
use prehend_convert::{header, pose_to_msg, stamp};
use prehend_msgs::geometry_msgs::msg::{
    PoseStamped, PoseWithCovariance, PoseWithCovarianceStamped, Quaternion, Transform, TransformStamped,
    Twist, TwistWithCovariance, Vector3,
};
use prehend_msgs::nav_msgs::msg::{MapMetaData, OccupancyGrid as GridMsg, Odometry, Path};
use prehend_msgs::sensor_msgs::msg::LaserScan;
use prehend_navigation::follow::Velocity;
use prehend_navigation::route::Route;
use prehend_navigation::{OccupancyGrid, Pose2};
use prehend_robots::robot::Navigation;
use prehend_ros::RosError;
use prehend_sim::scene::LocalisationSpec;
use prehend_sim::world::{LaserSpec, in_space};

pub(super) fn pose_msg(frame: &str, pose: &Pose2, at: f64) -> PoseStamped {
    PoseStamped { header: header(frame, at), pose: pose_to_msg(&in_space(pose)) }
}

/// Distance of the poses of a route that is told, metres.
const ROUTE_STEP: f64 = 0.1;

pub(super) fn route_msg(frame: &str, route: &Route, at: f64) -> Path {
    let poses = route.poses(ROUTE_STEP);
    Path { header: header(frame, at), poses: poses.iter().map(|pose| pose_msg(frame, pose, at)).collect() }
}

pub(super) fn transform_msg(parent: &str, child: &str, pose: &Pose2, at: f64) -> TransformStamped {
    let space = in_space(pose);
    let (t, q) = (space.translation.vector, space.rotation.coords);
    TransformStamped {
        header: header(parent, at),
        child_frame_id: child.to_owned(),
        transform: Transform {
            translation: Vector3 { x: t.x, y: t.y, z: t.z },
            rotation: Quaternion { x: q.x, y: q.y, z: q.z, w: q.w },
        },
    }
}

pub(super) fn odometry_msg(names: &Navigation, pose: &Pose2, velocity: &Velocity, at: f64) -> Odometry {
    let twist = Twist {
        linear: Vector3 { x: velocity.linear, ..Vector3::default() },
        angular: Vector3 { z: velocity.angular, ..Vector3::default() },
    };
    Odometry {
        header: header(&names.odom, at),
        child_frame_id: names.base.clone(),
        pose: PoseWithCovariance { pose: pose_to_msg(&in_space(pose)), ..Default::default() },
        twist: TwistWithCovariance { twist, ..Default::default() },
    }
}

pub(super) fn believed_msg(
    names: &Navigation,
    pose: &Pose2,
    spec: &LocalisationSpec,
    at: f64,
) -> PoseWithCovarianceStamped {
    let mut with = PoseWithCovariance { pose: pose_to_msg(&in_space(pose)), ..Default::default() };
    // Rows and columns are x, y, z, roll, pitch, yaw.
    for (index, sigma) in [(0, spec.sigma_xy), (7, spec.sigma_xy), (35, spec.sigma_yaw)] {
        if let Some(entry) = with.covariance.get_mut(index) {
            *entry = sigma * sigma;
        }
    }
    PoseWithCovarianceStamped { header: header(&names.frame, at), pose: with }
}

pub(super) fn grid_msg(frame: &str, grid: &OccupancyGrid, at: f64) -> GridMsg {
    let layout = grid.layout();
    let origin = pose_to_msg(&Isometry3::translation(layout.origin[0], layout.origin[1], 0.0));
    GridMsg {
        header: header(frame, at),
        info: MapMetaData {
            map_load_time: stamp(at),
            resolution: layout.resolution as f32,
            width: u32::try_from(layout.width).unwrap_or(0),
            height: u32::try_from(layout.height).unwrap_or(0),
            origin,
        },
        data: grid.cells().to_vec(),
    }
}

pub(super) fn scan_msg(frame: &str, spec: &LaserSpec, ranges: Vec<f32>, at: f64) -> LaserScan {
    let last = spec.beams.saturating_sub(1) as f64;
    LaserScan {
        header: header(frame, at),
        angle_min: spec.angle_min as f32,
        angle_max: (spec.angle_min + spec.angle_increment * last) as f32,
        angle_increment: spec.angle_increment as f32,
        scan_time: 0.1,
        range_min: spec.range[0] as f32,
        range_max: spec.range[1] as f32,
        ranges,
        ..Default::default()
    }
}

pub(super) fn sent(result: Result<(), RosError>) {
    if let Err(error) = result {
        tracing::debug!("not sent: {error}");
    }
}
