//! The bounds within which a file is read.

use std::ops::Deref;

use crate::cancellation::Cancellation;
use crate::limits::SymbolLimits;

/// Limits, and the flag that ends the reading of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadBounds<'a> {
    limits: &'a SymbolLimits,
    pub(crate) cancellation: &'a Cancellation,
}

impl<'a> ReadBounds<'a> {
    pub(crate) fn new(limits: &'a SymbolLimits, cancellation: &'a Cancellation) -> Self {
        Self { limits, cancellation }
    }
}

impl Deref for ReadBounds<'_> {
    type Target = SymbolLimits;

    fn deref(&self) -> &SymbolLimits {
        self.limits
    }
}
