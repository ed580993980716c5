//! The tables that all threads share: strings, libraries, functions, frames, stacks.

use std::num::NonZero;

use hashbrown::HashMap;
use perf_abi::record::CpuMode;
use perf_profile::{
    Call, EMPTY, NONE, Profile, each_call, short_name,
    table::number_cache::{NumberCache, UnknownNames},
    text::OneLine,
    unknown_name,
    work::both::both,
};
use perf_session::{BuildId, Dso, DsoKind};
use serde::Serialize;

use crate::json::{JsonDocument, RepeatedValue};
use crate::strings::Strings;

/// Names and colors of the categories.
pub(super) const CATEGORIES: [(&str, &str); 6] = [
    ("Other", "grey"),
    ("User", "yellow"),
    ("Kernel", "orange"),
    ("Generated code", "green"),
    ("Guest", "blue"),
    ("Hypervisor", "purple"),
];

/// Of a library, in the column `type` of the table of resources.
const LIBRARY: u32 = 1;

/// The tables that all threads share.
#[derive(Default)]
pub(super) struct SharedTables {
    stack_table: StackColumns,
    frame_table: FrameColumns,
    func_table: FunctionColumns,
    resource_table: ResourceColumns,
    native_symbols: SymbolColumns,
    /// The strings of the files' names.
    sources: Vec<u32>,
    pub(super) strings: Strings,
    pub(super) libs: Vec<Lib>,
}

/// A program, a library, or a part of the kernel.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Lib {
    arch: Option<&'static str>,
    name: String,
    path: String,
    debug_name: String,
    debug_path: String,
    breakpad_id: String,
    code_id: Option<String>,
}

impl Lib {
    fn new(dso: &Dso, build_id: Option<BuildId>) -> Self {
        let name = OneLine(&short_name(dso)).to_string();
        let path = OneLine(dso.name()).to_string();
        Self {
            arch: None,
            debug_name: name.clone(),
            name,
            debug_path: path.clone(),
            path,
            breakpad_id: breakpad_id(build_id),
            code_id: build_id.map(|id| id.to_string()),
        }
    }
}

/// Returns the id of a file as Breakpad makes it of the first 16 bytes of a build id: a GUID of little-endian numbers, and an
/// age of 0.
fn breakpad_id(build_id: Option<BuildId>) -> String {
    let mut bytes = [0; 16];
    for (to, from) in bytes.iter_mut().zip(build_id.iter().flat_map(|id| id.as_bytes())) {
        *to = *from;
    }
    let guid = u128::from_be_bytes(bytes);
    let (one, two, three) = ((guid >> 96) as u32, (guid >> 80) as u16, (guid >> 64) as u16);
    let (one, two, three) = (one.swap_bytes(), two.swap_bytes(), three.swap_bytes());
    format!("{one:08X}{two:04X}{three:04X}{:016X}0", guid as u64)
}

#[derive(Default)]
struct ResourceColumns {
    lib: Vec<u32>,
    name: Vec<u32>,
}

#[derive(Default)]
struct FunctionColumns {
    name: Vec<u32>,
    /// -1 where nothing is mapped.
    resource: Vec<i64>,
    source: Vec<Option<u32>>,
}

#[derive(Default)]
struct FrameColumns {
    /// -1 if it is not known.
    address: Vec<i64>,
    inline_depth: Vec<u32>,
    category: Vec<u32>,
    func: Vec<u32>,
    native_symbol: Vec<Option<u32>>,
    line: Vec<Option<u32>>,
}

/// The functions that are in the symbol tables of libraries.
#[derive(Default)]
struct SymbolColumns {
    address: Vec<i64>,
    lib_index: Vec<u32>,
    name: Vec<u32>,
}

#[derive(Default)]
struct StackColumns {
    frame: Vec<u32>,
    prefix: Vec<Option<u32>>,
    /// The last row of each stack of the profile.
    rows: Vec<Option<u32>>,
}

impl StackColumns {
    /// Returns the stacks of a profile, whose frames have the rows of the calls of all frames, one after the other.
    fn of(profile: &Profile) -> Self {
        let mut ends = vec![0_u32];
        let mut end = 0;
        for frame in 0..profile.frames().locations().len() as u32 {
            end += each_call(profile, frame).count() as u32;
            ends.push(end);
        }
        let mut it = Self::default();
        let stacks = profile.stacks();
        for number in EMPTY..stacks.len() as u32 {
            // Callers have lower numbers.
            let row = stacks.node(number).and_then(|(caller, frame)| {
                let mut prefix = it.row_of(caller);
                let rows = ends.get(frame as usize).zip(ends.get(frame as usize + 1));
                for row in rows.map_or(0..0, |(&start, &end)| start..end) {
                    let next = it.frame.len() as u32;
                    it.frame.push(row);
                    it.prefix.push(prefix);
                    prefix = Some(next);
                }
                prefix
            });
            it.rows.push(row);
        }
        it
    }

    fn row_of(&self, stack: u32) -> Option<u32> {
        self.rows.get(stack as usize).copied().flatten()
    }
}

/// The rows of the tables, by what they have, and the strings of what the profile has.
struct SharedNumbers {
    libs: NumberCache,
    functions: HashMap<(u32, Option<u32>, Option<u32>), u32>,
    symbols: HashMap<(u32, i64, u32), u32>,
    /// By the string of the file's name.
    sources: HashMap<u32, u32>,
    /// Of lines.
    sources_of: NumberCache,
    /// Of symbols.
    names: NumberCache,
    /// Of DSOs whose functions are not known.
    unknown_names: UnknownNames,
}

impl SharedNumbers {
    /// Returns the numbers of a profile that is not in the tables.
    fn of(profile: &Profile) -> Self {
        let (named, dsos) = (profile.function_table(), profile.frames().dsos().len());
        let (functions, symbols, sources) = Default::default();
        Self {
            libs: NumberCache::of(dsos),
            functions,
            symbols,
            sources,
            sources_of: NumberCache::of(named.lines().len()),
            names: NumberCache::of(named.symbols().len()),
            unknown_names: UnknownNames::of(dsos),
        }
    }
}

impl SharedTables {
    /// Makes the tables of a profile on so many threads.
    pub(super) fn new(profile: &Profile, threads: NonZero<usize>) -> Self {
        let frames = 0..profile.frames().locations().len() as u32;
        let tables_but_stacks = || {
            let mut it = Self::default();
            let mut numbers = SharedNumbers::of(profile);
            frames.clone().for_each(|frame| it.add_frame(profile, frame, &mut numbers));
            it
        };
        let (it, stack_table) = both(threads, tables_but_stacks, || StackColumns::of(profile));
        Self { stack_table, ..it }
    }

    /// Returns the row of a stack; `None` for [`EMPTY`].
    pub(super) fn row_of(&self, stack: u32) -> Option<u32> {
        self.stack_table.row_of(stack)
    }

    /// Adds the rows of a frame: one for each call, the outermost one first.
    fn add_frame(&mut self, profile: &Profile, frame: u32, numbers: &mut SharedNumbers) {
        let dso = profile.frames().dso_of(frame);
        let lib = dso.zip(profile.frames().location(frame)).map(|(dso, place)| {
            numbers.libs.number(place.dso, || {
                self.libs.push(Lib::new(dso, profile.build_id(place.dso)));
                let next = self.resource_table.lib.len() as u32;
                self.resource_table.lib.push(next);
                self.resource_table.name.push(self.strings.number(&short_name(dso)));
                next
            })
        });
        let address = address_of(profile, frame);
        let outermost = each_call(profile, frame).next().map(|(call, _)| call);
        let symbol = self.add_symbol(profile, frame, lib, address, outermost, numbers);
        let is_caller = profile.frames().location(frame).is_some_and(|place| place.is_caller);
        let category = category(profile, frame);
        for ((call, line), depth) in each_call(profile, frame).zip(0..) {
            let func = self.add_function(profile, frame, (call, line), lib, numbers);
            let table = &mut self.frame_table;
            // That of the call, not the one that it returns to.
            table.address.push(address.map_or(-1, |address| (address - i64::from(is_caller)).max(0)));
            table.inline_depth.push(depth);
            table.category.push(category);
            table.func.push(func);
            table.native_symbol.push(symbol);
            table.line.push(call.line.map(|line| line.line));
        }
    }

    /// Returns the row of the symbol that has the frame, the function that nothing is inlined into.
    fn add_symbol(
        &mut self,
        profile: &Profile,
        frame: u32,
        lib: Option<u32>,
        address: Option<i64>,
        outermost: Option<Call<'_>>,
        numbers: &mut SharedNumbers,
    ) -> Option<u32> {
        let (number, symbol) = outermost?.symbol?;
        let place = profile.frames().location(frame)?;
        let start = address?.checked_sub_unsigned(place.offset.checked_sub(symbol.start)?)?;
        let (lib, start) = (lib?, Some(start).filter(|start| *start >= 0)?);
        let name = numbers.names.number(number, || self.strings.number(&symbol.label()));
        let next = self.native_symbols.name.len() as u32;
        Some(*numbers.symbols.entry((lib, start, name)).or_insert_with(|| {
            let table = &mut self.native_symbols;
            table.address.push(start);
            table.lib_index.push(lib);
            table.name.push(name);
            next
        }))
    }

    fn add_function(
        &mut self,
        profile: &Profile,
        frame: u32,
        (call, line_number): (Call<'_>, u32),
        resource: Option<u32>,
        numbers: &mut SharedNumbers,
    ) -> u32 {
        let name = match call.symbol {
            Some((number, symbol)) => numbers.names.number(number, || self.strings.number(&symbol.label())),
            None => {
                let place = profile.frames().location(frame);
                let (dso, guess) = place.map_or((NONE, None), |place| (place.dso, place.guess));
                let name = || unknown_name(profile.frames().dsos().get(dso as usize), guess);
                numbers.unknown_names.number(dso, guess.is_some(), || self.strings.number_of(&name()))
            }
        };
        let source = call.line.map(|line| {
            numbers.sources_of.number(line_number, || {
                let file = self.strings.number(&line.file);
                let next = self.sources.len() as u32;
                *numbers.sources.entry(file).or_insert_with(|| {
                    self.sources.push(file);
                    next
                })
            })
        });
        let next = self.func_table.name.len() as u32;
        *numbers.functions.entry((name, resource, source)).or_insert_with(|| {
            let table = &mut self.func_table;
            table.name.push(name);
            table.resource.push(resource.map_or(-1, i64::from));
            table.source.push(source);
            next
        })
    }

    /// Adds the tables to a document.
    pub(super) fn add_to<'a>(&'a self, document: &mut JsonDocument<'a>) {
        let of = &self.stack_table;
        document.table("stackTable", of.frame.len(), |table| {
            table.column("frame", &of.frame[..]);
            table.column("prefix", &of.prefix[..]);
        });
        let (of, length) = (&self.frame_table, self.frame_table.func.len());
        document.table("frameTable", length, |table| {
            table.column("address", &of.address[..]);
            table.column("inlineDepth", &of.inline_depth[..]);
            table.column("category", &of.category[..]);
            table.column("subcategory", RepeatedValue(0, length));
            table.column("func", &of.func[..]);
            table.column("nativeSymbol", &of.native_symbol[..]);
            table.column("innerWindowID", RepeatedValue((), length));
            table.column("line", &of.line[..]);
            table.column("column", RepeatedValue((), length));
        });
        let (of, length) = (&self.func_table, self.func_table.name.len());
        document.table("funcTable", length, |table| {
            table.column("name", &of.name[..]);
            table.column("isJS", RepeatedValue(false, length));
            table.column("relevantForJS", RepeatedValue(false, length));
            table.column("resource", &of.resource[..]);
            table.column("source", &of.source[..]);
            table.column("lineNumber", RepeatedValue((), length));
            table.column("columnNumber", RepeatedValue((), length));
        });
        let (of, length) = (&self.resource_table, self.libs.len());
        document.table("resourceTable", length, |table| {
            table.column("type", RepeatedValue(LIBRARY, length));
            table.column("lib", &of.lib[..]);
            table.column("name", &of.name[..]);
            table.column("host", RepeatedValue((), length));
        });
        let (of, length) = (&self.native_symbols, self.native_symbols.name.len());
        document.table("nativeSymbols", length, |table| {
            table.column("address", &of.address[..]);
            table.column("functionSize", RepeatedValue((), length));
            table.column("libIndex", &of.lib_index[..]);
            table.column("name", &of.name[..]);
        });
        let length = self.sources.len();
        document.table("sources", length, |table| {
            table.column("id", RepeatedValue((), length));
            table.column("filename", &self.sources[..]);
        });
        document.column("stringArray", self.strings.list());
    }
}

/// Returns the address of a frame relative to the start of its library in memory; `None` if it is not known, or does not
/// have 32 bits, which are all that the profiler takes.
fn address_of(profile: &Profile, frame: u32) -> Option<i64> {
    let (place, mapping) = (profile.frames().location(frame)?, profile.frames().mapping(frame)?);
    let address = match mapping.dso().kind() {
        DsoKind::File => profile.relative_address(frame)?,
        _ => place.ip.wrapping_sub(mapping.range().start),
    };
    u32::try_from(address).ok().map(i64::from)
}

/// Returns the index of a frame's category in [`CATEGORIES`].
fn category(profile: &Profile, frame: u32) -> u32 {
    let kind = profile.frames().dso_of(frame).map(|dso| dso.kind());
    match (profile.frames().mode(frame), kind) {
        (CpuMode::USER, Some(DsoKind::Memory)) => 3,
        (CpuMode::USER, _) => 1,
        (CpuMode::KERNEL, _) => 2,
        (CpuMode::GUEST_KERNEL | CpuMode::GUEST_USER, _) => 4,
        (CpuMode::HYPERVISOR, _) => 5,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As samply has it of the same library.
    #[test]
    fn breakpad_ids_are_those_of_build_ids() {
        let id = [
            0x7e, 0xbc, 0x65, 0xe5, 0x2f, 0x2b, 0xbe, 0xa4, 0x98, 0xb4, 0x04, 0x0f, 0xa9, 0x2f, 0x72, 0x38,
            0x37, 0x7a, 0xab, 0xa9,
        ];
        assert_eq!(breakpad_id(Some(BuildId::new(&id))), "E565BC7E2B2FA4BE98B4040FA92F72380");
        assert_eq!(breakpad_id(Some(BuildId::new(&[1, 2]))), "0000020100000000000000000000000000"[..33]);
        assert_eq!(breakpad_id(None), "0".repeat(33));
    }
}
