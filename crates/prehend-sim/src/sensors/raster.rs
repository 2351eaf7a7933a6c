//! Filling triangles into a z-buffer.
//!
//! Span filling: each row's first and last pixel come from the edge lines in f64, so triangles that share an edge leave
//! no crack; `nearness` (1/z for a pinhole, the height towards the light for a shadow map) is linear on the screen.

/// A corner on the screen: pixel u, pixel v, nearness.
pub(super) type ScreenPoint = [f64; 3];

/// A buffer that keeps, for each pixel, the largest nearness and which triangle it came from.
pub(super) struct ZBuffer {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) nearness: Vec<f32>,
    pub(super) triangle: Vec<u32>,
}

/// The triangle of pixels that nothing covers.
pub(super) const NOTHING: u32 = u32::MAX;

/// Coefficients (a, b, c) of a quantity a u + b v + c that is linear on the screen.
pub(super) type Linear = [f64; 3];

/// A triangle on the screen, counter-clockwise when seen with v down; knows how to interpolate.
pub(super) struct ScreenTriangle {
    edges: [Linear; 3],
    area: f64,
    u: (f64, f64),
    v: (f64, f64),
}

impl ScreenTriangle {
    /// `None` when the triangle shows its back or is too thin to have an inside.
    pub(super) fn new(p: [ScreenPoint; 3]) -> Option<Self> {
        // Edge lines opposite to corners 0, 1, 2; positive inside for front faces (v points down).
        let edge = |a: ScreenPoint, b: ScreenPoint| [b[1] - a[1], a[0] - b[0], b[0] * a[1] - a[0] * b[1]];
        let edges = [edge(p[1], p[2]), edge(p[2], p[0]), edge(p[0], p[1])];
        let area = edges[0][0] * p[0][0] + edges[0][1] * p[0][1] + edges[0][2];
        if area.is_nan() || area <= 1e-12 {
            return None;
        }
        let range = |axis: usize| {
            let values = p.map(|q| q[axis]);
            (values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(f64::MIN, f64::max))
        };
        Some(Self { edges, area, u: range(0), v: range(1) })
    }

    /// The linear quantity that has these values at the corners.
    pub(super) fn linear(&self, values: [f64; 3]) -> Linear {
        std::array::from_fn(|k| (0..3).map(|i| self.edges[i][k] * values[i]).sum::<f64>() / self.area)
    }
}

impl ZBuffer {
    pub(super) fn new() -> Self {
        Self { width: 0, height: 0, nearness: Vec::new(), triangle: Vec::new() }
    }

    /// Empties the buffer; `far` is the nearness of nothing.
    pub(super) fn clear(&mut self, width: usize, height: usize, far: f32) {
        (self.width, self.height) = (width, height);
        self.nearness.clear();
        self.nearness.resize(width * height, far);
        self.triangle.clear();
        self.triangle.resize(width * height, NOTHING);
    }

    /// Draws a triangle whose nearness is `nearness`, as number `index`.
    pub(super) fn fill(&mut self, triangle: &ScreenTriangle, nearness: Linear, index: u32) {
        let first = triangle.v.0.ceil().max(0.0);
        let last = triangle.v.1.floor().min(self.height as f64 - 1.0);
        let (left, right) = (triangle.u.0.ceil().max(0.0), triangle.u.1.floor().min(self.width as f64 - 1.0));
        if !(first <= last && left <= right) {
            return;
        }
        for row in first as usize..=last as usize {
            let v = row as f64;
            let (mut u0, mut u1) = (left, right);
            let mut inside = true;
            for [a, b, c] in triangle.edges {
                let rest = b * v + c;
                if a > 0.0 {
                    u0 = u0.max((-rest / a).ceil());
                } else if a < 0.0 {
                    u1 = u1.min((-rest / a).floor());
                } else if rest < 0.0 {
                    inside = false;
                }
            }
            if !inside || u0 > u1 {
                continue;
            }
            let (u0, u1) = (u0 as usize, u1 as usize);
            let span = row * self.width + u0..row * self.width + u1 + 1;
            let start = (nearness[0] * u0 as f64 + nearness[1] * v + nearness[2]) as f32;
            let step = nearness[0] as f32;
            let (near, owner) = (&mut self.nearness[span.clone()], &mut self.triangle[span]);
            for (i, (near, owner)) in near.iter_mut().zip(owner).enumerate() {
                let here = start + step * i as f32;
                let wins = here > *near;
                *near = if wins { here } else { *near };
                *owner = if wins { index } else { *owner };
            }
        }
    }
}
