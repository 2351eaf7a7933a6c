//! From RGB-D frames and detections to the object map, its words, and the parts one can act on
