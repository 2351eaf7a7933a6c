//! Coloured point clouds.

use nalgebra::{Isometry3, Point3, Vector3};
use serde::{Deserialize, Serialize};

/// Points in one frame, metres, with a colour each or none at all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointCloud {
    /// `[n]` points; may be empty; finite.
    pub points: Vec<Point3<f64>>,
    /// `[n]` colours as `[r, g, b]`, or empty.
    pub colors: Vec<[u8; 3]>,
}

impl PointCloud {
    /// A cloud without colours.
    pub fn from_points(points: Vec<Point3<f64>>) -> Self {
        Self { points, colors: Vec::new() }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Mean of the points; `None` when empty.
    pub fn centroid(&self) -> Option<Point3<f64>> {
        if self.points.is_empty() {
            return None;
        }
        let sum: Vector3<f64> = self.points.iter().map(|p| p.coords).sum();
        Some(Point3::from(sum / self.points.len() as f64))
    }

    /// Least and greatest coordinates; `None` when empty.
    pub fn bounds(&self) -> Option<(Point3<f64>, Point3<f64>)> {
        let first = *self.points.first()?;
        Some(self.points.iter().fold((first, first), |(low, high), p| (low.inf(p), high.sup(p))))
    }

    /// The same points in another frame.
    pub fn transformed(&self, target_from_source: &Isometry3<f64>) -> Self {
        Self {
            points: self.points.iter().map(|p| target_from_source * p).collect(),
            colors: self.colors.clone(),
        }
    }

    /// The points with these indices, in this order; indices out of range are left out.
    pub fn select(&self, indices: &[usize]) -> Self {
        let valid = || indices.iter().copied().filter(|i| *i < self.points.len());
        Self {
            points: valid().map(|i| self.points[i]).collect(),
            colors: if self.colors.len() == self.points.len() {
                valid().map(|i| self.colors[i]).collect()
            } else {
                Vec::new()
            },
        }
    }

    /// Appends another cloud of the same frame; colours survive only when both have them (or one is empty).
    pub fn extend(&mut self, other: &Self) {
        let keep = (self.colors.len() == self.points.len()) && (other.colors.len() == other.points.len());
        self.points.extend_from_slice(&other.points);
        if keep {
            self.colors.extend_from_slice(&other.colors);
        } else {
            self.colors.clear();
        }
    }
}
