//! Parts of a range of addresses that have the same units.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{UnitRange, UnitsAt};

/// Addresses whose units are the same.
#[derive(Debug)]
pub(crate) struct UnitSpan<'s> {
    /// The addresses.
    pub(crate) range: Range<u64>,
    active: &'s BTreeSet<UnitRange>,
}

impl UnitSpan<'_> {
    /// Returns the units that have the addresses.
    pub(crate) fn at(&self) -> UnitsAt {
        match self.active.first().map(|first| first.unit) {
            None => UnitsAt::Nothing,
            Some(unit) if self.active.iter().all(|other| other.unit == unit) => UnitsAt::One(unit),
            Some(_) => UnitsAt::Several,
        }
    }

    /// Returns the numbers of the units in the order in which addr2line tries them. A unit may come more than once.
    pub(crate) fn units(&self) -> impl Iterator<Item = usize> {
        self.active.iter().map(|range| range.unit)
    }
}

/// Calls `each` for each part of `range`, in the order of addresses, also where there are no units. `steps` returns whether a
/// number of steps may be taken; if it returns `false`, this ends early.
pub(super) fn spans(
    ordered: &[UnitRange],
    range: Range<u64>,
    steps: &mut dyn FnMut(usize) -> bool,
    each: &mut dyn FnMut(UnitSpan<'_>),
) {
    let first = ordered.partition_point(|it| it.end <= range.start);
    let after = ordered.get(first..).unwrap_or_default().iter();
    let mut begins = Vec::new();
    for it in after.take_while(|it| it.least < range.end) {
        if !steps(1) {
            return;
        }
        if it.begin < range.end {
            begins.push(*it);
        }
    }
    begins.sort_unstable_by_key(|it| it.begin);
    let mut begins = begins.into_iter().peekable();
    let mut active = BTreeSet::new();
    let mut address = range.start;
    while address < range.end {
        while let Some(it) = begins.next_if(|it| it.begin <= address) {
            active.insert(it);
        }
        while active.first().is_some_and(|it| it.end <= address) {
            active.pop_first();
        }
        if !steps(active.len().saturating_add(1)) {
            return;
        }
        let ends = active.first().map(|it| it.end);
        let next = ends.into_iter().chain(begins.peek().map(|it| it.begin)).fold(range.end, u64::min);
        each(UnitSpan { range: address..next, active: &active });
        address = next;
    }
}

#[cfg(test)]
mod tests {
    use gimli::Range as UnitAddresses;

    use super::*;
    use crate::units::{containing, ordered};

    fn ranges(list: &[(usize, u64, u64)]) -> Box<[UnitRange]> {
        ordered(
            list.iter()
                .map(|&(unit, begin, end)| UnitRange::new(unit, UnitAddresses { begin, end }))
                .collect(),
        )
    }

    fn all(ordered: &[UnitRange], range: Range<u64>) -> Vec<(Range<u64>, UnitsAt, Vec<usize>)> {
        let mut list = Vec::new();
        spans(ordered, range, &mut |_| true, &mut |span| {
            list.push((span.range.clone(), span.at(), span.units().collect()));
        });
        list
    }

    #[test]
    fn spans_are_without_gaps() {
        let ranges = ranges(&[(0, 10, 20), (1, 20, 30), (2, 25, 28), (0, 40, 50), (3, 44, 44)]);
        assert_eq!(
            all(&ranges, 15..60),
            [
                (15..20, UnitsAt::One(0), vec![0]),
                (20..25, UnitsAt::One(1), vec![1]),
                (25..28, UnitsAt::Several, vec![2, 1]),
                (28..30, UnitsAt::One(1), vec![1]),
                (30..40, UnitsAt::Nothing, vec![]),
                (40..44, UnitsAt::One(0), vec![0]),
                (44..50, UnitsAt::One(0), vec![0]),
                (50..60, UnitsAt::Nothing, vec![]),
            ]
        );
        assert_eq!(all(&ranges, 15..15), []);
        assert_eq!(all(&[], 1..2), [(1..2, UnitsAt::Nothing, vec![])]);
    }

    /// Each address of a span has the units that a look-up of the address has.
    #[test]
    fn spans_agree_with_addresses() {
        let mut seed = 1_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..200 {
            let list: Vec<_> = (0..random(12))
                .map(|_| {
                    let begin = random(40);
                    (random(4) as usize, begin, begin + 1 + random(15))
                })
                .collect();
            let ranges = ranges(&list);
            let (start, size) = (random(50), random(30));
            let spans = all(&ranges, start..start + size);
            let addresses: Vec<_> =
                spans.iter().flat_map(|(range, at, _)| range.clone().map(|it| (it, *at))).collect();
            let expected: Vec<_> = (start..start + size).map(|it| (it, containing(&ranges, it))).collect();
            assert_eq!(addresses, expected, "{list:?}");
        }
    }

    #[test]
    fn it_ends_after_its_steps() {
        let ranges = ranges(&[(0, 10, 20), (1, 20, 30)]);
        for (allowed, expected) in [(0, 0), (1, 0), (3, 0), (4, 1), (6, 2)] {
            let (mut left, mut count): (usize, _) = (allowed, 0);
            let mut steps = |steps| left.checked_sub(steps).map(|rest| left = rest).is_some();
            spans(&ranges, 10..30, &mut steps, &mut |_| count += 1);
            assert_eq!(count, expected, "{allowed}");
        }
    }
}
