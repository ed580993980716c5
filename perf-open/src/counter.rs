//! An open event: its file descriptor and what can be done to it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use perf_abi::attr::Attr;
use perf_abi::ioctl::{IocFlags, Request};

use crate::error::Error;
use crate::sys::ioctl;

/// An open event. Closed when dropped.
#[derive(Debug)]
pub struct Counter {
    file: File,
    attr: Attr,
}

impl AsFd for Counter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Counter {
    pub(crate) fn new(fd: OwnedFd, attr: Attr) -> Self {
        Self { file: File::from(fd), attr }
    }

    /// The attr as the kernel took it.
    #[must_use]
    pub fn attr(&self) -> &Attr {
        &self.attr
    }

    fn told(&self, request: Request, result: io::Result<()>) -> Result<(), Error> {
        result.map_err(|error| Error::failed(request.c_name, error, ""))
    }

    /// The kernel's id of the event, as samples and group reads bear it.
    pub fn id(&self) -> Result<u64, Error> {
        ioctl::id(self.as_fd()).map_err(|error| Error::failed(Request::ID.c_name, error, ""))
    }

    /// Starts counting.
    pub fn enable(&self) -> Result<(), Error> {
        self.told(Request::ENABLE, ioctl::enable(self.as_fd(), IocFlags::NONE))
    }

    /// Stops counting.
    pub fn disable(&self) -> Result<(), Error> {
        self.told(Request::DISABLE, ioctl::disable(self.as_fd(), IocFlags::NONE))
    }

    /// Pauses the ring's output, or resumes it.
    pub fn pause_output(&self, pause: bool) -> Result<(), Error> {
        self.told(Request::PAUSE_OUTPUT, ioctl::pause_output(self.as_fd(), pause))
    }

    /// Sends the records to the ring of `output`; `None` undoes it.
    pub fn set_output(&self, output: Option<&Self>) -> Result<(), Error> {
        self.told(Request::SET_OUTPUT, ioctl::set_output(self.as_fd(), output.map(AsFd::as_fd)))
    }
}
