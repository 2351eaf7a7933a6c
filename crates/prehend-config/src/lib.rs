//! YAML documents with line numbers: every error at once, and the nearest known key
