//! The script of a test: every call is written down, and one of them fails.

use std::cell::RefCell;

/// What was asked of a robot of a test, and what goes wrong.
pub(crate) struct Script<C, F> {
    calls: RefCell<Vec<C>>,
    /// The call that fails, by its number, and how.
    fails: RefCell<Option<(usize, F)>>,
}

impl<C, F> Default for Script<C, F> {
    fn default() -> Self {
        Self { calls: RefCell::default(), fails: RefCell::default() }
    }
}

impl<C: Copy, F: Clone> Script<C, F> {
    /// One call from now on fails: the one that is made after `calls` others.
    pub(crate) fn fail_after(&self, calls: usize, fault: F) {
        self.calls.borrow_mut().clear();
        self.fails.replace(Some((calls, fault)));
    }

    /// What was asked since the script was set.
    pub(crate) fn calls(&self) -> Vec<C> {
        self.calls.borrow().clone()
    }

    /// Notes a call.
    ///
    /// Errors: that of the script, when it is this one's turn.
    pub(crate) fn call(&self, call: C) -> Result<(), F> {
        let mut calls = self.calls.borrow_mut();
        calls.push(call);
        let number = calls.len() - 1;
        match &*self.fails.borrow() {
            Some((fails, fault)) if *fails == number => Err(fault.clone()),
            _ => Ok(()),
        }
    }
}
