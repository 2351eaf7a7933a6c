//! Messages of two topics that were made at about the same time.

use std::collections::VecDeque;

/// Messages that wait for their counterpart on a live topic; older ones lost it.
const WAITING: usize = 32;

/// One of the two topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Colour.
    Color,
    /// Depth.
    Depth,
}

/// Pairs messages by their stamps, as the approximate time policy of ROS' `message_filters` does for two topics: two are a pair
/// when each is the nearest to the other and they are no further apart than the tolerance. Nothing is used twice.
///
/// Each topic's messages should come in the order of their stamps; a late one is put into its place when it still waits.
#[derive(Debug)]
pub struct Pairing<T> {
    tolerance: i64,
    waiting: [VecDeque<(i64, T)>; 2],
    unpaired: [u64; 2],
}

impl<T> Pairing<T> {
    /// Pairs what is at most `tolerance` nanoseconds apart.
    pub fn new(tolerance: i64) -> Self {
        Self { tolerance, waiting: [VecDeque::new(), VecDeque::new()], unpaired: [0; 2] }
    }

    /// Takes a message with its stamp, nanoseconds.
    pub fn push(&mut self, side: Side, stamp: i64, item: T) {
        let queue = &mut self.waiting[side as usize];
        let place = queue.partition_point(|(other, _)| *other <= stamp);
        queue.insert(place, (stamp, item));
    }

    /// Forgets what has waited so long that its counterpart will not come any more.
    pub fn forget_old(&mut self) {
        for (queue, unpaired) in self.waiting.iter_mut().zip(&mut self.unpaired) {
            while queue.len() > WAITING {
                queue.pop_front();
                *unpaired += 1;
            }
        }
    }

    /// The next pair of colour and depth with the stamp of colour. `ended` says that no more messages come; otherwise the answer
    /// waits until nothing that may come can be nearer.
    pub fn next(&mut self, ended: bool) -> Option<(i64, T, T)> {
        loop {
            let [Some((color, _)), Some((depth, _))] = [self.waiting[0].front(), self.waiting[1].front()]
            else {
                return None;
            };
            let gap = color.abs_diff(*depth);
            let (older, newer) = if color <= depth { (0, *depth) } else { (1, *color) };
            let is_near = gap <= self.tolerance.unsigned_abs();
            let rival = self.waiting[older].get(1).map(|(stamp, _)| stamp.abs_diff(newer) < gap);
            match rival {
                _ if gap == 0 => {}
                // The one after it is nearer to the newer one.
                Some(true) => {
                    self.drop_front(older);
                    continue;
                }
                None if !ended && is_near => return None,
                _ if !is_near => {
                    self.drop_front(older);
                    continue;
                }
                _ => {}
            }
            let (stamp, color) = self.waiting[0].pop_front()?;
            return Some((stamp, color, self.waiting[1].pop_front()?.1));
        }
    }

    fn drop_front(&mut self, side: usize) {
        self.waiting[side].pop_front();
        self.unpaired[side] += 1;
    }

    /// Colour and depth messages without a counterpart so far.
    pub fn unpaired(&self) -> [u64; 2] {
        self.unpaired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs of all stamps at once, and as they come, must be the same; both are given by the stamps of colour and depth.
    fn check(color: &[i64], depth: &[i64], expected: &[(i64, i64)]) {
        let mut whole = Pairing::new(20);
        color.iter().for_each(|stamp| whole.push(Side::Color, *stamp, *stamp));
        depth.iter().for_each(|stamp| whole.push(Side::Depth, *stamp, *stamp));
        let pairs: Vec<_> =
            std::iter::from_fn(|| whole.next(true)).map(|(_, color, depth)| (color, depth)).collect();
        assert_eq!(pairs, expected, "{color:?} {depth:?}");

        let mut stamps: Vec<_> = color.iter().map(|stamp| (*stamp, Side::Color)).collect();
        stamps.extend(depth.iter().map(|stamp| (*stamp, Side::Depth)));
        stamps.sort_by_key(|(stamp, _)| *stamp);
        let (mut live, mut pairs) = (Pairing::new(20), Vec::new());
        for (stamp, side) in stamps {
            live.push(side, stamp, stamp);
            while let Some((_, color, depth)) = live.next(false) {
                pairs.push((color, depth));
            }
        }
        while let Some((_, color, depth)) = live.next(true) {
            pairs.push((color, depth));
        }
        assert_eq!(pairs, expected, "as they come: {color:?} {depth:?}");
    }

    #[test]
    fn the_nearest_within_the_tolerance_is_taken_and_nothing_twice() {
        check(&[0, 100, 200], &[0, 100, 200], &[(0, 0), (100, 100), (200, 200)]);
        check(&[0, 100, 200], &[5, 95, 214], &[(0, 5), (100, 95), (200, 214)]);
        // Depth at a third of the rate: each takes its nearest picture.
        check(&[0, 33, 66, 100, 133, 166], &[2, 102], &[(0, 2), (100, 102)]);
        // Two pictures near one depth: the nearer one gets it.
        check(&[0, 10], &[12], &[(10, 12)]);
        check(&[10, 20], &[12], &[(10, 12)]);
        check(&[0, 100], &[50], &[]);
        check(&[0, 100], &[21, 120], &[(100, 120)]);
        check(&[], &[1], &[]);
        check(&[7, 7], &[7], &[(7, 7)]);
    }

    #[test]
    fn equal_stamps_do_not_wait_and_others_wait_until_they_are_certain() {
        let mut pairing = Pairing::new(20);
        pairing.push(Side::Color, 100, ());
        assert!(pairing.next(false).is_none());
        pairing.push(Side::Depth, 110, ());
        assert!(pairing.next(false).is_none(), "a picture at 111 would be nearer");
        pairing.push(Side::Color, 130, ());
        assert!(pairing.next(false).is_some());
        pairing.push(Side::Depth, 130, ());
        assert!(pairing.next(false).is_some(), "nothing is nearer than equal");
    }

    #[test]
    fn what_waits_is_bounded_and_counted() {
        let mut pairing = Pairing::new(20);
        for stamp in 0..1000 {
            pairing.push(Side::Color, stamp * 100, ());
            pairing.forget_old();
        }
        assert_eq!(pairing.unpaired(), [1000 - WAITING as u64, 0]);
        pairing.push(Side::Depth, 99_900, ());
        assert_eq!(pairing.next(false).map(|(stamp, ..)| stamp), Some(99_900));
        assert_eq!(pairing.unpaired(), [999, 0]);
    }
}
