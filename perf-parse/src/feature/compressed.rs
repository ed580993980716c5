//! `COMPRESSED`: how the records are compressed.

use perf_abi::file::CompressType;

use super::codec::entry;

entry! {
    /// How the records of a file are compressed.
    ///
    /// perf: `write_compressed`, `tools/perf/util/header.c`.
    pub struct Compression {
        /// Version of the compression; perf writes 0.
        pub version: u32,
        /// The algorithm.
        pub kind as "type": CompressType,
        /// Level of the algorithm.
        pub level: u32,
        /// Ratio of the size before to the size after compression, rounded; 0 in a pipe, where the ratio is not known
        /// in time.
        pub ratio: u32,
        /// Size of the recorder's rings in bytes: the most that one COMPRESSED record expands to.
        pub mmap_len: u32,
    }
}
