//! The times at which events are recorded and the output is switched.

use super::values::{self, Delay, Switch};
use crate::args::live::control::Control;

#[derive(Debug, clap::Args)]
pub(crate) struct WhenArgs {
    /// Start the events this many milliseconds after the command; or -1 for never, so that --control starts them; or
    /// record during these ranges of milliseconds, for example 10-20,30-40. Mappings and tasks are recorded from the
    /// start
    #[arg(short = 'D', long, value_name = "MS", allow_hyphen_values = true, value_parser = values::delay)]
    pub(crate) delay: Option<Delay>,

    /// Read commands, one a line, which start and stop the events, take snapshots or end the recording
    #[arg(long, value_name = "fd:N[,N]|fifo:PATH[,PATH]", value_parser = Control::parse)]
    pub(crate) control: Option<Control>,

    /// Begin another file when SIGUSR2 comes, when the file has a size (100M), or after a time (30s, 5m, 1h, 1d). Each
    /// file gets the time of its end as a suffix
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true, default_missing_value = "signal",
          value_parser = values::switch, conflicts_with_all = ["overwrite", "dump_rings"])]
    pub(crate) switch_output: Option<Switch>,

    /// Do at each occurrence of these events what SIGUSR2 does; without --overwrite and --dump-rings, begin another file.
    /// The events are not recorded
    #[arg(long, value_name = "EVENTS")]
    pub(crate) switch_output_event: Option<String>,

    /// Keep only the newest N files of --switch-output
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) switch_max_files: Option<u32>,

    /// Append the time of its end to the name of the file
    #[arg(long, conflicts_with = "overwrite")]
    pub(crate) timestamp_filename: bool,

    /// End the recording when the file has this size, for example 100M
    #[arg(long, value_name = "SIZE", value_parser = values::size, conflicts_with = "overwrite")]
    pub(crate) max_size: Option<u64>,
}
