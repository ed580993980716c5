//! Progress and cancellation of work that runs without the GIL.

use std::time::{Duration, Instant};

use perf_profile::Observer;
use pyo3::prelude::*;

use crate::error::Failure;

/// The time between two looks at Python: short for a user, long for what a look costs.
const TICK: Duration = Duration::from_millis(50);

/// Reports progress to a callback, and ends the work at an exception: of the callback, or of a signal such as Ctrl-C.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    progress: Option<&'a Py<PyAny>>,
    /// Size of the capture in bytes; 0 if it is unknown.
    total: u64,
    reached: u64,
    looked: Instant,
    raised: Option<PyErr>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(progress: Option<&'a Py<PyAny>>, total: u64) -> Self {
        Self { progress, total, reached: 0, looked: Instant::now(), raised: None }
    }

    /// Notes how far the work is. Returns whether it must end.
    pub(crate) fn at(&mut self, reached: u64) -> bool {
        self.reached = reached;
        if self.raised.is_none() && self.looked.elapsed() >= TICK {
            self.look();
            self.looked = Instant::now();
        }
        self.raised.is_some()
    }

    fn look(&mut self) {
        let (done, total) = (self.reached, self.total);
        let looked = Python::attach(|py| {
            py.check_signals()?;
            self.progress.map_or(Ok(()), |progress| progress.call1(py, (done, total)).map(drop))
        });
        self.raised = looked.err();
    }

    /// Ends the work. Its result is the exception, if there is one; the callback sees that all is done.
    pub(crate) fn end<T>(mut self, result: Result<T, impl Into<Failure>>) -> Result<T, Failure> {
        if self.raised.is_none() && result.is_ok() {
            self.reached = self.total.max(self.reached);
            self.look();
        }
        match self.raised {
            Some(raised) => Err(Failure::Python(raised)),
            None => result.map_err(Into::into),
        }
    }
}

impl Observer for Watch<'_> {
    fn bytes(&mut self, reached: u64) {
        self.reached = reached;
    }

    fn names(&mut self, _done: usize, _all: usize) {
        self.at(self.reached);
    }

    fn is_cancelled(&mut self) -> bool {
        self.at(self.reached)
    }
}
