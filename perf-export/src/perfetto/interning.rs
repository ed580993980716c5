//! What the packets of a sequence refer to: each is written with the first packet that refers to it.

use hashbrown::HashSet;
use perf_profile::NONE;

use super::messages::{Callstack, InternedData, InternedString, PerfettoFrame, PerfettoMapping};
use crate::proto_tables::{CodeKind, CodeLocation, ProtoTables};

/// `Frame.Kind` of `profile_common.proto`.
const NATIVE: i32 = 1;
const KERNEL: i32 = 2;
const JIT: i32 = 4;

/// The name of the mapping of code that is in no mapping. Older readers drop the stacks of frames without one.
const UNKNOWN: &[u8] = b"[unknown]";

/// The tables of a capture, with the numbers by which packets refer to their entries.
pub(super) struct InternedTables {
    pub(super) tables: ProtoTables,
    /// Of each location, the number of its first frame.
    frames: Vec<u64>,
}

impl InternedTables {
    pub(super) fn new(tables: ProtoTables) -> Self {
        let mut next = 1;
        let count = |location: &CodeLocation| {
            let first = next;
            next += location.lines.len().max(1) as u64;
            first
        };
        let frames = tables.locations().iter().map(count).collect();
        Self { tables, frames }
    }
}

/// What the packets of a sequence have referred to so far.
#[derive(Default)]
pub(super) struct InternedSoFar {
    functions: HashSet<u32>,
    files: HashSet<u32>,
    paths: HashSet<u32>,
    build_ids: HashSet<u32>,
    mappings: HashSet<u32>,
    locations: HashSet<u32>,
    stacks: HashSet<u32>,
}

impl InternedSoFar {
    /// Returns the number of a stack, and what a packet that refers to it needs.
    pub(super) fn stack(&mut self, of: &InternedTables, stack: u32) -> (u64, Option<InternedData>) {
        let iid = u64::from(stack) + 1;
        if !self.stacks.insert(stack) {
            return (iid, None);
        }
        let mut data = InternedData::default();
        let mut locations: Vec<u32> = of.tables.stacks.frames(stack).collect();
        locations.reverse();
        let mut frame_ids = Vec::with_capacity(locations.len());
        for number in locations {
            let (Some(location), Some(&first)) =
                (of.tables.locations().get(number as usize), of.frames.get(number as usize))
            else {
                continue;
            };
            // The outermost function first, while a location has the innermost one first.
            let count = location.lines.len().max(1) as u64;
            frame_ids.extend((first..first + count).rev());
            if self.locations.insert(number) {
                self.add_location(of, location, first, &mut data);
            }
        }
        data.callstacks.push(Callstack { iid, frame_ids });
        (iid, Some(data))
    }

    /// Adds the frames of a location.
    fn add_location(
        &mut self,
        of: &InternedTables,
        location: &CodeLocation,
        first: u64,
        data: &mut InternedData,
    ) {
        let mapping = of.tables.mappings().get(location.mapping as usize);
        let base = mapping.map_or(0, |it| it.key.start.wrapping_sub(it.key.pgoff));
        let frame = PerfettoFrame {
            mapping_id: self.mapping(of, location.mapping, data),
            rel_pc: Some(location.address.wrapping_sub(base)),
            kind: match location.code {
                CodeKind::Kernel => Some(KERNEL),
                CodeKind::Native => Some(NATIVE),
                CodeKind::Generated => Some(JIT),
                CodeKind::Unknown => None,
            },
            ..PerfettoFrame::default()
        };
        if location.lines.is_empty() {
            data.frames.push(PerfettoFrame { iid: first, ..frame });
        }
        for (iid, &(function, line)) in (first..).zip(&location.lines) {
            let function = of.tables.functions().get(function as usize);
            let (name, file) = function.map_or((0, 0), |it| (it.name, it.file));
            data.frames.push(PerfettoFrame {
                iid,
                function_name_id: string(of, name, &mut self.functions, &mut data.function_names),
                source_path_iid: Some(string(of, file, &mut self.files, &mut data.source_paths))
                    .filter(|&iid| iid != 0),
                line_number: Some(line).filter(|&line| line != 0),
                ..frame
            });
        }
    }

    /// Returns the number of a mapping.
    fn mapping(&mut self, of: &InternedTables, number: u32, data: &mut InternedData) -> u64 {
        let known = of.tables.mappings().get(number as usize);
        let number = if known.is_some() { number } else { NONE };
        let iid = u64::from(number) + 1;
        if !self.mappings.insert(number) {
            return iid;
        }
        let mapping = match known {
            Some(it) => PerfettoMapping {
                iid,
                build_id: self.build_id(of, it.key.build_id, data),
                start: it.key.start,
                end: it.limit,
                path_string_ids: vec![string(of, it.key.file, &mut self.paths, &mut data.mapping_paths)],
                exact_offset: it.key.pgoff,
            },
            None => {
                data.mapping_paths.push(InternedString { iid, str: UNKNOWN.to_vec() });
                PerfettoMapping { iid, path_string_ids: vec![iid], ..PerfettoMapping::default() }
            }
        };
        data.mappings.push(mapping);
        iid
    }

    /// Returns the number of a build id; 0 if it is unknown.
    fn build_id(&mut self, of: &InternedTables, number: u32, data: &mut InternedData) -> u64 {
        if number != 0 && self.build_ids.insert(number) {
            let str = bytes(of.tables.build_ids.get(number));
            data.build_ids.push(InternedString { iid: number.into(), str });
        }
        number.into()
    }
}

/// Returns the number of a string; 0 if it is empty.
fn string(of: &InternedTables, number: u32, known: &mut HashSet<u32>, list: &mut Vec<InternedString>) -> u64 {
    if number != 0 && known.insert(number) {
        list.push(InternedString { iid: number.into(), str: of.tables.strings.get(number).into() });
    }
    number.into()
}

/// Returns the bytes of hexadecimal digits.
fn bytes(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks_exact(2);
    pairs.filter_map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()).collect()
}
