//! The samples of a capture one by one.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use perf_parse::file::Account;
use perf_profile::{NamedSample, NamedSamples, ProfileError, Samples as SampleWalk, Symbols};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::account;
use crate::capture::Capture;
use crate::error::Failure;
use crate::sample::Sample;

/// Number of samples that are found at once, without the GIL.
const BATCH: usize = 64;

/// An iterator over samples, in order of time. It has at most a few dozen of them in memory.
#[pyclass(frozen, module = "perfdata")]
#[derive(Debug)]
pub(crate) struct Samples {
    state: Mutex<State>,
    path: PathBuf,
    skips_errors: bool,
}

#[derive(Debug)]
struct State {
    samples: NamedSamples<'static>,
    ready: VecDeque<Result<NamedSample, ProfileError>>,
    has_ended: bool,
}

impl Samples {
    /// Begins with the first sample of a capture.
    ///
    /// # Errors
    ///
    /// If `errors` has no meaning.
    pub(crate) fn new(capture: &Capture, errors: &str) -> PyResult<Self> {
        let skips_errors = match errors {
            "raise" => false,
            "skip" => true,
            _ => return Err(PyValueError::new_err(format!("errors {errors:?}: must be raise or skip"))),
        };
        let max_stack = Symbols::max_stack(capture.reader.features(), capture.names.max_stack);
        let symbols = capture.symbols(false).with_max_stack(max_stack);
        let samples =
            SampleWalk::shared(Arc::clone(&capture.reader)).select(capture.selection.clone()).named(&symbols);
        let state = State { samples, ready: VecDeque::new(), has_ended: false };
        Ok(Self { state: Mutex::new(state), path: capture.path.clone(), skips_errors })
    }
}

impl State {
    /// Returns the next sample or fault. At the end, it returns the account, once.
    fn next(&mut self) -> Next {
        if self.ready.is_empty() && !self.has_ended {
            self.ready.extend(self.samples.by_ref().take(BATCH));
        }
        match self.ready.pop_front() {
            Some(Ok(sample)) => Next::Sample(Box::new(sample)),
            Some(Err(error)) => Next::Fault(error),
            None if self.has_ended => Next::Nothing,
            None => {
                self.has_ended = true;
                self.samples.account().cloned().map_or(Next::Nothing, |it| Next::End(Box::new(it)))
            }
        }
    }
}

enum Next {
    Sample(Box<NamedSample>),
    Fault(ProfileError),
    End(Box<Account>),
    Nothing,
}

#[pymethods]
impl Samples {
    /// What was read so far, and what could not be.
    #[getter]
    fn account<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let account = py.detach(|| {
            let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.samples.account().cloned()
        });
        account::dict(py, &account.unwrap_or_default())
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Sample>> {
        loop {
            // Most samples are ready, which is quicker than to release the GIL.
            let is_ready = self.state.try_lock().is_ok_and(|state| !state.ready.is_empty());
            let next = || self.state.lock().unwrap_or_else(PoisonError::into_inner).next();
            let next = if is_ready {
                self.state.try_lock().map_or_else(|_| py.detach(next), |mut state| state.next())
            } else {
                py.check_signals()?;
                py.detach(next)
            };
            match next {
                Next::Sample(sample) => return Ok(Some(Sample::new(*sample))),
                Next::Fault(ProfileError::Record(_)) if self.skips_errors => {}
                Next::Fault(ProfileError::Record(error)) => {
                    return Err(Failure::of_capture(error, &self.path).into());
                }
                Next::Fault(error) => return Err(Failure::from(error).into()),
                Next::End(account) => account::warn(py, &account, &self.path)?,
                Next::Nothing => return Ok(None),
            }
        }
    }
}
