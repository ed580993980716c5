//! Values of options whose order on the command line matters.

use core::convert::Infallible;
use core::sync::atomic::{AtomicUsize, Ordering};

/// A value, and its place among all values of this type on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OrderedValue {
    pub(crate) place: usize,
    pub(crate) text: String,
}

impl OrderedValue {
    /// Parses a value. clap parses the values of all options in the order in which they are given.
    pub(super) fn parse(text: &str) -> Result<Self, Infallible> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        Ok(Self { place: NEXT.fetch_add(1, Ordering::Relaxed), text: text.to_owned() })
    }
}
