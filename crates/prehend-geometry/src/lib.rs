//! Cameras, masks, images, point clouds, boxes and overlap
