//! The colours of percentages in text.

use std::io::IsTerminal;

use crate::args::annotate::ColorWhen;
use crate::escape::print;
use crate::{streams, terminal};

/// Whether percentages are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colors(pub(crate) bool);

impl Colors {
    /// Returns whether text on standard output is coloured.
    pub(crate) fn of(when: ColorWhen) -> Self {
        Self(match when {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => {
                streams::are_of_process()
                    && std::io::stdout().is_terminal()
                    && terminal::has_colors()
                    && !terminal::is_dumb()
            }
        })
    }

    /// Appends the text of a percentage: red from 5 % on, green from 0.5 % on.
    ///
    /// perf: `get_percent_color`, `tools/perf/util/color.c`.
    pub(crate) fn push_percent(self, out: &mut Vec<u8>, percent: f64, text: &str) {
        let color = match percent {
            _ if !self.0 => "",
            5.0.. => "\u{1b}[31m",
            0.5.. => "\u{1b}[32m",
            _ => "",
        };
        let end = if color.is_empty() { "" } else { "\u{1b}[m" };
        print(out, format_args!("{color}{text}{end}"));
    }
}
