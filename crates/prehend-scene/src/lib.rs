//! Data of the domain: objects, affordances, map, symbolic state, evidence, verdicts, plans
