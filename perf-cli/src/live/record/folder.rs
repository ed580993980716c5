//! The options of recordings that are folders.

use std::path::Path;

use crate::args::live::record::RecordArgs;

/// Returns whether the capture is a folder.
pub(super) fn is_asked_for(args: &RecordArgs) -> bool {
    args.threads.is_some() || args.kcore
}

/// Returns why another option cannot be combined with one that makes the capture a folder.
///
/// perf: `record__init_thread_masks`, `switch_output_setup`, `__cmd_record`, `tools/perf/builtin-record.c`.
pub(super) fn contradiction(args: &RecordArgs) -> Option<String> {
    let option = match args.threads {
        Some(_) => "--threads",
        None if args.kcore => "--kcore",
        None => return None,
    };
    let why = if args.output == Path::new("-") {
        "writes a folder; give --output its name"
    } else if super::switch_of(args).is_some() || args.when.timestamp_filename {
        "writes one folder; leave --switch-output and --timestamp-filename out"
    } else if args.overwrite {
        "writes a folder while the rings are read; leave --overwrite out"
    } else if args.threads.is_none() {
        return None;
    } else if args.per_thread {
        "divides the rings of CPUs, and --per-thread has none; leave one of them out"
    } else if args.dump_rings.is_some() {
        "reads the rings with several threads; leave --dump-rings out"
    } else {
        return None;
    };
    Some(format!("{option} {why}"))
}
