//! Basic colour words measured from pixels.
//!
//! Light scales the brightness of a pixel, but hardly changes its hue and saturation. So the hue decides first. Brightness is
//! judged by the bright pixels of each hue only, since those face the light.

/// Every word [`fractions`] can give (the basic terms of Berlin and Kay, with cyan and beige).
pub const WORDS: [&str; 13] = [
    "red", "orange", "yellow", "green", "cyan", "blue", "purple", "pink", "brown", "beige", "white", "grey",
    "black",
];

/// Upper ends of hue bands, degrees.
const BANDS: [(f64, Band); 9] = [
    (13.0, Band::Red),
    (41.0, Band::Orange),
    (68.0, Band::Yellow),
    (160.0, Band::Green),
    (198.0, Band::Cyan),
    (254.0, Band::Blue),
    (308.0, Band::Purple),
    (344.0, Band::Pink),
    (360.0, Band::Red),
];

/// Chroma (greatest minus least channel) below which a pixel has no hue, 8-bit steps.
const MIN_CHROMA: u8 = 18;
/// Saturation below which a pixel has no hue.
const MIN_SATURATION: f64 = 0.21;
/// Brightness of bright pixels from which grey is white.
const WHITE: f64 = 0.77;
/// Brightness of bright pixels up to which grey is black.
const BLACK: f64 = 0.2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Band {
    Red,
    Orange,
    Yellow,
    Green,
    Cyan,
    Blue,
    Purple,
    Pink,
    Neutral,
}

const ALL: [Band; 9] = [
    Band::Red,
    Band::Orange,
    Band::Yellow,
    Band::Green,
    Band::Cyan,
    Band::Blue,
    Band::Purple,
    Band::Pink,
    Band::Neutral,
];

/// Hue in degrees, saturation and value in [0, 1].
fn hsv([r, g, b]: [u8; 3]) -> (f64, f64, f64) {
    let (most, least) = (r.max(g).max(b), r.min(g).min(b));
    let chroma = f64::from(most - least);
    let (rf, gf, bf) = (f64::from(r), f64::from(g), f64::from(b));
    let hue = if most == least {
        0.0
    } else if most == r {
        ((gf - bf) / chroma).rem_euclid(6.0)
    } else if most == g {
        (bf - rf) / chroma + 2.0
    } else {
        (rf - gf) / chroma + 4.0
    };
    let saturation = if most == 0 { 0.0 } else { chroma / f64::from(most) };
    (hue * 60.0, saturation, f64::from(most) / 255.0)
}

fn band(pixel: [u8; 3], hue: f64, saturation: f64) -> Band {
    let [r, g, b] = pixel;
    let chroma = r.max(g).max(b) - r.min(g).min(b);
    if chroma < MIN_CHROMA || saturation < MIN_SATURATION {
        return Band::Neutral;
    }
    BANDS.iter().find(|(end, _)| hue < *end).map_or(Band::Red, |(_, band)| *band)
}

/// The word of a band whose bright pixels have this saturation and brightness.
fn word(band: Band, saturation: f64, value: f64) -> &'static str {
    match band {
        Band::Red if saturation < 0.55 && value > 0.7 => "pink",
        Band::Red => "red",
        Band::Orange if saturation < 0.42 && value > 0.55 => "beige",
        Band::Orange if saturation < 0.8 && value < 0.78 => "brown",
        Band::Orange if value < 0.5 => "brown",
        Band::Orange => "orange",
        Band::Yellow if saturation < 0.42 => "beige",
        Band::Yellow => "yellow",
        Band::Green => "green",
        Band::Cyan => "cyan",
        Band::Blue => "blue",
        Band::Purple => "purple",
        Band::Pink => "pink",
        Band::Neutral if value >= WHITE => "white",
        Band::Neutral if value <= BLACK => "black",
        Band::Neutral => "grey",
    }
}

/// Basic colour words of the pixels with their share in [0, 1], most first; words under 3 % are left out. Empty for no pixels.
pub fn fractions(pixels: impl Iterator<Item = [u8; 3]>) -> Vec<(String, f64)> {
    // Per band: number of pixels, sum of saturation, histogram of brightness.
    let mut counts = [0_u32; ALL.len()];
    let mut saturations = [0.0; ALL.len()];
    let mut bright = [[0_u32; 64]; ALL.len()];
    let mut total = 0_u32;
    for pixel in pixels {
        let (hue, saturation, value) = hsv(pixel);
        let slot = band(pixel, hue, saturation) as usize;
        counts[slot] += 1;
        saturations[slot] += saturation;
        bright[slot][(value * 63.0) as usize] += 1;
        total += 1;
    }
    let mut found: Vec<(String, f64)> = Vec::new();
    for band in ALL {
        let slot = band as usize;
        let share = f64::from(counts[slot]) / f64::from(total.max(1));
        if share < 0.03 {
            continue;
        }
        let value = quantile(&bright[slot], counts[slot], 0.85);
        let name = word(band, saturations[slot] / f64::from(counts[slot]), value);
        match found.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum += share,
            None => found.push((name.to_owned(), share)),
        }
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found
}

fn quantile(histogram: &[u32; 64], count: u32, share: f64) -> f64 {
    let wanted = (f64::from(count) * share) as u32;
    let mut seen = 0;
    for (slot, pixels) in histogram.iter().enumerate() {
        seen += pixels;
        if seen > wanted {
            return (slot as f64 + 0.5) / 63.0;
        }
    }
    1.0
}

/// How unlike two colours are, whatever the light: the distance of their channel shares, from 0 to about 0.8. Dark colours
/// count less, because their shares are noise. A great difference in brightness counts, too.
pub fn unlikeness(a: [u8; 3], b: [u8; 3]) -> f64 {
    let sum = |c: [u8; 3]| c.iter().map(|x| f64::from(*x)).sum::<f64>();
    let (sa, sb) = (sum(a), sum(b));
    let apart: f64 = (0..3)
        .map(|i| (f64::from(a[i]) / sa.max(1.0) - f64::from(b[i]) / sb.max(1.0)).powi(2))
        .sum::<f64>()
        .sqrt();
    let sure = (sa.min(sb) / 150.0).min(1.0);
    let ratio = (sa.min(sb) + 30.0) / (sa.max(sb) + 30.0);
    apart * sure + (0.45 - ratio).max(0.0)
}

/// Mean of the pixels; black for none.
pub fn mean(pixels: impl Iterator<Item = [u8; 3]>) -> [u8; 3] {
    let (mut sum, mut count) = ([0_u64; 3], 0_u64);
    for pixel in pixels {
        for (total, channel) in sum.iter_mut().zip(pixel) {
            *total += u64::from(channel);
        }
        count += 1;
    }
    sum.map(|total| (total / count.max(1)) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A surface of one colour under light from `low` to `high` of full brightness.
    fn shaded(color: [u8; 3], low: f64, high: f64) -> Vec<[u8; 3]> {
        (0..200)
            .map(|i| {
                let light = low + (high - low) * f64::from(i) / 199.0;
                color.map(|c| (f64::from(c) * light).min(255.0) as u8)
            })
            .collect()
    }

    #[test]
    fn words_survive_shading() {
        for (color, expected) in [
            ([196, 30, 36], "red"),
            ([120, 16, 22], "red"),
            ([232, 118, 20], "orange"),
            ([236, 204, 38], "yellow"),
            ([200, 160, 56], "yellow"),
            ([44, 140, 58], "green"),
            ([136, 200, 104], "green"),
            ([22, 84, 40], "green"),
            ([40, 184, 196], "cyan"),
            ([48, 176, 160], "cyan"),
            ([34, 74, 188], "blue"),
            ([120, 172, 228], "blue"),
            ([20, 36, 104], "blue"),
            ([112, 48, 150], "purple"),
            ([232, 120, 160], "pink"),
            ([200, 40, 140], "pink"),
            ([116, 70, 38], "brown"),
            ([168, 124, 78], "brown"),
            ([214, 192, 154], "beige"),
            ([232, 232, 228], "white"),
            ([128, 128, 128], "grey"),
            ([28, 28, 30], "black"),
            ([255, 0, 0], "red"),
            ([0, 0, 255], "blue"),
            ([255, 255, 255], "white"),
        ] {
            for (low, high) in [(0.55, 1.03), (0.8, 1.0), (0.6, 0.95)] {
                let found = fractions(shaded(color, low, high).into_iter());
                assert_eq!(found[0].0, expected, "{color:?} under {low}..{high}: {found:?}");
                assert!(found[0].1 > 0.8, "{color:?}: {found:?}");
            }
        }
    }

    #[test]
    fn two_colours_give_two_words() {
        let mut pixels = shaded([196, 30, 36], 0.6, 1.0);
        pixels.extend(shaded([232, 232, 228], 0.6, 1.0).into_iter().take(100));
        let found = fractions(pixels.into_iter());
        assert_eq!(found.iter().map(|(w, _)| w.as_str()).take(1).collect::<Vec<_>>(), ["red"]);
        assert!(found.len() == 2 && (found[0].1 - 0.667).abs() < 0.02, "{found:?}");
        assert!(fractions(std::iter::empty()).is_empty());
    }

    #[test]
    fn shade_is_not_another_colour() {
        assert!(unlikeness([200, 30, 36], [120, 18, 22]) < 0.05);
        assert!(unlikeness([200, 30, 36], [34, 74, 188]) > 0.3);
        assert!(unlikeness([230, 230, 230], [28, 28, 30]) > 0.1);
    }
}
