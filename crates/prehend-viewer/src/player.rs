//! Where a recording is played.

/// Length of a step, seconds.
const STEP: f64 = 0.2;

/// What a person wants of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steer {
    /// Hold it, or go on.
    Pause,
    /// Hold it a step later.
    Forward,
    /// Hold it a step earlier.
    Back,
    /// Go to this share of its length, [0, 1].
    To(f64),
}

/// Plays a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Player {
    at: f64,
    length: f64,
    plays: bool,
}

impl Player {
    /// For a recording of `length` seconds, from `at` on. What is no number is 0, and what is beyond the end is the end.
    pub fn new(length: f64, at: f64) -> Self {
        let length = if length.is_finite() { length.max(0.0) } else { 0.0 };
        let mut player = Self { at: 0.0, length, plays: true };
        player.go_to(at);
        player
    }

    /// Seconds after the beginning.
    pub fn at(&self) -> f64 {
        self.at
    }

    /// Lets time pass, seconds; whether that changed anything. At its end the recording is held.
    pub fn advance(&mut self, seconds: f64) -> bool {
        let before = self.at;
        if self.plays {
            self.go_to(self.at + seconds);
            self.plays = self.at < self.length;
        }
        self.at != before
    }

    /// Does what a person wants.
    pub fn take(&mut self, steer: Steer) {
        match steer {
            Steer::Pause if !self.plays && self.at >= self.length => {
                self.at = 0.0;
                self.plays = true;
            }
            Steer::Pause => self.plays = !self.plays,
            Steer::Forward => {
                self.plays = false;
                self.go_to(self.at + STEP);
            }
            Steer::Back => {
                self.plays = false;
                self.go_to(self.at - STEP);
            }
            Steer::To(share) => self.go_to(share * self.length),
        }
    }

    /// Where it is, in words.
    pub fn words(&self) -> String {
        let held = if self.plays { "" } else { ", held" };
        format!("{:.1} of {:.1} s{held}", self.at, self.length)
    }

    fn go_to(&mut self, at: f64) {
        self.at = if at.is_finite() { at.clamp(0.0, self.length) } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_plays_to_its_end_and_from_there_anew() {
        let mut player = Player::new(10.0, 9.0);
        assert!(player.advance(0.5) && player.at() == 9.5);
        assert!(player.advance(5.0) && player.at() == 10.0);
        assert!(!player.advance(1.0));
        assert_eq!(player.words(), "10.0 of 10.0 s, held");
        player.take(Steer::Pause);
        assert!(player.at() == 0.0 && player.advance(1.0));
        assert_eq!(player.words(), "1.0 of 10.0 s");
    }

    #[test]
    fn it_is_held_stepped_and_scrubbed() {
        let mut player = Player::new(10.0, 5.0);
        player.take(Steer::Pause);
        assert!(!player.advance(1.0));
        player.take(Steer::Forward);
        assert!((player.at() - 5.2).abs() < 1e-9 && !player.advance(1.0));
        for _ in 0..100 {
            player.take(Steer::Back);
        }
        assert_eq!(player.at(), 0.0);
        player.take(Steer::To(0.7));
        assert!((player.at() - 7.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_no_time_of_it_is_brought_into_it() {
        for (length, at, expected) in
            [(10.0, 20.0, 10.0), (10.0, -1.0, 0.0), (10.0, f64::NAN, 0.0), (f64::NAN, 5.0, 0.0)]
        {
            assert_eq!(Player::new(length, at).at(), expected, "{at} of {length}");
        }
    }
}
