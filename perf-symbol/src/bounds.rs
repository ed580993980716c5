//! The bounds within which a file is read.

use std::ops::Deref;

use crate::cancellation::Cancellation;
use crate::limits::Limits;

/// Limits, and the flag that ends the reading of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadBounds<'a> {
    limits: &'a Limits,
    pub(crate) cancellation: &'a Cancellation,
}

impl<'a> ReadBounds<'a> {
    pub(crate) fn new(limits: &'a Limits, cancellation: &'a Cancellation) -> Self {
        Self { limits, cancellation }
    }
}

impl Deref for ReadBounds<'_> {
    type Target = Limits;

    fn deref(&self) -> &Limits {
        self.limits
    }
}
