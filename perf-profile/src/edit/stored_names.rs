//! The names of the frames of a capture, for the capture itself.

use std::collections::BTreeMap;

use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::{CpuMode, SimpleperfDsoType};
use perf_parse::feature::{FeatureData, StoredFile, StoredSymbol};
use perf_parse::file::write::{EventFields, FeaturePayloads};
use perf_parse::record::RawRecord;
use perf_parse::rewrite::{CaptureFilter, EditedRecord};
use perf_parse::{Reader, SampleLayout};
use perf_session::{DsoKind, Mapping};
use perf_symbol::Function;

use crate::error::ProfileError;
use crate::samples::Samples;
use crate::selection::Selection;
use crate::symbols::Symbols;

/// The path of the text of the kernel in simpleperf's list.
const KERNEL: &[u8] = b"[kernel.kallsyms]";

/// Names of functions, by the files and the addresses that simpleperf's feature `FILE2` has for them.
#[derive(Debug, Default)]
pub(super) struct StoredNames {
    files: BTreeMap<(Vec<u8>, SimpleperfDsoType), BTreeMap<u64, StoredName>>,
    /// Number of bytes of the names.
    size: usize,
    /// Number of names that are stored.
    pub(super) stored: u64,
    /// Number of names of frames that are not stored: guesses, those of code that was replaced by other code at its addresses,
    /// and what is beyond the limit.
    pub(super) left_out: u64,
}

/// A function; without a name if the place had several.
#[derive(Debug)]
struct StoredName {
    len: u32,
    name: Option<Vec<u8>>,
}

/// Number of bytes of names that are stored: as many as a [`Session`](perf_session::Session) reads.
const LIMIT: usize = 256 << 20;

/// Number of bytes that a name counts in addition to its text.
const ENTRY: usize = 64;

impl StoredNames {
    /// Finds the names of all frames of the selected samples.
    pub(super) fn of(
        reader: &Reader<'_>,
        selection: Selection,
        symbols: &Symbols,
    ) -> Result<Self, ProfileError> {
        let mut it = Self::default();
        for sample in Samples::of(reader).select(selection).named(symbols) {
            let sample = sample?;
            for frame in sample.stack().iter().filter(|frame| !frame.is_inlined()) {
                let is_guest = matches!(frame.mode(), CpuMode::GUEST_KERNEL | CpuMode::GUEST_USER);
                if let Some((mapping, function)) = frame.mapping().zip(frame.symbol()).filter(|_| !is_guest) {
                    it.add(mapping, frame.ip(), function);
                }
            }
        }
        it.stored =
            it.files.values().flat_map(BTreeMap::values).filter(|it| it.name.is_some()).count() as u64;
        Ok(it)
    }

    fn add(&mut self, mapping: &Mapping, ip: u64, function: &Function) {
        let Some(((name, offset), size)) =
            function.raw_name.as_ref().or(function.name.as_ref()).zip(function.offset).zip(function.size)
        else {
            return;
        };
        let dso = mapping.dso();
        let (path, kind, address) = match dso.kind() {
            // The record of the symbol names it.
            DsoKind::Ksymbol(_) => return,
            DsoKind::Kernel | DsoKind::Module => (KERNEL, SimpleperfDsoType::KERNEL, ip),
            DsoKind::Memory => {
                let name = dso.name();
                (name.strip_prefix(b"/tmp/").unwrap_or(name), SimpleperfDsoType::SYMBOL_MAP_FILE, ip)
            }
            _ => (dso.path(), SimpleperfDsoType::ELF_FILE, mapping.offset_of(ip)),
        };
        let (Some(start), Ok(len)) = (address.checked_sub(offset), u32::try_from(size)) else { return };
        if function.guess.is_some() {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        let end = start.saturating_add(u64::from(len));
        let file = self.files.entry((path.to_vec(), kind)).or_default();
        if let Some(known) = file.get_mut(&start) {
            if known.name.as_ref().is_some_and(|known| **known != **name) || known.len != len {
                known.name = None;
                self.left_out = self.left_out.saturating_add(1);
            }
            return;
        }
        // Readers find the last symbol that begins before an address.
        let before = file.range(..start).next_back();
        let overlaps = before.is_some_and(|(&at, it)| at.saturating_add(u64::from(it.len)) > start)
            || file.range(start..end).next().is_some();
        let size = self.size.saturating_add(name.len()).saturating_add(ENTRY);
        if overlaps || size > LIMIT {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        self.size = size;
        file.insert(start, StoredName { len, name: Some(name.to_vec()) });
    }
}

impl CaptureFilter for StoredNames {
    fn features(&mut self, features: &mut FeaturePayloads) {
        // What simpleperf stored is its own.
        if self.stored == 0 || features.get(Feature::FILE).is_some() || features.get(Feature::FILE2).is_some()
        {
            return;
        }
        let symbols = self.files.values().map(|names| {
            let named = names.iter().filter_map(|(&vaddr, it)| {
                Some(StoredSymbol { vaddr, len: it.len, name: it.name.as_deref()?.into() })
            });
            named.collect::<Vec<_>>()
        });
        let symbols = symbols.collect::<Vec<_>>();
        let files = self.files.keys().zip(&symbols).filter(|(_, symbols)| !symbols.is_empty());
        let files = files.map(|((path, kind), symbols)| StoredFile {
            path: path.as_slice().into(),
            kind: *kind,
            symbols: symbols.into(),
            file_offset_of_min_vaddr: (*kind == SimpleperfDsoType::ELF_FILE).then_some(0),
            ..StoredFile::default()
        });
        // Names are shorter than a message may be.
        let _: Result<(), _> = features.set(&FeatureData::File2((&files.collect::<Vec<_>>()).into()));
    }

    fn event(&mut self, _: &mut EventFields) {}

    fn record(&mut self, _: &RawRecord<'_>, _: Option<&SampleLayout>) -> EditedRecord {
        EditedRecord::Kept
    }
}
