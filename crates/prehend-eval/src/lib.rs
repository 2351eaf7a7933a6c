//! Scenarios, judges, metrics, statistics and reports
