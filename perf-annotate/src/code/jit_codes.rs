//! The code of all jitdumps of a capture, by its addresses and times.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_abi::endian::Endianness;
use perf_session::{Dso, SampleContext};
use perf_symbol::jitdump::{JitRecordBody, JitdumpHeader};
use perf_symbol::{CodeMachine, FileBytes, FileFinder, NoSymbols};

use crate::disassembly::LONGEST_INSTRUCTION;

/// Code of a jitdump.
pub(crate) struct JitCode {
    pub(crate) bytes: FileBytes,
    pub(crate) machine: CodeMachine,
}

/// The jitdumps of a capture, each read once.
#[derive(Debug, Default)]
pub(crate) struct JitCodes(HashMap<usize, JitFile>);

/// A jitdump.
#[derive(Debug)]
struct JitFile {
    /// Keeps the address of the DSO, which is the key.
    _marker: Arc<Dso>,
    /// Its functions, or why it cannot be used.
    functions: Result<JitFunctions, NoSymbols>,
}

/// The functions of a jitdump.
#[derive(Debug)]
struct JitFunctions {
    file: FileBytes,
    machine: CodeMachine,
    has_times: bool,
    /// By their first addresses: times and places of their code in the file, in the order of
    /// time.
    by_start: HashMap<u64, Vec<(u64, Place)>>,
}

/// The place of code in a file.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: u64,
    size: u64,
}

/// Returns the file that is the jitdump of the process of a sample, which has mapped it; `None` if there is none.
pub(crate) fn jitdump_of<'s>(at: &SampleContext<'s, '_>) -> Option<&'s Arc<Dso>> {
    Some(at.session().maps(at.thread())?.jitdump()?.dso())
}

impl JitCodes {
    /// Returns the bytes at an address, `offset` bytes after the start of a function, as they were at a time, or at the end without
    /// one; `None` if the jitdump of the sample's process does not have them.
    pub(crate) fn code(
        &mut self,
        finder: &FileFinder,
        at: &SampleContext<'_, '_>,
        (ip, offset): (u64, u64),
        time: Option<u64>,
    ) -> Option<JitCode> {
        let start = ip.checked_sub(offset)?;
        let JitCode { bytes, machine } = self.function(finder, jitdump_of(at)?, start, time).ok()??;
        let size = (bytes.len() as u64).checked_sub(offset)?.min(LONGEST_INSTRUCTION);
        Some(JitCode { bytes: bytes.slice(offset..offset.checked_add(size)?)?, machine })
    }

    /// Returns the code of the function at an address, as it was at a time, or at the end without one; `None` if the jitdump does
    /// not have it. The first call for a jitdump reads the heads of its records.
    ///
    /// # Errors
    ///
    /// Why the jitdump cannot be used.
    pub(crate) fn function(
        &mut self,
        finder: &FileFinder,
        marker: &Arc<Dso>,
        start: u64,
        time: Option<u64>,
    ) -> Result<Option<JitCode>, NoSymbols> {
        let file = self.0.entry(Arc::as_ptr(marker).addr()).or_insert_with(|| {
            let read = |file| JitFunctions::read(file).ok_or(NoSymbols::Malformed("header of the jitdump"));
            JitFile { _marker: Arc::clone(marker), functions: finder.jitdump(marker).and_then(read) }
        });
        let functions = file.functions.as_ref().map_err(|why| *why)?;
        Ok(functions.code(start, time).map(|bytes| JitCode { bytes, machine: functions.machine }))
    }
}

/// Size of a `JIT_CODE_LOAD` record before the name of the function.
///
/// perf: `struct jr_code_load`, `tools/perf/util/jitdump.h`.
const LOAD_HEAD: u64 = 56;

impl JitFunctions {
    /// Returns the code that was at an address at a time.
    fn code(&self, start: u64, time: Option<u64>) -> Option<FileBytes> {
        let loads = self.by_start.get(&start)?;
        // Times of another clock say nothing of samples.
        let time = time.filter(|_| self.has_times);
        let before = time.map_or(loads.len(), |time| loads.partition_point(|load| load.0 <= time));
        let (_, Place { start, size }) = loads.get(before.checked_sub(1)?)?;
        self.file.slice(*start..start.checked_add(*size)?)
    }

    fn read(file: FileBytes) -> Option<Self> {
        let header = JitdumpHeader::parse(&file).ok()?;
        let machine =
            u16::try_from(header.elf_mach).ok().filter(|_| header.endianness == Endianness::Little)?;
        let (mut by_index, mut by_start) = (HashMap::new(), HashMap::<u64, Vec<_>>::new());
        for record in header.records(&file).flatten() {
            let (index, start, place) = match record.body {
                JitRecordBody::Load(load) => {
                    let start = record.offset.saturating_add(LOAD_HEAD + load.name.len() as u64 + 1);
                    (load.code_index, load.code_addr, Some(Place { start, size: load.code.len() as u64 }))
                }
                JitRecordBody::Move(it) => {
                    (it.code_index, it.new_code_addr, by_index.get(&it.code_index).copied())
                }
                _ => continue,
            };
            let Some(place) = place else { continue };
            by_index.insert(index, place);
            by_start.entry(start).or_default().push((record.time, place));
        }
        by_start.values_mut().for_each(|loads| loads.sort_by_key(|(time, _)| *time));
        let (machine, has_times) = (CodeMachine::of_elf(machine, false), !header.has_arch_times());
        Some(Self { machine, has_times, by_start, file })
    }
}
