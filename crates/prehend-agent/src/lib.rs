//! Tools and their contracts, the built-in planner, the agent loop
