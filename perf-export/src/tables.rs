//! The strings, functions, mappings, locations and stacks of some profiles, each once: what pprof and OTLP have tables of.

use std::rc::Rc;

use hashbrown::HashMap;
use perf_abi::record::CpuMode;
use perf_session::DsoKind;

use crate::frames::NONE;
use crate::named::FunctionAt;
use crate::profile::Profile;
use crate::stacks::{EMPTY, Stacks};
use crate::text::OneLine;

/// The strings, each once. The first one is empty.
#[derive(Debug)]
pub(crate) struct Strings {
    list: Vec<Rc<str>>,
    numbers: HashMap<Rc<str>, u32>,
}

impl Strings {
    /// Returns the number of a string. It is text in the format of [`OneLine`]: protobuf has no other bytes than UTF-8.
    pub(crate) fn number(&mut self, bytes: &[u8]) -> u32 {
        let text: Rc<str> = match core::str::from_utf8(bytes) {
            Ok(text) if bytes.iter().all(|byte| matches!(byte, b' '..=b'~')) => text.into(),
            _ => OneLine(bytes).to_string().into(),
        };
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(Rc::clone(&text)).or_insert(next);
        if number == next {
            self.list.push(text);
        }
        number
    }

    /// Returns a string by its number.
    pub(crate) fn get(&self, number: u32) -> &str {
        self.list.get(number as usize).map_or("", |text| text)
    }

    /// Returns the strings, by their numbers.
    pub(crate) fn list(&self) -> &[Rc<str>] {
        &self.list
    }
}

impl Default for Strings {
    fn default() -> Self {
        Self { list: vec!["".into()], numbers: HashMap::from([("".into(), 0)]) }
    }
}

/// A function. Its fields are numbers of strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Function {
    pub(crate) name: u32,
    /// The mangled name, if it is mangled.
    pub(crate) system_name: u32,
    /// The source file.
    pub(crate) file: u32,
}

/// What is mapped at a range of addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MappedFile {
    pub(crate) key: MappingKey,
    /// The end of the range.
    pub(crate) limit: u64,
    /// What is known of at least one of its locations.
    pub(crate) has_functions: bool,
    pub(crate) has_files: bool,
    pub(crate) has_lines: bool,
    pub(crate) has_inlines: bool,
}

/// What tells mappings apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MappingKey {
    /// The number of the file's path.
    pub(crate) file: u32,
    /// The number of the build id in [`Tables::build_ids`]; 0 if it is unknown.
    pub(crate) build_id: u32,
    pub(crate) start: u64,
    pub(crate) pgoff: u64,
}

/// Whose code a location is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Code {
    Kernel,
    Native,
    /// Code in memory that no file is mapped to.
    Generated,
    Unknown,
}

/// An address, with its functions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Location {
    /// The number of the mapping; [`NONE`] if nothing is mapped.
    pub(crate) mapping: u32,
    /// Of a caller, an address in its call instruction.
    pub(crate) address: u64,
    pub(crate) code: Code,
    /// The numbers of the functions and their lines, or 0: the innermost inlined function first.
    pub(crate) lines: Vec<(u32, u32)>,
}

/// Things, each once.
#[derive(Debug)]
pub(crate) struct Table<T> {
    list: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T: Clone + Eq + core::hash::Hash> Table<T> {
    /// Returns the number of a thing.
    pub(crate) fn number(&mut self, it: T) -> u32 {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(it.clone()).or_insert(next);
        if number == next {
            self.list.push(it);
        }
        number
    }

    /// Returns the things, by their numbers.
    pub(crate) fn list(&self) -> &[T] {
        &self.list
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { list: Vec::new(), numbers: HashMap::new() }
    }
}

/// The tables of some profiles.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) strings: Strings,
    /// In hexadecimal digits.
    pub(crate) build_ids: Strings,
    functions: Table<Function>,
    mappings: Vec<MappedFile>,
    mapping_numbers: HashMap<MappingKey, u32>,
    locations: Table<Location>,
    /// Of locations.
    pub(crate) stacks: Stacks,
}

impl Tables {
    /// Adds the stacks of a profile's samples. Returns their numbers in [`Tables::stacks`], by their numbers in the profile.
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
        let mut locations = vec![NONE; profile.frames().places().len()];
        let mut stacks = vec![EMPTY; nodes];
        for stack in (0..nodes).filter(|&stack| is_used.get(stack) == Some(&true)) {
            let Some((caller, frame)) = profile.stacks().node(stack as u32) else { continue };
            let location = match locations.get_mut(frame as usize) {
                Some(known) => {
                    if *known == NONE {
                        *known = self.location(profile, frame);
                    }
                    *known
                }
                None => continue,
            };
            let caller = stacks.get(caller as usize).copied().unwrap_or(EMPTY);
            let number = self.stacks.called(caller, location, usize::MAX).unwrap_or(EMPTY);
            if let Some(known) = stacks.get_mut(stack) {
                *known = number;
            }
        }
        stacks
    }

    /// Returns the number of the location of a frame.
    fn location(&mut self, profile: &Profile, frame: u32) -> u32 {
        let place = profile.frames().place(frame);
        let (ip, is_caller) = place.map_or((0, false), |place| (place.ip, place.is_caller));
        let mapping = self.mapping(profile, frame);
        let start = self.mappings.get(mapping as usize).map_or(0, |mapping| mapping.key.start);
        // A return address may be that of another function already.
        let address = if is_caller { ip.saturating_sub(1).max(start) } else { ip };
        let (mut lines, mut has_files, mut has_lines, mut has_inlines) = (Vec::new(), false, false, false);
        for &FunctionAt { symbol, line } in profile.named().functions_of(frame) {
            let Some(symbol) = profile.named().symbol(symbol) else { continue };
            let line = profile.named().line(line);
            let function = Function {
                name: self.strings.number(&symbol.name),
                system_name: self.strings.number(&symbol.raw_name),
                file: line.map_or(0, |line| self.strings.number(&line.file)),
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
        self.locations.number(Location { mapping, address, code, lines })
    }

    /// Returns the number of the mapping of a frame, which then has the frame's address; [`NONE`] if nothing is mapped.
    fn mapping(&mut self, profile: &Profile, frame: u32) -> u32 {
        let frames = profile.frames();
        let (Some(place), Some(mapping)) = (frames.place(frame), frames.mapping(frame)) else { return NONE };
        let build_id = profile.build_id(place.dso).map(|id| hex(id.as_bytes())).unwrap_or_default();
        let key = MappingKey {
            file: self.strings.number(mapping.dso().name()),
            build_id: self.build_ids.number(build_id.as_bytes()),
            start: mapping.range().start,
            pgoff: mapping.pgoff(),
        };
        let next = self.mappings.len() as u32;
        let number = *self.mapping_numbers.entry(key).or_insert(next);
        if number == next {
            self.mappings.push(MappedFile {
                key,
                limit: 0,
                has_functions: false,
                has_files: false,
                has_lines: false,
                has_inlines: false,
            });
        }
        // Mappings with one start may have several ends. A profile keeps the first one.
        let end = mapping.range().end.max(place.ip.saturating_add(1));
        if let Some(mapping) = self.mappings.get_mut(number as usize) {
            mapping.limit = mapping.limit.max(end);
        }
        number
    }

    /// Returns the functions, by their numbers.
    pub(crate) fn functions(&self) -> &[Function] {
        self.functions.list()
    }

    /// Returns the mappings, by their numbers.
    pub(crate) fn mappings(&self) -> &[MappedFile] {
        &self.mappings
    }

    /// Returns the locations, by their numbers.
    pub(crate) fn locations(&self) -> &[Location] {
        self.locations.list()
    }
}

fn code(profile: &Profile, frame: u32) -> Code {
    let kind = profile.frames().dso_of(frame).map(|dso| dso.kind());
    match profile.frames().mode(frame) {
        CpuMode::KERNEL | CpuMode::GUEST_KERNEL => Code::Kernel,
        CpuMode::USER | CpuMode::GUEST_USER if kind == Some(DsoKind::Memory) => Code::Generated,
        CpuMode::USER | CpuMode::GUEST_USER => Code::Native,
        _ => Code::Unknown,
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
