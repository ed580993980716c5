//! What Android's simpleperf adds to a capture: symbols, and mappings before the first record.

use alloc::sync::Arc;

use perf_abi::record::{RecordType, SimpleperfDsoType, SimpleperfUnwindError};
use perf_parse::feature::{Features, InitMap};
use perf_parse::record::UserRecord;
use perf_parse::{EventRecord, FileError, Record};

use super::Session;
use crate::dso::Dso;
use crate::recorded_file::RecordedFile;

impl Session {
    /// Returns the symbols that the capture itself has of what is mapped; `None` if it has none, as all captures that simpleperf
    /// did not write.
    #[must_use]
    pub fn recorded_file(&self, dso: &Dso) -> Option<&RecordedFile> {
        self.recorded.get(dso)
    }

    /// Returns the text of `/proc/kallsyms` that the capture has; `None` if it has none.
    #[must_use]
    pub fn recorded_kallsyms(&self) -> Option<&Arc<[u8]>> {
        self.recorded.kallsyms.as_ref()
    }

    /// Returns the number of symbols and files that were dropped: see [`SessionLimits::symbols`](crate::SessionLimits::symbols).
    #[must_use]
    pub fn dropped_symbols(&self) -> u64 {
        self.recorded.dropped
    }

    /// Returns the number of stacks that simpleperf could not unwind whole: those of its UNWINDING_RESULT records, which it
    /// writes with `--keep-failed-unwinding-result`.
    #[must_use]
    pub fn failed_unwinds(&self) -> u64 {
        self.failed_unwinds
    }

    /// Returns whether Android's simpleperf wrote the capture. Its call chains have the addresses of calls, where others have
    /// return addresses.
    ///
    /// simpleperf: `SampleRecord::AdjustCallChainGeneratedByKernel`, `system/extras/simpleperf/record.cpp`.
    #[must_use]
    pub fn is_of_simpleperf(&self) -> bool {
        self.is_of_simpleperf
    }

    /// Adds what simpleperf's features say.
    pub(super) fn add_recorded(&mut self, features: &Features<'_>) {
        self.is_of_simpleperf |= features.is_of_simpleperf();
        self.machines.host.names_by_process = self.is_of_simpleperf;
        if let Ok(Some(map)) = features.init_map() {
            self.add_init_map(&map);
        }
        let Ok(Some(files)) = features.stored_files() else { return };
        let (recorded, limit) = (Arc::make_mut(&mut self.recorded), self.limits.symbols);
        for it in files.iter() {
            let offset = it.file_offset_of_min_vaddr.or(it.memory_offset_of_min_vaddr);
            // simpleperf writes -1 for one that it does not know.
            let file = RecordedFile::new(it.kind, it.min_vaddr, offset.filter(|&offset| offset != u64::MAX));
            let symbols = it.symbols.iter().map(|it| (it.vaddr, u64::from(it.len), it.name.as_bytes()));
            recorded.add(it.path.as_bytes(), file, symbols, limit);
        }
    }

    /// Applies the records of mappings and names that were there when the recording began.
    fn add_init_map(&mut self, map: &InitMap<'_>) {
        // Paths and names end at a NUL, so that the trailers after them do not matter.
        for record in map.reader().records().map_while(Result::ok) {
            if !matches!(record.kind(), RecordType::MMAP | RecordType::MMAP2 | RecordType::COMM) {
                continue;
            }
            if let Ok(decoded) = record.decode() {
                self.apply_decoded(record.raw().misc(), decoded);
            }
        }
    }

    /// Applies a record with symbols, of simpleperf.
    #[cold]
    pub(super) fn apply_of_simpleperf(&mut self, record: &EventRecord<'_>) -> Result<(), FileError> {
        self.is_of_simpleperf = true;
        self.machines.host.names_by_process = true;
        let limit = self.limits.symbols;
        match record.decode()? {
            Record::User(UserRecord::Dso(it), _) => {
                let kind = SimpleperfDsoType(u32::try_from(it.dso_type).unwrap_or(u32::MAX));
                let file = RecordedFile::new(kind, it.min_vaddr, None);
                Arc::make_mut(&mut self.recorded).add_numbered(it.dso_id, it.dso_name, file, limit);
            }
            Record::User(UserRecord::Symbol(it), _) => {
                let symbol = (it.addr, it.len, it.name);
                Arc::make_mut(&mut self.recorded).add_symbol(it.dso_id, symbol, limit);
            }
            Record::User(UserRecord::KernelSymbol(it), _) => {
                Arc::make_mut(&mut self.recorded).set_kallsyms(it.kallsyms, limit);
            }
            Record::User(UserRecord::UnwindingResult(it), _)
                if it.error_code != SimpleperfUnwindError::NONE =>
            {
                self.failed_unwinds = self.failed_unwinds.saturating_add(1);
            }
            // Pieces that do not make a record are those of no symbols.
            Record::User(UserRecord::Split(_), _) => drop(self.split.push(&record.raw())),
            Record::User(UserRecord::SplitEnd, _) => {
                let mut split = core::mem::take(&mut self.split);
                let joined = split.push(&record.raw()).ok().flatten();
                if let Some(Ok(Record::User(UserRecord::KernelSymbol(it), _))) =
                    joined.map(|it| it.decode_user())
                {
                    Arc::make_mut(&mut self.recorded).set_kallsyms(it.kallsyms, limit);
                }
            }
            _ => {}
        }
        Ok(())
    }
}
