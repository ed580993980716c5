//! A sample as it is printed.

use perf_parse::record::user::IdIndexGuest;
use perf_profile::samples::pass::SampleStack;

use super::known::Known;

/// A sample of an event, or the part of a sample that one event of a group has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown<'a> {
    pub(super) known: &'a Known,
    pub(super) period: u64,
    /// The time that is printed: see [`Clock`](super::line::Clock).
    pub(super) time: u64,
    /// The virtual machine of the event.
    pub(super) guest: Option<IdIndexGuest>,
    /// The width of the longest data source so far.
    pub(super) data_src_width: usize,
    pub(super) stack: &'a SampleStack<'a>,
}
