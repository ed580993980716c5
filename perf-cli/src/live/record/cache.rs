//! perf's cache of the files that were recorded.

use std::env;
use std::path::Path;

use perf_record::Recorder;

use crate::args::live::record::RecordArgs;
use crate::escape::shown;
use crate::output::say;

/// Adds the files that were mapped to `~/.debug`, unless the command line forbids it. As with perf, a failure is not one of
/// the recording.
///
/// perf: `cmd_record`, which leaves the cache as it is for streams, for files that are switched, and if the MMAP2 records
/// have the build ids.
pub(super) fn fill(recorder: &Recorder, args: &RecordArgs) {
    let is_left = args.no_buildid_cache
        || args.no_buildid
        || args.samples.buildid_mmap
        || args.when.switch_output.is_some()
        || args.when.switch_output_event.is_some()
        || args.output == Path::new("-");
    let Some(home) = env::home_dir().filter(|_| !is_left) else { return };
    let folder = home.join(".debug");
    if let Err(error) = recorder.cache_files(&folder)
        && args.accepted.verbose > 0
    {
        say!("perfdata: the build-ID cache {}: {error}", shown(&folder));
    }
}
