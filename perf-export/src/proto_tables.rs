//! The tables of pprof, OTLP and Perfetto: strings, functions, mappings, locations and stacks of profiles, interned.

use core::hash::{Hash, Hasher};

use hashbrown::HashMap;
use perf_abi::record::CpuMode;
use perf_profile::{
    EMPTY, NONE, Profile, StackTree, table::interner::Interner, table::number_cache::NumberCache,
};
use perf_session::DsoKind;

use crate::strings::Strings;

/// A function, as strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FunctionStrings {
    pub(crate) name: u32,
    /// The mangled name, if it is mangled.
    pub(crate) system_name: u32,
    /// The source file.
    pub(crate) file: u32,
}

/// A mapped file or region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MappedFile {
    pub(crate) key: MappingKey,
    /// The end of the range.
    pub(crate) limit: u64,
    /// Whether any of its locations has a function, a file, a line, an inlined function.
    pub(crate) has_functions: bool,
    pub(crate) has_files: bool,
    pub(crate) has_lines: bool,
    pub(crate) has_inlines: bool,
}

impl MappedFile {
    /// Returns a mapping without locations.
    fn new(key: MappingKey) -> Self {
        Self { key, limit: 0, has_functions: false, has_files: false, has_lines: false, has_inlines: false }
    }
}

/// Identity of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MappingKey {
    /// String of the file's path.
    pub(crate) file: u32,
    /// Index of the build id in [`ProtoTables::build_ids`]; 0 if it is unknown.
    pub(crate) build_id: u32,
    pub(crate) start: u64,
    pub(crate) pgoff: u64,
}

/// The kind of code at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CodeKind {
    Kernel,
    Native,
    /// Code in memory that no file is mapped to.
    Generated,
    Unknown,
}

/// An address, with its functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodeLocation {
    /// Index of the mapping; [`NONE`] if nothing is mapped.
    pub(crate) mapping: u32,
    /// Of a caller, an address in its call instruction.
    pub(crate) address: u64,
    pub(crate) code: CodeKind,
    /// Functions and line numbers (0 if unknown), innermost inlined function first.
    pub(crate) lines: Vec<(u32, u32)>,
}

impl Hash for CodeLocation {
    /// Few locations have the same address and other functions.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.mapping, self.address).hash(state);
    }
}

/// The strings of a profile's symbols and source files, and its mappings, as far as they are in the tables.
struct KnownStrings {
    names: NumberCache,
    system_names: NumberCache,
    files: NumberCache,
    mappings: NumberCache,
}

impl KnownStrings {
    /// Returns the state of a profile before it is added.
    fn of(profile: &Profile) -> Self {
        let symbols = profile.function_table().symbols().len();
        Self {
            names: NumberCache::of(symbols),
            system_names: NumberCache::of(symbols),
            files: NumberCache::of(profile.function_table().lines().len()),
            mappings: NumberCache::of(profile.frames().mappings()),
        }
    }
}

/// The tables of some profiles.
#[derive(Debug)]
pub(crate) struct ProtoTables {
    /// The first one is empty.
    pub(crate) strings: Strings,
    /// In hexadecimal digits. The first one is empty.
    pub(crate) build_ids: Strings,
    functions: Interner<FunctionStrings>,
    mappings: Vec<MappedFile>,
    mapping_numbers: HashMap<MappingKey, u32>,
    locations: Interner<CodeLocation>,
    /// Of locations.
    pub(crate) stacks: StackTree,
}

impl Default for ProtoTables {
    fn default() -> Self {
        let (mut strings, mut build_ids) = (Strings::default(), Strings::default());
        strings.number_of("");
        build_ids.number_of("");
        let (functions, locations, stacks) = Default::default();
        let (mappings, mapping_numbers) = Default::default();
        Self { strings, build_ids, functions, mappings, mapping_numbers, locations, stacks }
    }
}

impl ProtoTables {
    /// Adds the stacks of a profile's samples. Returns their numbers in [`ProtoTables::stacks`], by their numbers in the profile.
    pub(crate) fn add(&mut self, profile: &Profile) -> Vec<u32> {
        let nodes = profile.stacks().len();
        let mut is_used = vec![false; nodes];
        for sample in profile.samples() {
            if let Some(is_used) = is_used.get_mut(sample.stack as usize) {
                *is_used = true;
            }
        }
        // Callers have lower numbers.
        for stack in (0..nodes).rev() {
            let Some((caller, _)) = profile.stacks().node(stack as u32) else { continue };
            if is_used.get(stack) == Some(&true)
                && let Some(is_used) = is_used.get_mut(caller as usize)
            {
                *is_used = true;
            }
        }
        let used = || (0..nodes).filter(|&stack| is_used.get(stack) == Some(&true));
        let used = || used().filter_map(|stack| Some((stack, profile.stacks().node(stack as u32)?)));
        let mut known = KnownStrings::of(profile);
        let mut locations = vec![NONE; profile.frames().locations().len()];
        // Of the locations, whether several frames have it.
        let mut is_shared = vec![false; self.locations.list().len()];
        for (_, (_, frame)) in used() {
            if let Some(location) = locations.get_mut(frame as usize).filter(|location| **location == NONE) {
                *location = self.location(profile, frame, &mut known);
                match is_shared.get_mut(*location as usize) {
                    Some(is_shared) => *is_shared = true,
                    None => is_shared.push(false),
                }
            }
        }
        // The stacks of a profile are all different, and so are the first ones here, but for those with shared locations.
        let is_first = self.stacks.len() == StackTree::default().len();
        if !is_first {
            self.stacks.find_all();
        }
        let mut stacks = vec![EMPTY; nodes];
        let mut may_be_there = vec![!is_first; nodes];
        for (stack, (caller, frame)) in used() {
            let Some(&location) = locations.get(frame as usize) else { continue };
            let is = |list: &[bool], number: u32| list.get(number as usize) == Some(&true);
            let may_be = is(&may_be_there, caller) || is(&is_shared, location);
            let caller = stacks.get(caller as usize).copied().unwrap_or(EMPTY);
            let number = if may_be {
                self.stacks.called(caller, location, usize::MAX).unwrap_or(EMPTY)
            } else {
                self.stacks.push(caller, location)
            };
            if let (Some(known), Some(place)) = (stacks.get_mut(stack), may_be_there.get_mut(stack)) {
                (*known, *place) = (number, may_be);
            }
        }
        stacks
    }

    /// Returns the number of the location of a frame.
    fn location(&mut self, profile: &Profile, frame: u32, known: &mut KnownStrings) -> u32 {
        let place = profile.frames().location(frame);
        let (ip, is_caller) = place.map_or((0, false), |place| (place.ip, place.is_caller));
        let mapping = self.mapping(profile, frame, known);
        let start = self.mappings.get(mapping as usize).map_or(0, |mapping| mapping.key.start);
        // A return address may be that of another function already.
        let address = if is_caller { ip.saturating_sub(1).max(start) } else { ip };
        let functions = profile.function_table().functions_of(frame);
        let mut lines = Vec::with_capacity(functions.len());
        let (mut has_files, mut has_lines, mut has_inlines) = (false, false, false);
        for at in functions {
            let Some(symbol) = profile.function_table().symbol(at.symbol) else { continue };
            let line = profile.function_table().line(at.line);
            let strings = &mut self.strings;
            let function = FunctionStrings {
                name: known.names.number(at.symbol, || strings.number(&symbol.label())),
                system_name: known.system_names.number(at.symbol, || strings.number(&symbol.raw_name)),
                file: line.map_or(0, |it| known.files.number(at.line, || strings.number(&it.file))),
            };
            let number = line.map_or(0, |line| line.line);
            lines.push((self.functions.number(function), number));
            has_files |= function.file != 0;
            has_lines |= number != 0;
            has_inlines |= symbol.is_inlined;
        }
        if let Some(mapping) = self.mappings.get_mut(mapping as usize) {
            mapping.has_functions |= !lines.is_empty();
            mapping.has_files |= has_files;
            mapping.has_lines |= has_lines;
            mapping.has_inlines |= has_inlines;
        }
        let code = code(profile, frame);
        self.locations.number(CodeLocation { mapping, address, code, lines })
    }

    /// Returns the number of the mapping of a frame, which then has the frame's address; [`NONE`] if nothing is mapped.
    fn mapping(&mut self, profile: &Profile, frame: u32, known: &mut KnownStrings) -> u32 {
        let frames = profile.frames();
        let (Some(place), Some(mapping)) = (frames.location(frame), frames.mapping(frame)) else {
            return NONE;
        };
        let number = known.mappings.number(place.mapping, || {
            let build_id = profile.build_id(place.dso).map(|id| hex(id.as_bytes())).unwrap_or_default();
            let key = MappingKey {
                file: self.strings.number(mapping.dso().name()),
                build_id: self.build_ids.number(build_id.as_bytes()),
                start: mapping.range().start,
                pgoff: mapping.pgoff(),
            };
            let next = self.mappings.len() as u32;
            *self.mapping_numbers.entry(key).or_insert_with(|| {
                self.mappings.push(MappedFile::new(key));
                next
            })
        });
        // Mappings with one start may have several ends. A profile keeps the first one.
        let end = mapping.range().end.max(place.ip.saturating_add(1));
        if let Some(mapping) = self.mappings.get_mut(number as usize) {
            mapping.limit = mapping.limit.max(end);
        }
        number
    }

    /// Returns the functions, by their numbers.
    pub(crate) fn functions(&self) -> &[FunctionStrings] {
        self.functions.list()
    }

    /// Returns the mappings, by their numbers.
    pub(crate) fn mappings(&self) -> &[MappedFile] {
        &self.mappings
    }

    /// Returns the locations, by their numbers.
    pub(crate) fn locations(&self) -> &[CodeLocation] {
        self.locations.list()
    }
}

fn code(profile: &Profile, frame: u32) -> CodeKind {
    let kind = profile.frames().dso_of(frame).map(|dso| dso.kind());
    match profile.frames().mode(frame) {
        CpuMode::KERNEL | CpuMode::GUEST_KERNEL => CodeKind::Kernel,
        CpuMode::USER | CpuMode::GUEST_USER if kind == Some(DsoKind::Memory) => CodeKind::Generated,
        CpuMode::USER | CpuMode::GUEST_USER => CodeKind::Native,
        _ => CodeKind::Unknown,
    }
}

fn hex(bytes: &[u8]) -> String {
    use core::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to memory cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
