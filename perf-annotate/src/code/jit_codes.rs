//! The code of all jitdumps of a capture, by its addresses and times.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_abi::endian::Endianness;
use perf_session::{Dso, Frame, Session};
use perf_symbol::jitdump::{JitRecordBody, JitdumpHeader};
use perf_symbol::{CodeMachine, FileBytes, FileFinder};

use crate::disassembly::LONGEST_INSTRUCTION;

/// The bytes at an address, as many as an instruction may have.
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
    functions: Option<JitFunctions>,
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

impl JitCodes {
    /// Returns the bytes at the address of a frame, `offset` bytes after the start of a function, as they were at a time, or at the
    /// end without one; `None` if no jitdump has them.
    pub(crate) fn code(
        &mut self,
        finder: &FileFinder,
        session: &Session,
        frame: &Frame<'_>,
        offset: u64,
        time: Option<u64>,
    ) -> Option<JitCode> {
        let pid = frame.mapping?.dso().name().strip_prefix(b"/tmp/perf-")?.strip_suffix(b".map")?;
        let pid = core::str::from_utf8(pid).ok()?.parse().ok()?;
        let marker = session.maps(session.thread(pid)?)?.jitdump()?.dso();
        let file = self.0.entry(Arc::as_ptr(marker).addr()).or_insert_with(|| {
            let functions = finder.jitdump(marker).ok().and_then(JitFunctions::read);
            JitFile { _marker: Arc::clone(marker), functions }
        });
        let functions = file.functions.as_ref()?;
        let loads = functions.by_start.get(&frame.ip.checked_sub(offset)?)?;
        let time = time.filter(|_| functions.has_times);
        let before = time.map_or(loads.len(), |time| loads.partition_point(|load| load.0 <= time));
        let (_, place) = loads.get(before.checked_sub(1)?)?;
        let size = place.size.checked_sub(offset)?.min(LONGEST_INSTRUCTION);
        let start = place.start.checked_add(offset)?;
        let bytes = functions.file.slice(start..start.checked_add(size)?)?;
        Some(JitCode { bytes, machine: functions.machine })
    }
}

/// Size of a `JIT_CODE_LOAD` record before the name of the function.
///
/// perf: `struct jr_code_load`, `tools/perf/util/jitdump.h`.
const LOAD_HEAD: u64 = 56;

impl JitFunctions {
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
