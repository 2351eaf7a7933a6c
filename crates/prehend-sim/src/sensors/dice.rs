//! Repeatable randomness by hashing: the same words give the same number, in any order and on any machine.

/// Mixes words into 64 well-spread bits (the finaliser of SplitMix64, Steele et al. 2014, over a running sum).
pub(crate) fn hash(words: &[u64]) -> u64 {
    words
        .iter()
        .fold(0x9e37_79b9_7f4a_7c15, |state, word| mix(state ^ word.wrapping_mul(0xd6e8_feb8_6659_fd93)))
}

/// One round of SplitMix64.
pub(super) fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number in [0, 1) out of a hash.
pub(super) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// A standard normal number out of a hash (Box-Muller).
pub(super) fn normal(bits: u64) -> f64 {
    let (u, v) = (unit(bits).max(1e-300), unit(mix(bits)));
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// A table of standard normal numbers, for noise on every pixel.
pub(super) struct NormalTable {
    values: Vec<f32>,
}

impl NormalTable {
    const LENGTH: usize = 1 << 14;

    pub(super) fn new() -> Self {
        Self { values: (0..Self::LENGTH as u64).map(|i| normal(hash(&[0x6e6f_726d, i])) as f32).collect() }
    }

    /// The number that these bits choose.
    pub(super) fn at(&self, bits: u64) -> f32 {
        self.values[bits as usize & (Self::LENGTH - 1)]
    }
}
