//! Queries on a [`CollisionWorld`]: does this configuration, or this straight motion, touch anything or leave the fence?

use crate::JointError;
use crate::collision::{Body, CollisionWorld, Contact};
use crate::kinematics::JointAxis;
use crate::straight::{fractions, interpolate, sample_count};
use nalgebra::{Isometry3, Point3};
use parry3d::bounding_volume::BoundingVolume;
use parry3d::math::Pose;
use parry3d::query;
use std::ops::ControlFlow;

impl CollisionWorld {
    /// The first contact found at a configuration, or none when it is free.
    ///
    /// Errors: [`JointError::Count`], [`JointError::NotFinite`]; limits are not checked.
    pub fn check(&self, joints: &[f64]) -> Result<Option<Contact>, JointError> {
        self.model.check_numbers(joints)?;
        Ok(self.contact(joints, &mut Scratch::default()))
    }

    /// Whether a configuration is inside the joint limits, touches nothing and has the tip in the fence. A bad vector is not free.
    pub fn is_free(&self, joints: &[f64]) -> bool {
        self.model.check_joints(joints).is_ok() && self.is_clear(joints, &mut Scratch::default())
    }

    /// The first contact on the straight joint motion from `from` to `to` (both ends included), with the fraction of the motion at
    /// which it was seen. No point of the robot moves more than `step` (m) between two samples.
    ///
    /// Errors: as [`CollisionWorld::check`].
    pub fn check_motion(
        &self,
        from: &[f64],
        to: &[f64],
        step: f64,
    ) -> Result<Option<(f64, Contact)>, JointError> {
        self.model.check_numbers(from)?;
        self.model.check_numbers(to)?;
        let mut scratch = Scratch::default();
        let mut at = vec![0.0; from.len()];
        for fraction in fractions(&self.model, from, to, step) {
            interpolate(from, to, fraction, &mut at);
            if let Some(contact) = self.contact(&at, &mut scratch) {
                return Ok(Some((fraction, contact)));
            }
        }
        Ok(None)
    }

    /// Whether the straight motion between good vectors touches nothing and stays in the fence; without the start, and in an order
    /// that finds what is in the way early.
    pub(crate) fn motion_is_free(&self, from: &[f64], to: &[f64], step: f64, scratch: &mut Scratch) -> bool {
        let samples = sample_count(&self.model, from, to, step);
        let mut at = std::mem::take(&mut scratch.joints);
        at.resize(from.len(), 0.0);
        let mut free_at = |sample: usize, scratch: &mut Scratch| {
            interpolate(from, to, sample as f64 / samples as f64, &mut at);
            self.is_clear(&at, scratch)
        };
        // The end first, then strides that halve: an obstacle in the middle shows after few checks.
        let mut free = free_at(samples, scratch);
        let mut stride = samples.next_power_of_two() / 2;
        while free && stride >= 1 {
            free = (stride..samples).step_by(2 * stride).all(|sample| free_at(sample, scratch));
            stride /= 2;
        }
        scratch.joints = at;
        free
    }

    /// Whether good joint values touch nothing and have the tip in the fence.
    pub(crate) fn is_clear(&self, joints: &[f64], scratch: &mut Scratch) -> bool {
        // The fence first: it asks for the chain only.
        self.beyond(joints, scratch).is_none() && self.contact(joints, scratch).is_none()
    }

    /// Where the tip is at good joint values, when that is beyond the fence.
    pub(crate) fn beyond(&self, joints: &[f64], scratch: &mut Scratch) -> Option<Point3<f64>> {
        let fence = self.fence.as_ref()?;
        let tip = Point3::from(self.model.tip_and_axes(joints, &mut scratch.axes).translation.vector);
        (!fence.contains(&tip)).then_some(tip)
    }

    /// Everything that touches at a configuration: each pair once, with its greatest depth.
    ///
    /// Errors: as [`CollisionWorld::check`].
    pub fn contacts(&self, joints: &[f64]) -> Result<Vec<Contact>, JointError> {
        self.model.check_numbers(joints)?;
        Ok(self.all_contacts(joints, &mut Scratch::default()))
    }

    pub(crate) fn all_contacts(&self, joints: &[f64], scratch: &mut Scratch) -> Vec<Contact> {
        let mut all: Vec<Contact> = Vec::new();
        let _ = self.visit(joints, scratch, &mut |contact| {
            match all.iter_mut().find(|known| known.link == contact.link && known.object == contact.object) {
                Some(known) => known.depth = known.depth.max(contact.depth),
                None => all.push(contact),
            }
            ControlFlow::Continue(())
        });
        all
    }

    /// The first contact at good joint values.
    pub(crate) fn contact(&self, joints: &[f64], scratch: &mut Scratch) -> Option<Contact> {
        self.visit(joints, scratch, &mut ControlFlow::Break).break_value()
    }

    fn visit(
        &self,
        joints: &[f64],
        scratch: &mut Scratch,
        found: &mut impl FnMut(Contact) -> ControlFlow<Contact>,
    ) -> ControlFlow<Contact> {
        self.model.link_poses_into(joints, self.drive, &mut scratch.links);
        scratch.poses.clear();
        scratch.poses.extend(scratch.links.iter().map(crate::collision::pose32));
        for body in self.bodies.iter().filter(|body| body.moves) {
            self.against_scene(body, scratch, found)?;
        }
        for attached in self.attached.values() {
            for body in &attached.bodies {
                self.against_scene(body, scratch, found)?;
                let pose = scratch.poses[body.link] * body.link_from_shape;
                let bounds = body.shape.compute_aabb(&pose);
                for other in self.bodies.iter().filter(|other| !attached.touch_links.contains(&other.name)) {
                    let other_pose = scratch.poses[other.link] * other.link_from_shape;
                    if bounds.intersects(&other.shape.compute_aabb(&other_pose))
                        && !self.is_allowed(&body.name, &other.name)
                        && let Some(depth) = touching(body, &pose, other, &other_pose)
                    {
                        found(Contact { link: other.name.clone(), object: body.name.clone(), depth })?;
                    }
                }
            }
        }
        for (a, b) in &self.self_pairs {
            let (a, b) = (&self.bodies[*a as usize], &self.bodies[*b as usize]);
            let pose_a = scratch.poses[a.link] * a.link_from_shape;
            let pose_b = scratch.poses[b.link] * b.link_from_shape;
            let reach = a.radius + b.radius;
            if (pose_a.translation - pose_b.translation).length_squared() < reach * reach
                && let Some(depth) = touching(a, &pose_a, b, &pose_b)
                && !self.is_allowed(&a.name, &b.name)
            {
                found(Contact { link: a.name.clone(), object: b.name.clone(), depth })?;
            }
        }
        ControlFlow::Continue(())
    }

    fn against_scene(
        &self,
        body: &Body,
        scratch: &Scratch,
        found: &mut impl FnMut(Contact) -> ControlFlow<Contact>,
    ) -> ControlFlow<Contact> {
        let pose = scratch.poses[body.link] * body.link_from_shape;
        let bounds = body.shape.compute_aabb(&pose);
        for (name, object) in &self.objects {
            if !bounds.intersects(&object.bounds) || self.is_allowed(&body.name, name) {
                continue;
            }
            for leaf in object.bvh.intersect_aabb(&bounds) {
                let Some((other_pose, other)) = object.shapes.get(leaf as usize) else { continue };
                let hit = query::intersection_test(&pose, body.shape.as_ref(), other_pose, other.as_ref());
                if hit.is_ok_and(|hit| hit.intersecting) {
                    let depth = depth(&pose, body.shape.as_ref(), other_pose, other.as_ref());
                    found(Contact { link: body.name.clone(), object: name.clone(), depth })?;
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// Buffers of one thread of queries.
#[derive(Default)]
pub(crate) struct Scratch {
    links: Vec<Isometry3<f64>>,
    poses: Vec<Pose>,
    joints: Vec<f64>,
    axes: Vec<JointAxis>,
}

fn touching(a: &Body, pose_a: &Pose, b: &Body, pose_b: &Pose) -> Option<f64> {
    let hit = query::intersection_test(pose_a, a.shape.as_ref(), pose_b, b.shape.as_ref());
    hit.is_ok_and(|hit| hit.intersecting).then(|| depth(pose_a, a.shape.as_ref(), pose_b, b.shape.as_ref()))
}

fn depth(pose_a: &Pose, a: &dyn parry3d::shape::Shape, pose_b: &Pose, b: &dyn parry3d::shape::Shape) -> f64 {
    match query::contact(pose_a, a, pose_b, b, 0.0) {
        Ok(Some(contact)) => f64::from((-contact.dist).max(0.0)),
        Ok(None) | Err(_) => 0.0,
    }
}
