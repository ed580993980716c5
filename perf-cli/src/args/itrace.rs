//! The options for samples of AUX data.

use perf_profile::edit::ItraceOptions;

/// Which samples are made of AUX data.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct ItraceArgs {
    /// Make samples of Arm SPE data, as perf does: i1i (each operation; i100i each 100th), b (branches), f and m (first-level and
    /// last-level cache), t (TLB), a (remote accesses), M (loads and stores), l (branch stacks). Without letters and without this
    /// option, all kinds of each operation are made if the capture has such data
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
