//! A sample as it is printed.

use perf_parse::FileError;
use perf_parse::record::user::IdIndexGuest;
use perf_profile::Symbols;
use perf_session::At;
use perf_symbol::StackFrame;
use perf_symbol::unwind::{self, StackEnd};

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
    /// The user part of its call chain that came in a later record.
    pub(super) user: Option<&'a [u64]>,
    /// The stack, without what is mapped at its addresses, and its end, if it was unwound before.
    pub(super) unwound: Option<(&'a [unwind::UnwoundFrame], Option<StackEnd>)>,
}

impl Shown<'_> {
    /// Returns the stack as [`Symbols::stack`] does.
    ///
    /// # Errors
    ///
    /// Those of [`Symbols::stack`].
    pub(super) fn stack<'s>(
        &self,
        at: &At<'s, '_>,
        names: &mut Symbols,
    ) -> Result<(Vec<StackFrame<'s>>, Option<StackEnd>), FileError> {
        match self.unwound {
            Some((frames, end)) => Ok((names.mapped(at, frames.iter().copied()), end)),
            None => names.stack(at, self.user),
        }
    }
}
