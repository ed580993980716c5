//! The numbers beside instructions.

/// The number that rows show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ShownNumber {
    #[default]
    Percent,
    Period,
    Samples,
}

impl ShownNumber {
    /// Returns the number that follows.
    ///
    /// perf: the key `t`, `annotate_browser__run`, `tools/perf/ui/browsers/annotate.c`.
    pub(super) fn next(self) -> Self {
        match self {
            Self::Percent => Self::Period,
            Self::Period => Self::Samples,
            Self::Samples => Self::Percent,
        }
    }

    /// Returns its name in the title, if it is not a percentage.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::Percent => None,
            Self::Period => Some("Event count"),
            Self::Samples => Some("Samples"),
        }
    }
}
