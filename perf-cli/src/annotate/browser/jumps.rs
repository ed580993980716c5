//! Jumps within a function: their arrows, and how many come to an instruction.

use perf_profile::annotation::Annotation;

/// The arrow of a jump, by rows.
///
/// perf: `annotate_browser__draw_current_jump`, `tools/perf/ui/browsers/annotate.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JumpArrow {
    /// The row of the jump.
    pub(super) from: usize,
    /// The row of its target.
    pub(super) to: usize,
}

impl JumpArrow {
    /// The number of columns of an arrow.
    pub(super) const WIDTH: usize = 2;

    /// Returns the part of the arrow in a row; `None` if the row has none.
    pub(super) fn part(self, row: usize) -> Option<&'static str> {
        let (first, last) = (self.from.min(self.to), self.from.max(self.to));
        match row {
            _ if first == last && row == first => Some("─►"),
            _ if row == first && row == self.to => Some("┌►"),
            _ if row == first => Some("┌─"),
            _ if row == last && row == self.to => Some("└►"),
            _ if row == last => Some("└─"),
            _ if first < row && row < last => Some("│ "),
            _ => None,
        }
    }
}

/// Returns the instruction in the function that an instruction jumps to; `None` if it does not jump, calls, or leaves the function.
pub(super) fn target_of(annotation: &Annotation, instruction: usize) -> Option<usize> {
    let target = annotation.instructions.get(instruction)?.target.as_ref()?;
    if target.is_call { None } else { annotation.instruction_at(target.address) }
}

/// Returns by instruction the number of jumps to it.
///
/// perf: `annotation__mark_jump_targets`, `tools/perf/util/annotate.c`.
pub(super) fn sources(annotation: &Annotation) -> Vec<u32> {
    let mut sources = vec![0; annotation.instructions.len()];
    for instruction in 0..sources.len() {
        let target = target_of(annotation, instruction);
        if let Some(count) = target.and_then(|target| sources.get_mut(target)) {
            *count += 1;
        }
    }
    sources
}
