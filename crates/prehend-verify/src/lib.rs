//! Every judgement: diagnostics, commit gate, permits, outcome checks
