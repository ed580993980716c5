//! The addresses of all samples, each once.

use alloc::sync::Arc;
use std::collections::HashMap;

use perf_abi::record::CpuMode;
use perf_session::{At, Dso, DsoKind, Frame, Mapping};
use perf_symbol::{Function, StackFrame};

use crate::names::{Names, back_into_call};

/// The number of what there is not.
pub(super) const NONE: u32 = u32::MAX;

/// The addresses of all samples, by the file and the offset in it.
#[derive(Debug, Default)]
pub(super) struct Frames {
    numbers: HashMap<Key, u32>,
    pub(super) list: Vec<Known>,
    pub(super) dsos: Vec<Arc<Dso>>,
    /// By the address of the DSO, which `dsos` keeps alive.
    dso_numbers: HashMap<usize, u32>,
    /// One mapping for each file and place that addresses are in.
    mappings: Vec<Mapping>,
    mapping_numbers: HashMap<(u32, u64, u64), u32>,
    /// The functions of generated code, which has others at other times.
    pub(super) generated: Vec<Vec<Function>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    dso: u32,
    mode: CpuMode,
    is_caller: bool,
    is_executable: bool,
    /// Counts the functions that were at the address.
    version: u32,
    offset: u64,
}

/// What is known of an address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// [`NONE`] where nothing is mapped.
    pub(super) dso: u32,
    mapping: u32,
    /// The index in [`Frames::generated`] or [`NONE`].
    pub(super) generated: u32,
    pub(super) mode: CpuMode,
    pub(super) is_caller: bool,
    /// Whether the file was mapped at several places, so that `shown` is the address of only some of the samples.
    pub(super) is_at_several: bool,
    /// The address as it was recorded first.
    ip: u64,
    /// The same as it is printed: before the call where perf's unwinder goes back into the call.
    pub(super) shown: u64,
    /// The offset in the file; the address itself where there is no file.
    pub(super) offset: u64,
}

impl Frames {
    /// Returns the number of a frame; `None` if there is no room for it.
    pub(super) fn number(
        &mut self,
        at: &At<'_, '_>,
        it: &StackFrame<'_>,
        names: &mut Names,
        limit: usize,
    ) -> Option<u32> {
        let StackFrame { frame, is_caller, .. } = *it;
        let dso = frame.mapping.map_or(NONE, |mapping| self.dso(mapping.dso()));
        let mut key = Key {
            dso,
            mode: frame.mode,
            is_caller,
            is_executable: frame.mapping.is_some_and(Mapping::is_executable),
            version: 0,
            offset: frame.mapping.map_or(frame.ip, |mapping| mapping.offset_of(frame.ip)),
        };
        let mut generated = NONE;
        if frame.mapping.is_some_and(|it| it.dso().kind() == DsoKind::Memory && it.is_executable()) {
            let functions = names.functions(at, &frame, is_caller);
            // Another function at the address is another version.
            while let Some(&number) = self.numbers.get(&key) {
                if self.functions_of(number) == functions {
                    return Some(self.seen(number, frame.ip));
                }
                key.version += 1;
            }
            generated = self.generated.len() as u32;
            if self.list.len() < limit {
                self.generated.push(functions.to_vec());
            }
        }
        if let Some(&number) = self.numbers.get(&key) {
            return Some(self.seen(number, frame.ip));
        }
        if self.list.len() >= limit {
            return None;
        }
        let known = Known {
            dso,
            mapping: frame.mapping.map_or(NONE, |mapping| self.mapping(dso, mapping)),
            generated,
            mode: frame.mode,
            is_caller,
            is_at_several: false,
            ip: frame.ip,
            shown: frame.ip.wrapping_sub(back_into_call(it)),
            offset: key.offset,
        };
        let number = self.list.len() as u32;
        self.numbers.insert(key, number);
        self.list.push(known);
        Some(number)
    }

    fn functions_of(&self, number: u32) -> &[Function] {
        let known = self.list.get(number as usize);
        known.and_then(|known| self.generated.get(known.generated as usize)).map_or(&[], |it| it)
    }

    fn seen(&mut self, number: u32, ip: u64) -> u32 {
        if let Some(known) = self.list.get_mut(number as usize) {
            known.is_at_several |= known.ip != ip;
        }
        number
    }

    fn dso(&mut self, dso: &Arc<Dso>) -> u32 {
        let next = self.dsos.len() as u32;
        let number = *self.dso_numbers.entry(Arc::as_ptr(dso) as usize).or_insert(next);
        if number == next {
            self.dsos.push(Arc::clone(dso));
        }
        number
    }

    fn mapping(&mut self, dso: u32, mapping: &Mapping) -> u32 {
        let next = self.mappings.len() as u32;
        let key = (dso, mapping.range().start, mapping.pgoff());
        let number = *self.mapping_numbers.entry(key).or_insert(next);
        if number == next {
            self.mappings.push(mapping.clone());
        }
        number
    }

    /// Drops what only [`number`](Self::number) needs.
    pub(super) fn finish(&mut self) {
        self.numbers = HashMap::new();
        self.mapping_numbers = HashMap::new();
    }

    pub(super) fn mode(&self, number: u32) -> CpuMode {
        self.list.get(number as usize).map_or(CpuMode::CPUMODE_UNKNOWN, |known| known.mode)
    }

    /// Returns a frame as it was first.
    pub(super) fn frame(&self, number: u32) -> Option<(Frame<'_>, bool)> {
        let known = self.list.get(number as usize)?;
        let mapping = self.mappings.get(known.mapping as usize);
        Some((Frame { ip: known.ip, mode: known.mode, mapping }, known.is_caller))
    }
}

/// Returns the name that perf's reports have for what is mapped: that of a file without its folders.
///
/// perf: `dso__set_basename`, `tools/perf/util/dso.c`.
pub(super) fn short_name(dso: &Dso) -> Vec<u8> {
    let name = dso.name();
    let jit = name.strip_prefix(b"/tmp/perf-").and_then(|rest| rest.strip_suffix(b".map"));
    if let Some(pid) = jit.filter(|pid| !pid.is_empty() && pid.iter().all(u8::is_ascii_digit)) {
        return [b"[JIT] tid ", pid].concat();
    }
    let file = name.rsplit(|&byte| byte == b'/').next().filter(|file| !file.is_empty());
    match dso.kind() {
        DsoKind::File | DsoKind::Memory => file.unwrap_or(name).to_vec(),
        _ => name.to_vec(),
    }
}
