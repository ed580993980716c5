//! The names of addresses at which all code that a JIT compiler generated had the same name.

use std::collections::HashMap;

use crate::overlay::Overlay;

/// For each node of an [`Overlay`], the name of the ranges that cover it, if they have the same one.
#[derive(Clone, Debug)]
pub(crate) struct SoleNames {
    nodes: Vec<RangeCover>,
}

/// The ranges that cover a place.
#[derive(Clone, Copy, Debug)]
enum RangeCover {
    Nothing,
    /// One range, or several with the same name.
    OneName {
        name: u32,
        /// The last one.
        range: u32,
        is_only: bool,
    },
    SeveralNames,
}

/// The last range that covers an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SoleName {
    pub(crate) range: u32,
    /// Whether no other range covers the address.
    pub(crate) is_only: bool,
}

impl RangeCover {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, it) | (it, Self::Nothing) => it,
            (Self::OneName { name, range, .. }, Self::OneName { name: other, range: second, .. })
                if name == other =>
            {
                Self::OneName { name, range: range.max(second), is_only: false }
            }
            _ => Self::SeveralNames,
        }
    }
}

impl SoleNames {
    /// Takes time in proportion to the entries of the overlay and the bytes of all names. `name` returns that of a range.
    pub(crate) fn new<'a>(overlay: &Overlay, name: impl Fn(u32) -> (usize, &'a [u8])) -> Self {
        let mut by_text: HashMap<&[u8], u32> = HashMap::new();
        // Code that moved has the place of its name in common with what it was.
        let mut by_place: HashMap<usize, u32> = HashMap::new();
        let mut number = |range| {
            let (place, text) = name(range);
            *by_place.entry(place).or_insert_with(|| {
                let next = u32::try_from(by_text.len()).unwrap_or(u32::MAX);
                *by_text.entry(text).or_insert(next)
            })
        };
        let mut of_range = |&range: &u32| RangeCover::OneName { name: number(range), range, is_only: true };
        let covering =
            |ranges: &Vec<u32>| ranges.iter().map(&mut of_range).fold(RangeCover::Nothing, RangeCover::and);
        Self { nodes: overlay.nodes().iter().map(covering).collect() }
    }

    /// Returns the last range that covers an address; `None` if none does, or if ranges of several names do.
    pub(crate) fn find(&self, overlay: &Overlay, address: u64) -> Option<SoleName> {
        let nodes = overlay.path(address).filter_map(|node| self.nodes.get(node).copied());
        match nodes.fold(RangeCover::Nothing, RangeCover::and) {
            RangeCover::OneName { range, is_only, .. } => Some(SoleName { range, is_only }),
            RangeCover::Nothing | RangeCover::SeveralNames => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_the_only_ones() {
        let ranges = [(0x10, 0x20), (0x18, 0x30), (0x18, 0x28), (0x40, 0x50)];
        let names: [(usize, &[u8]); 4] = [(0, b"f"), (1, b"g"), (2, b"g"), (1, b"g")];
        let overlay = Overlay::new(&ranges);
        let sole = SoleNames::new(&overlay, |range| names[range as usize]);
        let found = |address| sole.find(&overlay, address).map(|it| (it.range, it.is_only));
        assert_eq!(found(0x10), Some((0, true)));
        assert_eq!(found(0x18), None, "f and g");
        assert_eq!(found(0x20), Some((2, false)), "twice g");
        assert_eq!(found(0x28), Some((1, true)));
        assert_eq!(found(0x30), None);
        assert_eq!(found(0x4f), Some((3, true)));
    }
}
