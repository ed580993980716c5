//! The options for samples of AUX data.

use perf_profile::edit::ItraceOptions;

/// Which samples are made of AUX data.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ItraceArgs {
    /// Make samples of AUX data, as perf does. Of Arm SPE: i1i (each operation; i100i each 100th), b (branches), f and m (first-level
    /// and last-level cache), t (TLB), a (remote accesses), M (loads and stores), l (branch stacks); without letters and without this
    /// option, all kinds of each operation. Of Intel PT, only with this option: p (power events, cbr and psb), w (ptwrite), I (Event
    /// Trace), e (errors; e-o without overflows, e-l without lost data), Z (without times); without letters, all of these kinds. Its
    /// instructions and branches are not found
    #[arg(long, value_name = "LETTERS", num_args = 0..=1, require_equals = true, default_missing_value = "",
          value_parser = letters, conflicts_with = "no_itrace")]
    pub(crate) itrace: Option<ItraceChoice>,

    /// Make no samples of AUX data
    #[arg(long)]
    pub(crate) no_itrace: bool,
}

/// What `--itrace` selects; `None` for no letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ItraceChoice(pub(crate) Option<ItraceOptions>);

/// Reads the letters of `--itrace`.
pub(crate) fn letters(text: &str) -> Result<ItraceChoice, String> {
    if text.is_empty() {
        return Ok(ItraceChoice(None));
    }
    text.parse()
        .map(|options| ItraceChoice(Some(options)))
        .map_err(|error: perf_profile::edit::ItraceOptionsError| error.to_string())
}
