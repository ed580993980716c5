//! How to count: every field of the attr, and the opening.

use alloc::ffi::CString;
use std::os::fd::AsFd;

use perf_abi::attr::Attr;
use perf_abi::open::OpenFlags;

use crate::counter::Counter;
use crate::error::Error;
use crate::sys::open::{Place, perf_event_open};
use crate::target::Target;

/// An event to be opened.
#[derive(Clone, Debug)]
pub struct Builder {
    attr: Attr,
    string: Option<CString>,
    flags: OpenFlags,
}

impl From<Attr> for Builder {
    fn from(attr: Attr) -> Self {
        Self { attr, string: None, flags: OpenFlags::FD_CLOEXEC }
    }
}

impl Builder {
    /// The attr as it will be given to the kernel, but for its size.
    #[must_use]
    pub fn attr(&self) -> &Attr {
        &self.attr
    }

    /// The attr, to be changed as a whole.
    pub fn attr_mut(&mut self) -> &mut Attr {
        &mut self.attr
    }

    /// Opens the event.
    pub fn open(&self, target: &Target<'_>) -> Result<Counter, Error> {
        self.open_at(target, None)
    }

    /// Opens the event as a member of the group that `leader` leads.
    pub fn open_in(&self, leader: &Counter, target: &Target<'_>) -> Result<Counter, Error> {
        self.open_at(target, Some(leader))
    }

    fn open_at(&self, target: &Target<'_>, leader: Option<&Counter>) -> Result<Counter, Error> {
        let (pid, cpu, flags) = target.arguments()?;
        let place = Place { pid, cpu, group: leader.map(AsFd::as_fd), flags: self.flags | flags };
        let version = self.attr.oldest_version();
        match perf_event_open(&self.attr, version, self.string.as_deref(), place) {
            Ok(fd) => Ok(Counter::new(fd, Attr { size: version.size(), ..self.attr })),
            Err(refusal) => Err(Error::failed("perf_event_open", refusal.error, "")),
        }
    }
}
