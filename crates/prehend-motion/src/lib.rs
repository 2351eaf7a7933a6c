//! Kinematics from URDF, IK, RRT-Connect, Cartesian paths, time parameterisation
