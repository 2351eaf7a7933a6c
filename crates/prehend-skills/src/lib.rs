//! Skill contracts, grasp candidates and places from observed clouds
