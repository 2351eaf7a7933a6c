//! The nodes of the graph, one file each
