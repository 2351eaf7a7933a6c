//! The embedded robot: a scene, an arm and a gripper in physics, and what its camera sees.
//!
//! For: standing in for the real robot where there is none, by friction and contacts alone; judging what happened.
//! Not for: ROS (the `sim` node is this crate's face to it), planning, or anything a node may know beyond sensors.
//! Read [`Scene`] first (what is there), then [`World`] (what happens), then `sensors` (what is seen of it).
//!
//! Everything is deterministic: a scene, a seed and the same commands give the same states, bit for bit.
//! Frames: everything is in `link_base` unless a name says otherwise. Metres, radians, seconds, newtons, f64;
//! physics runs in f32 inside [`World`].

pub mod body;
pub mod scene;
pub mod sdf;
pub mod sensors;
pub mod world;

pub use scene::{PlacedScene, Scene};
pub use world::World;
