//! The instructions with samples, the hottest first.

use core::cmp::Reverse;

use perf_profile::annotation::Annotation;

use perf_profile::annotation::PercentType;

/// The instructions with samples of an event, the hottest first, and the one that was selected last.
#[derive(Clone, Debug)]
pub(super) struct HotInstructions {
    order: Vec<usize>,
    at: usize,
}

impl HotInstructions {
    /// Orders the instructions by the number that `kind` compares.
    pub(super) fn new(annotation: &Annotation, event: usize, kind: PercentType) -> Self {
        let instructions = annotation.instructions.iter().enumerate();
        let counted = instructions.filter_map(|(index, it)| Some((index, it.totals.get(event)?)));
        let mut hot: Vec<_> = counted
            .map(|(index, total)| (kind.number(total), index))
            .filter(|&(number, _)| number > 0)
            .collect();
        hot.sort_by_key(|&(number, index)| (Reverse(number), index));
        Self { order: hot.into_iter().map(|(_, index)| index).collect(), at: 0 }
    }

    /// Selects the hottest instruction; `None` without samples.
    pub(super) fn hottest(&mut self) -> Option<usize> {
        self.at = 0;
        self.order.first().copied()
    }

    /// Selects the instruction that is next less hot than the one that was selected last, after the last one the hottest.
    pub(super) fn next(&mut self) -> Option<usize> {
        self.at = if self.at + 1 < self.order.len() { self.at + 1 } else { 0 };
        self.order.get(self.at).copied()
    }

    /// Selects the instruction before in that order.
    pub(super) fn previous(&mut self) -> Option<usize> {
        self.at = self.at.checked_sub(1).unwrap_or_else(|| self.order.len().saturating_sub(1));
        self.order.get(self.at).copied()
    }
}
