//! Standard input, output and error of a run: those of the process, or those that the caller of [`run`](crate::run) gives.
//!
//! The streams belong to the thread that runs a verb. The threads that format records do not write.

use core::cell::RefCell;
use std::io::{self, Read, Write};

/// Standard input, output and error in place of the process's own.
pub struct Streams {
    /// Where `-` is read from.
    pub input: Box<dyn Read>,
    /// Where results go.
    pub output: Box<dyn Write>,
    /// Where diagnostics go.
    pub errors: Box<dyn Write>,
}

impl core::fmt::Debug for Streams {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Streams").finish_non_exhaustive()
    }
}

thread_local! {
    /// The streams of the run on this thread; `None` for the process's own.
    static STREAMS: RefCell<Option<Streams>> = const { RefCell::new(None) };
}

/// Does `work` with `streams`, and puts back those of before.
pub(crate) fn with<T>(streams: Option<Streams>, work: impl FnOnce() -> T) -> T {
    /// Puts streams back, also if the work panics.
    struct Before(Option<Streams>);
    impl Drop for Before {
        fn drop(&mut self) {
            let before = self.0.take();
            // Dropped after the borrow ends, as a stream may do anything when it is dropped.
            drop(STREAMS.with(|all| core::mem::replace(&mut *all.borrow_mut(), before)));
        }
    }
    let _before = Before(STREAMS.with(|all| all.replace(streams)));
    work()
}

/// Whether the streams are the process's own.
pub(crate) fn are_of_process() -> bool {
    STREAMS.with(|all| all.borrow().is_none())
}

/// Does something with the streams that the caller gave; `None` if those of the process are meant.
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
