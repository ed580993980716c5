//! `perfdata stat record`: the counts in a capture.

use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use perf_parse::file::write::WriteOptions;
use perf_record::stat::{StatCapture, StatCaptureOptions, StatInterval, StatRun};

use super::arguments::failure;
use crate::args::live::StatArgs;
use crate::live::record::output::CaptureOutput;
use crate::outcome::Failure;

/// A capture file or stream that is being written.
pub(super) struct CountCapture(StatCapture<CaptureOutput>);

/// Returns an error if the options ask for what a capture has no place for. It names the options, and comes before the plan
/// opens cgroups and reads the topology. `StatPlan::check_capture` also finds events that the tool itself measures.
pub(super) fn check(args: &StatArgs) -> Result<(), Failure> {
    let why = if args.repeat != 1 {
        "stat record: a capture has one run; leave out --repeat"
    } else if !args.cgroup.is_empty() || !args.for_each_cgroup.is_empty() {
        "stat record: a capture does not name cgroups; count them without record"
    } else if args.per_cluster || args.per_cache.is_some() {
        "stat record: perf has no number for these parts of a machine; use --per-core or --no-aggr"
    } else {
        return Ok(());
    };
    Err(Failure(why.to_owned()))
}

impl CountCapture {
    /// Begins a capture of the run at `path`, or on standard output if that is `-`.
    pub(super) fn begin(path: &Path, run: &StatRun<'_>) -> Result<Self, Failure> {
        let options = StatCaptureOptions {
            command_line: std::env::args_os().map(OsStringExt::into_vec).collect(),
            version: concat!("perfdata ", env!("CARGO_PKG_VERSION")).to_owned(),
            is_stream: path == Path::new("-"),
            ..StatCaptureOptions::default()
        };
        let out = CaptureOutput::create(path, WriteOptions::default())?;
        StatCapture::begin(out, run, &options).map(Self).map_err(failure)
    }

    /// Gives the file its name. If the command cannot be started, an existing file remains unchanged.
    pub(super) fn publish(&mut self) -> Result<(), Failure> {
        self.0.sink().publish()
    }

    /// Writes the counts at the end of an interval.
    pub(super) fn interval(&mut self, interval: &StatInterval) -> Result<(), Failure> {
        self.0.round(interval, false).map_err(failure)
    }

    /// Writes the counts at the end of the run.
    pub(super) fn finish(mut self, last: &StatInterval) -> Result<(), Failure> {
        self.0.round(last, true).map_err(failure)?;
        self.0.finish().map_err(failure)?;
        Ok(())
    }
}
