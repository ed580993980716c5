//! The sections that Android's simpleperf adds: the symbols of files, facts about the recording, and unwind data.
//!
//! simpleperf: `system/extras/simpleperf/record_file_format.h` and `record_file.proto`.

pub(super) mod debug_unwind;
pub(super) mod etm_branch_list;
pub(super) mod file;
pub(super) mod file2;
pub(super) mod init_map;
pub(super) mod meta_info;
mod protobuf;
mod stored_entries;
mod stored_file;

pub use debug_unwind::DebugUnwindFile;
pub use etm_branch_list::{EtmAddress, EtmBinary, EtmBranch, EtmBranchList};
pub use init_map::InitMap;
pub use meta_info::{EventTypeInfo, MetaInfo, MetaInfoEntry};
pub use stored_file::{DexFileOffset, StoredFile, StoredSymbol};

use perf_abi::feature::Feature;

use super::{Entries, Features};
use crate::byte_str::ByteStr;
use crate::error::FileError;

impl Features<'_> {
    /// A number after those of simpleperf's features, and not after those that edits add.
    const AFTER_SIMPLEPERF: u32 = 192;

    /// Returns whether Android's simpleperf wrote the capture: it has a feature of its own, or the command is that program,
    /// as in captures of its first versions.
    #[must_use]
    pub fn is_of_simpleperf(&self) -> bool {
        // An edit adds FILE2 to other captures; simpleperf writes no FILE2 without META_INFO.
        let is_own = |feature: Feature| {
            (Feature::SIMPLEPERF_START..Self::AFTER_SIMPLEPERF).contains(&feature.0)
                && feature != Feature::FILE2
        };
        let has_own = self.iter().any(|it| is_own(it.feature));
        let is_program = |path: ByteStr<'_>| path.rsplit(|&byte| byte == b'/').next() == Some(b"simpleperf");
        let command = || self.cmdline().ok().flatten().and_then(|it| it.iter().next());
        has_own || command().is_some_and(is_program)
    }

    /// Returns the files whose symbols simpleperf stored, from `FILE` or from `FILE2`, which newer versions write in its
    /// place. `None` if the capture has neither.
    ///
    /// Of each file, the sections have only the symbols that samples hit.
    ///
    /// # Errors
    ///
    /// Those of [`FeatureSection::decode`](super::FeatureSection::decode).
    pub fn stored_files<'a>(&'a self) -> Result<Option<Entries<'a, StoredFile<'a>>>, FileError> {
        match self.file()? {
            Some(files) => Ok(Some(files)),
            None => self.file2(),
        }
    }
}
