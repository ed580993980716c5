//! Standard input, output and error of a run: those of the process, or those that the caller of [`run`](crate::run)
//! passes.
//!
//! The streams belong to the thread that runs a verb. The threads that format records do not write.

use core::cell::RefCell;
use std::io::{self, Read, Write};

#[cfg(target_os = "linux")]
use crate::pager;

/// Standard input, output and error, instead of those of the process.
pub struct Streams {
    /// The input that `-` reads.
    pub input: Box<dyn Read>,
    /// The destination of results.
    pub output: Box<dyn Write>,
    /// The destination of diagnostics.
    pub errors: Box<dyn Write>,
}

impl core::fmt::Debug for Streams {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Streams").finish_non_exhaustive()
    }
}

thread_local! {
    /// The streams of the run on this thread; `None` for those of the process.
    static STREAMS: RefCell<Option<Streams>> = const { RefCell::new(None) };
}

/// Runs `work` with `streams`, then restores the previous streams.
pub(crate) fn with<T>(streams: Option<Streams>, work: impl FnOnce() -> T) -> T {
    /// Restores the previous streams, even if the work panics.
    struct Before(Option<Streams>);
    impl Drop for Before {
        fn drop(&mut self) {
            let before = self.0.take();
            // Dropped after the borrow ends, because the drop of a stream may run any code.
            drop(STREAMS.with(|all| core::mem::replace(&mut *all.borrow_mut(), before)));
        }
    }
    let _before = Before(STREAMS.with(|all| all.replace(streams)));
    work()
}

/// Returns whether the streams are those of the process.
pub(crate) fn are_of_process() -> bool {
    STREAMS.with(|all| all.borrow().is_none())
}

/// Calls `act` with the streams of the caller, or with `None` for those of the process.
fn given<T>(act: impl FnOnce(Option<&mut Streams>) -> T) -> T {
    STREAMS.with(|all| act(all.borrow_mut().as_mut()))
}

/// Standard input of this run.
#[derive(Debug)]
pub(crate) struct Input;

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        given(|streams| match streams {
            Some(streams) => streams.input.read(buffer),
            None => io::stdin().lock().read(buffer),
        })
    }
}

/// Standard output of this run.
#[derive(Debug)]
pub(crate) struct Output;

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        given(|streams| match streams {
            Some(streams) => streams.output.write(bytes),
            #[cfg(target_os = "linux")]
            None => pager::write(bytes).unwrap_or_else(|| io::stdout().lock().write(bytes)),
            #[cfg(not(target_os = "linux"))]
            None => io::stdout().lock().write(bytes),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        given(|streams| match streams {
            Some(streams) => streams.output.flush(),
            None => io::stdout().lock().flush(),
        })
    }
}

/// Standard error of this run.
#[derive(Debug)]
pub(crate) struct Errors;

impl Write for Errors {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        given(|streams| match streams {
            Some(streams) => streams.errors.write(bytes),
            None => io::stderr().lock().write(bytes),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        given(|streams| match streams {
            Some(streams) => streams.errors.flush(),
            None => io::stderr().lock().flush(),
        })
    }
}
