//! What one goal may spend on a model.

use super::error::ModelError;
use prehend_agent::talk::Usage;

/// The most that one goal may spend; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Tokens read and written together.
    pub tokens: Option<u64>,
    /// Requests, those that were sent again with them.
    pub calls: Option<u64>,
    /// Time spent waiting for the model, seconds.
    pub seconds: Option<f64>,
    /// Money, in the unit of the prices.
    pub money: Option<f64>,
}

/// What a million tokens cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prices {
    /// Of those read.
    pub input: f64,
    /// Of those written.
    pub output: f64,
}

impl Prices {
    fn of(&self, usage: &Usage) -> f64 {
        (usage.tokens_in as f64 * self.input + usage.tokens_out as f64 * self.output) / 1e6
    }
}

/// What one goal has spent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spent {
    pub(super) calls: u64,
    pub(super) usage: Usage,
}

impl Spent {
    pub(super) fn add(&mut self, usage: &Usage) {
        self.usage.tokens_in = self.usage.tokens_in.saturating_add(usage.tokens_in);
        self.usage.tokens_out = self.usage.tokens_out.saturating_add(usage.tokens_out);
    }

    /// Whether something is left of every limit.
    ///
    /// Errors: [`ModelError::Spent`] with the limit that is reached.
    pub(super) fn check(&self, budget: &Budget, prices: &Prices) -> Result<(), ModelError> {
        let tokens = self.usage.tokens_in.saturating_add(self.usage.tokens_out);
        let reached = [
            budget.tokens.filter(|most| tokens >= *most).map(|most| format!("{most} tokens")),
            budget.calls.filter(|most| self.calls >= *most).map(|most| format!("{most} requests")),
            budget.seconds.filter(|most| self.usage.seconds >= *most).map(|most| format!("{most} s")),
            budget
                .money
                .filter(|most| prices.of(&self.usage) >= *most)
                .map(|most| format!("{most} of money")),
        ];
        match reached.into_iter().flatten().next() {
            Some(limit) => Err(ModelError::Spent { what: format!("{limit} (model.budget)") }),
            None => Ok(()),
        }
    }

    /// Time that is left, seconds.
    pub(super) fn left(&self, budget: &Budget) -> Option<f64> {
        budget.seconds.map(|most| (most - self.usage.seconds).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_ends_it_when_it_is_reached() {
        let spent =
            Spent { calls: 3, usage: Usage { tokens_in: 900_000, tokens_out: 100_000, seconds: 12.0 } };
        let prices = Prices { input: 2.0, output: 10.0 };
        let none = Budget::default();
        assert_eq!(spent.check(&none, &prices), Ok(()));
        let over = [
            (Budget { tokens: Some(1_000_000), ..none }, "1000000 tokens"),
            (Budget { calls: Some(3), ..none }, "3 requests"),
            (Budget { seconds: Some(12.0), ..none }, "12 s"),
            (Budget { money: Some(2.8), ..none }, "2.8 of money"),
        ];
        for (budget, says) in over {
            let error = spent.check(&budget, &prices).map_err(|error| error.to_string());
            assert!(error.clone().is_err_and(|error| error.contains(says)), "{says}: {error:?}");
        }
        let enough =
            Budget { tokens: Some(1_000_001), calls: Some(4), seconds: Some(12.5), money: Some(2.9) };
        assert_eq!(spent.check(&enough, &prices), Ok(()));
        assert_eq!(spent.left(&enough), Some(0.5));
    }
}
