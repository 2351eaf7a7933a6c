//! Shrinking regions.

use crate::Mask;

impl Mask {
    /// The region without its outermost pixels, `times` over: a pixel stays when its four neighbours are in the region.
    /// Pixels at the image border count their missing neighbours as inside, since the object goes on there.
    pub fn eroded(&self, times: usize) -> Self {
        let mut mask = self.clone();
        for _ in 0..times {
            let inside = |u: usize, v: usize, du: isize, dv: isize| {
                let (Some(u), Some(v)) = (u.checked_add_signed(du), v.checked_add_signed(dv)) else {
                    return true;
                };
                u >= mask.image_width || v >= mask.image_height || mask.contains(u, v)
            };
            let keep: Vec<usize> = mask
                .indices()
                .into_iter()
                .filter(|index| {
                    let (u, v) = (index % mask.image_width, index / mask.image_width);
                    [(0, -1), (0, 1), (-1, 0), (1, 0)].iter().all(|(du, dv)| inside(u, v, *du, *dv))
                })
                .collect();
            mask = Self::from_indices(self.image_width, self.image_height, &keep);
        }
        mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_loses_its_rim_but_not_at_the_image_border() {
        assert_eq!(Mask::filled_box(20, 20, 5, 5, 6, 4).eroded(1), Mask::filled_box(20, 20, 6, 6, 4, 2));
        assert_eq!(Mask::filled_box(20, 20, 0, 5, 6, 5).eroded(1), Mask::filled_box(20, 20, 0, 6, 5, 3));
        assert_eq!(Mask::filled_box(20, 20, 5, 5, 6, 4).eroded(2).area(), 0);
        assert_eq!(Mask::default().eroded(3).area(), 0);
    }
}
