//! `DIR_FORMAT`: the recording is a folder.

use perf_abi::file::DirVersion;

use super::codec::entry;

entry! {
    /// The layout of a recording that is a folder of files.
    ///
    /// perf: `write_dir_format`, `tools/perf/util/header.c`.
    pub struct DirFormat {
        /// Version of the layout.
        pub version: DirVersion,
    }
}
