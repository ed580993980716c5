//! The functions at many addresses.

use std::ops::Range;

use crate::cancellation::{Cancellation, Cancelled};
use crate::function::Function;

/// The functions at many addresses, in the order in which these were given:
/// [`Symbolizer::functions_of`](crate::Symbolizer::functions_of).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionLists {
    /// Equal addresses have one range.
    ranges: Vec<Range<usize>>,
    functions: Vec<Function>,
}

impl FunctionLists {
    /// Finds the functions of each of `queries`, in the order of `key`, and once for equal ones. `find` adds them to a list.
    pub(crate) fn find<Q, K: Ord>(
        queries: &[Q],
        key: impl Fn(&Q) -> K,
        cancellation: &Cancellation,
        mut find: impl FnMut(&Q, &mut Vec<Function>),
    ) -> Result<Self, Cancelled> {
        let mut order: Vec<_> = queries.iter().map(key).zip(0_usize..).collect();
        order.sort_unstable();
        let mut it = Self { ranges: vec![0..0; queries.len()], functions: Vec::with_capacity(queries.len()) };
        for same in order.chunk_by(|(one, _), (next, _)| one == next) {
            if cancellation.is_cancelled() {
                return Err(Cancelled);
            }
            let start = it.functions.len();
            if let Some(query) = same.first().and_then(|(_, number)| queries.get(*number)) {
                find(query, &mut it.functions);
            }
            for (_, number) in same {
                if let Some(range) = it.ranges.get_mut(*number) {
                    *range = start..it.functions.len();
                }
            }
        }
        // The last look-up may be incomplete.
        if cancellation.is_cancelled() { Err(Cancelled) } else { Ok(it) }
    }

    /// Returns the number of addresses.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Returns whether there is no address.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the functions at the address of a number, the innermost inlined one first. Empty if nothing is known, and for
    /// a number that no address has.
    #[must_use]
    pub fn get(&self, number: usize) -> &[Function] {
        self.ranges.get(number).and_then(|range| self.functions.get(range.clone())).unwrap_or_default()
    }

    /// Returns the functions at each address.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[Function]> {
        (0..self.len()).map(|number| self.get(number))
    }
}
