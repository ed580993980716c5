//! `DEBUG_UNWIND`: the files that are needed to unwind the recorded stacks again.

use alloc::vec::Vec;

use perf_abi::endian::Endian;

use super::protobuf::{MessageField, field, message};
use crate::byte_str::ByteStr;
use crate::error::FileError;
use crate::feature::codec::Fault;
use crate::feature::{Entries, FeatureSection};

message! {
    /// A file whose bytes are in `DEBUG_UNWIND_FILE`, which has the bytes of all files one after another.
    ///
    /// simpleperf: `message DebugUnwindFeature.File`, `system/extras/simpleperf/record_file.proto`.
    pub struct DebugUnwindFile<'a> in 1 {
        /// Path of the file.
        pub path: ByteStr<'a> = 1,
        /// Size of the file in bytes.
        pub size: u64 = 2,
    }
}

#[allow(clippy::extra_unused_type_parameters, reason = "the sections of other features need it")]
pub(in crate::feature) fn decode<'a, O: Endian>(
    section: &FeatureSection<'a>,
) -> Result<Entries<'a, DebugUnwindFile<'a>>, FileError> {
    section.whole(|at| {
        let (message, mut files) = (*at, Entries::default());
        while !section.ends(at) {
            let field = field(at)?;
            if field.number == 1 {
                MessageField::set(&mut files, &message, field, "file")?;
            }
        }
        Ok(files)
    })
}

pub(in crate::feature) fn encode<O: Endian>(
    files: &Entries<'_, DebugUnwindFile<'_>>,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    files.put_all::<O>(out, "")
}
