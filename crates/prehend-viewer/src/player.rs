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
#[derive(Clone, Debug, PartialEq)]
pub struct Player {
    /// Times that steps go to, in order; without any, a step is a part of a second.
    marks: Vec<f64>,
    at: f64,
    length: f64,
    plays: bool,
}

impl Player {
    /// For a recording of `length` seconds, from `at` on. What is no number is 0, and what is beyond the end is the end.
    pub fn new(length: f64, at: f64) -> Self {
        let length = if length.is_finite() { length.max(0.0) } else { 0.0 };
        let mut player = Self { marks: Vec::new(), at: 0.0, length, plays: true };
        player.go_to(at);
        player
    }

    /// Steps go to these times, seconds in ascending order, and it is held.
    #[must_use]
    pub fn stepping(self, marks: Vec<f64>) -> Self {
        Self { marks, plays: false, ..self }
    }

    /// The step that is shown, from 1, and how many there are; `None` without steps.
    pub fn step(&self) -> Option<(usize, usize)> {
        let passed = self.marks.partition_point(|mark| *mark <= self.at);
        (!self.marks.is_empty()).then_some((passed, self.marks.len()))
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
                let next = self.marks.iter().copied().find(|mark| *mark > self.at);
                self.go_to(if self.marks.is_empty() { self.at + STEP } else { next.unwrap_or(self.length) });
            }
            Steer::Back => {
                self.plays = false;
                let before = self.marks.iter().copied().rfind(|mark| *mark < self.at);
                self.go_to(if self.marks.is_empty() { self.at - STEP } else { before.unwrap_or(0.0) });
            }
            Steer::To(share) => self.go_to(share * self.length),
        }
    }

    /// Where it is, in words.
    pub fn words(&self) -> String {
        let held = if self.plays { "" } else { ", held" };
        let step = self.step().map_or_else(String::new, |(at, all)| format!(", step {at} of {all}"));
        format!("{:.1} of {:.1} s{step}{held}", self.at, self.length)
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
    fn steps_go_from_mark_to_mark_and_not_beyond_the_ends() {
        let mut player = Player::new(10.0, 0.0).stepping(vec![1.0, 1.001, 4.0]);
        assert!(!player.advance(1.0), "it is held");
        let mut steps = Vec::new();
        for steer in
            [Steer::Forward, Steer::Forward, Steer::Forward, Steer::Forward, Steer::Back, Steer::Back]
        {
            player.take(steer);
            steps.push(player.at());
        }
        assert_eq!(steps, [1.0, 1.001, 4.0, 10.0, 4.0, 1.001]);
        assert_eq!(
            (player.step(), player.words().as_str()),
            (Some((2, 3)), "1.0 of 10.0 s, step 2 of 3, held")
        );
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
