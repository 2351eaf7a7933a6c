//! The loop that gathers evidence until the verifier accepts
