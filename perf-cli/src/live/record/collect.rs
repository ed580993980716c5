//! The archive of a recording, for another machine.

use std::path::Path;

use perf_profile::archive::FileDetail;

use crate::archive::{self, ArchiveRequest};
use crate::args::live::record::RecordArgs;
use crate::args::symbols::SymbolArgs;
use crate::input;
use crate::outcome::Failure;

/// Returns why the command line cannot have an archive.
pub(super) fn contradiction(args: &RecordArgs) -> Option<String> {
    let writes_many = args.overwrite || super::switch_of(args).is_some();
    let what = if args.output == Path::new("-") {
        "--collect needs a file; give --output the name of one"
    } else if writes_many {
        "--collect is for recordings of one file; leave out --overwrite and --switch-output, and use perfdata archive"
    } else {
        return None;
    };
    args.collect.then(|| what.to_owned())
}

/// Writes the archive of a finished recording beside it. Files come from the build-id cache, which has those of containers that
/// have ended, and from processes that still run, with their maps.
pub(super) fn write(args: &RecordArgs, capture: &Path) -> Result<(), Failure> {
    let (symbols, output) = (SymbolArgs::default(), archive::beside(capture));
    let request = ArchiveRequest {
        symbols: &symbols,
        detail: FileDetail::Whole,
        threads: None,
        option: "--collect",
        output: &output,
        quiet: args.quiet,
    };
    input::read(capture, |reader, memory| archive::write(&reader, memory, request)).map(drop)
}
