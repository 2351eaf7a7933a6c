//! From where the stage is seen.

use crate::Stage;
use nalgebra::{Isometry3, Point3, Unit, Vector3};

/// A place in a picture: x right, y down from the left top corner, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pixel {
    /// To the right.
    pub x: f64,
    /// Down.
    pub y: f64,
}

/// A half line from the eye.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Where it begins.
    pub origin: Point3<f64>,
    /// Where it goes.
    pub direction: Unit<Vector3<f64>>,
}

/// A camera that looks from `eye` to `target` with z up in the picture, and whose picture has a size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewpoint {
    /// Where it stands; never straight above or below the target.
    pub eye: Point3<f64>,
    /// What is in the middle of the picture.
    pub target: Point3<f64>,
    /// Angle from the top to the bottom of the picture, rad.
    pub field_of_view: f64,
    /// Width of the picture, pixels, at least 1.
    pub width: u32,
    /// Height of the picture, pixels, at least 1.
    pub height: u32,
}

impl Viewpoint {
    /// Angle of the pictures that nobody asked otherwise for, rad.
    const FIELD_OF_VIEW: f64 = 0.7;
    /// From where the stage is seen at first: from before the robot, which looks along x, from its right, and from above.
    const FROM: [f64; 3] = [1.0, -0.75, 0.7];
    /// What is seen when there is nothing: a table's worth of room, m.
    const NOTHING: f64 = 0.5;
    /// How much farther away it stands than it must.
    const ROOM: f64 = 1.05;

    /// The viewpoint from which the whole stage is in the picture, whatever its shape.
    pub fn framing(stage: &Stage, width: u32, height: u32) -> Self {
        let nothing = Vector3::repeat(Self::NOTHING);
        let (low, high) = stage.extent().unwrap_or((Point3::from(-nothing), Point3::from(nothing)));
        let target = nalgebra::center(&low, &high);
        let half = ((high - low) / 2.0).sup(&Vector3::repeat(0.03));
        let (width, height) = (width.max(1), height.max(1));
        let from = Vector3::from(Self::FROM).normalize();
        let slope = (Self::FIELD_OF_VIEW / 2.0).tan();
        let right = Vector3::z().cross(&from).normalize();
        let up = from.cross(&right);
        let wide = slope * f64::from(width) / f64::from(height);
        // As far as the corner that needs most: one beside the middle must not be beyond the picture's side where it is.
        let needed = (0..8).map(|corner| {
            let side = |bit: i32| if corner & bit == 0 { -1.0 } else { 1.0 };
            let corner = Vector3::new(side(1), side(2), side(4)).component_mul(&half);
            let beside = (corner.dot(&right).abs() / wide).max(corner.dot(&up).abs() / slope);
            corner.dot(&from) + beside
        });
        let eye = target + from * (Self::ROOM * needed.fold(0.0, f64::max));
        Self { eye, target, field_of_view: Self::FIELD_OF_VIEW, width, height }
    }

    /// From the stage to the camera: x right, y down, z forward.
    fn camera_from_stage(&self) -> Isometry3<f64> {
        // `look_at_rh` has y up and z backward.
        let half_turn = Isometry3::rotation(Vector3::x() * std::f64::consts::PI);
        half_turn * Isometry3::look_at_rh(&self.eye, &self.target, &Vector3::z())
    }

    /// Pixels for a unit of distance at unit depth.
    fn focal(&self) -> f64 {
        f64::from(self.height) / 2.0 / (self.field_of_view / 2.0).tan()
    }

    fn middle(&self) -> [f64; 2] {
        [f64::from(self.width) / 2.0, f64::from(self.height) / 2.0]
    }

    /// Where a place of the stage is in the picture, which may be outside of it; `None` for what is behind the eye.
    pub fn pixel(&self, place: &Point3<f64>) -> Option<Pixel> {
        let seen = self.camera_from_stage() * place;
        let [x, y] = self.middle();
        (seen.z > 1e-6)
            .then(|| Pixel { x: x + self.focal() * seen.x / seen.z, y: y + self.focal() * seen.y / seen.z })
    }

    /// What lies under a pixel: the half line of all places that are seen there.
    pub fn ray(&self, pixel: Pixel) -> Ray {
        let [x, y] = self.middle();
        let seen = Vector3::new((pixel.x - x) / self.focal(), (pixel.y - y) / self.focal(), 1.0);
        let stage_from_camera = self.camera_from_stage().inverse();
        Ray { origin: self.eye, direction: Unit::new_normalize(stage_from_camera.rotation * seen) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use prehend_geometry::OrientedBox;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn front() -> Viewpoint {
        Viewpoint {
            eye: Point3::new(2.0, 0.0, 0.0),
            target: Point3::origin(),
            field_of_view: std::f64::consts::FRAC_PI_2,
            width: 200,
            height: 100,
        }
    }

    #[test]
    fn from_before_the_robot_its_left_is_on_the_right_and_up_is_up() {
        for (place, x, y) in
            [([0.0, 0.0, 0.0], 100.0, 50.0), ([0.0, 1.0, 0.0], 125.0, 50.0), ([0.0, 0.0, 1.0], 100.0, 25.0)]
        {
            let pixel = front().pixel(&Point3::from(place)).expect("before the eye");
            assert_relative_eq!(pixel.x, x, epsilon = 1e-9);
            assert_relative_eq!(pixel.y, y, epsilon = 1e-9);
        }
        assert_eq!(front().pixel(&Point3::new(3.0, 0.0, 0.0)), None);
    }

    proptest! {
        #[test]
        fn the_ray_of_a_pixel_goes_to_what_is_seen_there(
            x in -1.0..1.0_f64, y in -1.0..1.0_f64, z in -1.0..1.0_f64, up in 0.1..3.0_f64,
        ) {
            let view = Viewpoint { eye: Point3::new(2.5, -1.0, up), ..front() };
            let place = Point3::new(x, y, z);
            let ray = view.ray(view.pixel(&place).expect("before the eye"));
            let along = (place - ray.origin).dot(&ray.direction);
            prop_assert!((ray.origin + ray.direction.into_inner() * along - place).norm() < 1e-9);
            prop_assert!(along > 0.0);
        }
    }

    #[test]
    fn the_whole_stage_is_in_the_picture_whatever_its_shape() {
        let boxes = [[0.5, 0.2, 0.1], [-0.4, 1.0, 0.9], [3.0, 0.0, 0.0]].map(|[x, y, z]| OrientedBox {
            pose: Isometry3::new(Vector3::new(x, y, z), Vector3::z()),
            size: Vector3::new(0.4, 0.2, 0.3),
        });
        let things = boxes.map(|bounds| crate::things::tests::named("box_0", bounds));
        let stage = Stage { things: Arc::new(things.to_vec()), ..Default::default() };
        for (width, height) in [(640, 480), (200, 900), (900, 200)] {
            let view = Viewpoint::framing(&stage, width, height);
            for bounds in &boxes {
                for corner in 0..8 {
                    let side = |bit: i32| if corner & bit == 0 { -0.5 } else { 0.5 };
                    let corner = Vector3::new(side(1), side(2), side(4)).component_mul(&bounds.size);
                    let pixel = view.pixel(&(bounds.pose * Point3::from(corner))).expect("before the eye");
                    let is_in = (0.0..f64::from(width)).contains(&pixel.x)
                        && (0.0..f64::from(height)).contains(&pixel.y);
                    assert!(is_in, "{pixel:?} of {width} x {height}");
                }
            }
        }
    }
}
