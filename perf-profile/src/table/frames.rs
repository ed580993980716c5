//! The addresses of all samples, each once.

mod part;

use core::hash::BuildHasher;
use std::num::NonZero;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashMap};
use perf_abi::record::CpuMode;
use perf_session::{Dso, DsoKind, Frame, Mapping, SampleContext, Session};
use perf_symbol::{Function, Guess, LoadAhead, StackFrame, Symbolizer};

use crate::table::numbering::Numbering;
pub(crate) use part::{Counts, FramesPart, NewFrames};

/// The number of what there is not: of the file where nothing is mapped, of the symbol where none is known.
pub const NONE: u32 = u32::MAX;

/// The addresses of all samples, by the file and the offset in it.
#[derive(Debug, Default)]
pub struct FrameTable {
    /// The numbers of the places in `list` that are no texts, by their [words](FrameLocation::words).
    numbers: Numbering,
    hasher: DefaultHashBuilder,
    list: Vec<FrameLocation>,
    dsos: Vec<Arc<Dso>>,
    /// By the address of the DSO, which `dsos` keeps alive.
    dso_numbers: HashMap<usize, u32>,
    /// Those of other sessions have other addresses.
    dsos_by_value: HashMap<Arc<Dso>, u32>,
    /// One mapping for each file and place that addresses are in.
    mappings: Vec<Mapping>,
    mapping_numbers: HashMap<(u32, u64, u64), u32>,
    /// The functions of generated code, which has others at other times, and texts.
    pub(crate) generated: Vec<Vec<Function>>,
    texts: HashMap<Vec<u8>, u32>,
    /// The frames that turned out to be at several addresses.
    moved: Vec<u32>,
    ahead: Option<LoadAhead>,
}

/// The address of a frame.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FrameLocation {
    /// The index in [`FrameTable::dsos`]; [`NONE`] where nothing is mapped.
    pub dso: u32,
    /// The number of the mapping in its [`FrameTable`] or [`NONE`].
    pub mapping: u32,
    /// The index in [`FrameTable::generated`] or [`NONE`].
    pub(crate) generated: u32,
    /// Whose code it is.
    pub mode: CpuMode,
    /// Whether it is a return address.
    pub is_caller: bool,
    is_executable: bool,
    /// Why the frame is a guess; `None` if it is not one.
    pub guess: Option<Guess>,
    /// Whether the file was mapped at several places, so that `shown` is the address of only some of the samples.
    pub is_at_several: bool,
    /// The address as it was recorded first.
    pub ip: u64,
    /// The same as perf prints it: see [`StackFrame::shown`].
    pub shown: u64,
    /// The offset in the file; the address itself where there is no file.
    pub offset: u64,
}

impl FrameLocation {
    /// Returns whether it is no address, but a [text](FrameTable::text).
    #[must_use]
    pub fn is_text(&self) -> bool {
        self.dso == NONE && self.generated != NONE
    }

    /// Returns what frames differ in, but for the functions of generated code: other functions are other frames.
    #[inline]
    fn words(&self) -> (u64, u64) {
        (
            u64::from(self.dso) << 32 | flags(self.mode, self.is_caller, self.is_executable, self.guess),
            self.offset,
        )
    }
}

impl FrameTable {
    /// Has the symbols of files loaded by another thread from the first frame in them on, so that they are there when
    /// [`FunctionTable`](crate::FunctionTable) needs them. `symbolizer`, or a clone of it, then finds the functions. Without
    /// one, and with one thread, nothing is loaded ahead.
    pub fn load_ahead(&mut self, symbolizer: Option<&Symbolizer>, threads: NonZero<usize>) {
        self.ahead = symbolizer.filter(|_| threads.get() > 1).map(LoadAhead::new);
    }

    /// Returns the number of a frame; `None` if there would be more than `limit`. Numbers count from 0 on, in the order in
    /// which the frames came.
    ///
    /// The functions of generated code are looked up here, by `symbolizer`, as other functions are at the address at other
    /// times. All others are found later, by [`FunctionTable`](crate::FunctionTable).
    pub fn number(
        &mut self,
        at: &SampleContext<'_, '_>,
        it: &StackFrame<'_>,
        symbolizer: Option<&mut Symbolizer>,
        limit: usize,
    ) -> Option<u32> {
        let StackFrame { frame, is_caller, .. } = *it;
        let dso = match frame.mapping {
            Some(mapping) => self.dso(at.session(), frame.mode, mapping.dso(), limit)?,
            None => NONE,
        };
        let place = FrameLocation {
            dso,
            mapping: NONE,
            generated: NONE,
            mode: frame.mode,
            is_caller,
            is_executable: frame.mapping.is_some_and(Mapping::is_executable),
            guess: it.guess(),
            is_at_several: false,
            ip: frame.ip,
            shown: it.shown(),
            offset: frame.mapping.map_or(frame.ip, |mapping| mapping.offset_of(frame.ip)),
        };
        let functions = frame
            .mapping
            .filter(|mapping| is_generated(mapping))
            .map(|_| symbolizer.map_or(&[][..], |symbolizer| symbolizer.functions_at(at, &frame, is_caller)));
        self.enter(place, frame.mapping, functions, limit)
    }

    /// Returns the number of a place in a DSO that has a number; `None` if there would be more frames than `limit`.
    /// `functions` are those of generated code.
    #[inline]
    fn enter(
        &mut self,
        place: FrameLocation,
        mapping: Option<&Mapping>,
        functions: Option<&[Function]>,
        limit: usize,
    ) -> Option<u32> {
        let Self { numbers, hasher, list, generated, .. } = self;
        let words = place.words();
        let is = |number: u32| {
            list.get(number as usize).is_some_and(|known| {
                let known_functions = || generated.get(known.generated as usize).map_or(&[][..], |it| it);
                known.words() == words && functions.is_none_or(|functions| known_functions() == functions)
            })
        };
        let hash_of =
            |number: u32| list.get(number as usize).map_or(0, |known| hasher.hash_one(known.words()));
        let next = (list.len() < limit).then_some(list.len() as u32);
        let number = numbers.number_or(hasher.hash_one(words), is, hash_of, next)?;
        if Some(number) != next {
            self.see(number, place.ip);
            return Some(number);
        }
        let generated = functions.map_or(NONE, |functions| {
            generated.push(functions.to_vec());
            generated.len() as u32 - 1
        });
        let mapping = mapping.map_or(NONE, |mapping| self.number_of_mapping(place.dso, mapping));
        self.list.push(FrameLocation { mapping, generated, ..place });
        Some(number)
    }

    /// Returns the number of a frame that is no address but a text, shown as the name of a function; `None` if there would be
    /// more frames than `limit`.
    pub fn text(&mut self, text: &[u8], limit: usize) -> Option<u32> {
        if let Some(&number) = self.texts.get(text) {
            return Some(number);
        }
        if self.list.len() >= limit {
            return None;
        }
        let name: Arc<[u8]> = text.into();
        let number = self.list.len() as u32;
        self.texts.insert(text.to_vec(), number);
        self.list.push(FrameLocation {
            dso: NONE,
            mapping: NONE,
            generated: self.generated.len() as u32,
            mode: CpuMode::CPUMODE_UNKNOWN,
            is_caller: false,
            is_executable: false,
            guess: None,
            is_at_several: false,
            ip: 0,
            shown: 0,
            offset: 0,
        });
        self.generated.push(vec![Function {
            name: Some(Arc::clone(&name)),
            raw_name: Some(name),
            offset: None,
            size: None,
            file: None,
            line: None,
            column: None,
            is_inlined: false,
            source: None,
            origin: None,
            guess: None,
        }]);
        Some(number)
    }

    /// Notes the address of a frame that came again.
    pub(crate) fn see(&mut self, number: u32, ip: u64) {
        if let Some(place) = self.list.get_mut(number as usize)
            && place.ip != ip
            && !place.is_at_several
        {
            place.is_at_several = true;
            self.moved.push(number);
        }
    }

    /// Returns whether a frame is one that came before, at the same address or where its file is mapped elsewhere. `false`
    /// for generated code, which may be another function now.
    #[inline]
    pub(crate) fn is_at(&self, place: &FrameLocation, it: &StackFrame<'_>) -> bool {
        let StackFrame { frame, is_caller, .. } = *it;
        let is_there = match frame.mapping {
            Some(mapping) => {
                let dso = self.dsos.get(place.dso as usize);
                place.offset == mapping.offset_of(frame.ip)
                    && place.is_executable == mapping.is_executable()
                    && dso.is_some_and(|dso| Arc::ptr_eq(dso, mapping.dso()))
            }
            None => place.offset == frame.ip && place.dso == NONE,
        };
        let is_same = place.mode == frame.mode && place.is_caller == is_caller && place.guess == it.guess();
        is_there && is_same && place.generated == NONE
    }

    /// Returns the number of a DSO; `None` if it is a new one of a frame that there is no room for.
    #[inline]
    fn dso(&mut self, session: &Session, mode: CpuMode, dso: &Arc<Dso>, limit: usize) -> Option<u32> {
        match self.dso_numbers.get(&(Arc::as_ptr(dso) as usize)) {
            Some(&number) => Some(number),
            None => self.dso_by_value(session, mode, dso, limit),
        }
    }

    /// Returns the number of a DSO that may be that of another session.
    fn dso_by_value(
        &mut self,
        session: &Session,
        mode: CpuMode,
        dso: &Arc<Dso>,
        limit: usize,
    ) -> Option<u32> {
        if let Some(&number) = self.dsos_by_value.get(dso) {
            return Some(number);
        }
        if self.list.len() >= limit {
            return None;
        }
        let number = self.dsos.len() as u32;
        self.dso_numbers.insert(Arc::as_ptr(dso) as usize, number);
        self.dsos_by_value.insert(Arc::clone(dso), number);
        self.dsos.push(Arc::clone(dso));
        // The map of generated code grows as long as the process runs.
        if let Some(ahead) = self.ahead.as_ref().filter(|_| dso.kind() != DsoKind::Memory) {
            ahead.add(session, dso, mode);
        }
        Some(number)
    }

    fn number_of_mapping(&mut self, dso: u32, mapping: &Mapping) -> u32 {
        let next = self.mappings.len() as u32;
        let key = (dso, mapping.range().start, mapping.pgoff());
        let number = *self.mapping_numbers.entry(key).or_insert(next);
        if number == next {
            let dso = self.dsos.get(dso as usize).unwrap_or_else(|| mapping.dso());
            self.mappings.push(mapping.in_dso(dso));
        }
        number
    }

    /// Drops what only [`number`](Self::number) and [`text`](Self::text) need: afterwards, a frame that is given again gets
    /// another number.
    pub fn finish(&mut self) {
        self.numbers = Numbering::default();
        self.mapping_numbers = HashMap::default();
        self.texts = HashMap::default();
        self.moved = Vec::new();
    }

    /// Returns what is known of each frame, by its number.
    #[must_use]
    pub fn locations(&self) -> &[FrameLocation] {
        &self.list
    }

    /// Returns what is known of a frame; `None` for a number that is none.
    #[must_use]
    pub fn location(&self, number: u32) -> Option<&FrameLocation> {
        self.list.get(number as usize)
    }

    /// Returns whose code a frame is; `CPUMODE_UNKNOWN` for a number that is none.
    #[must_use]
    pub fn mode(&self, number: u32) -> CpuMode {
        self.location(number).map_or(CpuMode::CPUMODE_UNKNOWN, |place| place.mode)
    }

    /// Returns the files that frames are in, and what else is mapped.
    #[must_use]
    pub fn dsos(&self) -> &[Arc<Dso>] {
        &self.dsos
    }

    /// Returns the file of a frame, or what else is mapped there; `None` where nothing is mapped.
    #[must_use]
    pub fn dso_of(&self, number: u32) -> Option<&Arc<Dso>> {
        self.dsos.get(self.location(number)?.dso as usize)
    }

    /// Returns a frame as it was recorded first, and whether it is a caller.
    #[must_use]
    pub fn frame(&self, number: u32) -> Option<(Frame<'_>, bool)> {
        let place = self.location(number)?;
        let mapping = self.mappings.get(place.mapping as usize);
        Some((Frame { ip: place.ip, mode: place.mode, mapping }, place.is_caller))
    }

    /// Returns the number of mappings that frames are in.
    pub fn mappings(&self) -> usize {
        self.mappings.len()
    }

    /// Returns the mapping of a frame, one of those that had its address; `None` where nothing is mapped.
    #[must_use]
    pub fn mapping(&self, number: u32) -> Option<&Mapping> {
        self.mappings.get(self.location(number)?.mapping as usize)
    }
}

/// Returns what kind of frame it is, as a number of 13 bits.
#[inline]
pub(crate) fn flags(mode: CpuMode, is_caller: bool, is_executable: bool, guess: Option<Guess>) -> u64 {
    let guess = guess.map_or(0, |it| it as u64 + 1);
    u64::from(mode.0) | u64::from(is_caller) << 8 | u64::from(is_executable) << 9 | guess << 10
}

/// Returns whether code is mapped that is in no file.
#[inline]
pub(crate) fn is_generated(mapping: &Mapping) -> bool {
    mapping.dso().kind() == DsoKind::Memory && mapping.is_executable()
}

/// Returns the name that perf's reports have for what is mapped: that of a file without its folders.
///
/// perf: `dso__set_basename`, `tools/perf/util/dso.c`.
#[must_use]
pub fn short_name(dso: &Dso) -> Vec<u8> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_frames_with_a_name() {
        let mut frames = FrameTable::default();
        assert_eq!(frames.text(b"[woken by a]", 2), Some(0));
        assert_eq!(frames.text(b"[woken by b]", 2), Some(1));
        assert_eq!(frames.text(b"[woken by a]", 2), Some(0));
        assert_eq!(frames.text(b"[woken by c]", 2), None);
        assert!(frames.locations().iter().all(FrameLocation::is_text));
        assert_eq!(frames.generated[1][0].name.as_deref(), Some(&b"[woken by b]"[..]));
    }
}
