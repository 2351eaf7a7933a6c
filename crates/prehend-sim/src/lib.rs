//! The embedded robot: physics, sensors, controllers, scene files
