//! What the rows of an annotated function show.

use perf_profile::annotation::PercentType;

use super::shown_number::ShownNumber;

/// What rows show.
#[derive(Clone, Copy, Debug)]
pub(super) struct ViewOptions {
    pub(super) percent: PercentType,
    pub(super) number: ShownNumber,
    pub(super) has_source: bool,
    pub(super) has_line_numbers: bool,
    /// Whether addresses are shown, not offsets in the function.
    pub(super) has_addresses: bool,
    /// Whether the selected jump has an arrow.
    pub(super) has_arrows: bool,
    /// Whether the number of jumps to an instruction is shown.
    pub(super) has_jump_sources: bool,
}

impl Default for ViewOptions {
    /// Those of perf, with line numbers.
    fn default() -> Self {
        Self {
            percent: PercentType::default(),
            number: ShownNumber::default(),
            has_source: true,
            has_line_numbers: true,
            has_addresses: false,
            has_arrows: true,
            has_jump_sources: false,
        }
    }
}
