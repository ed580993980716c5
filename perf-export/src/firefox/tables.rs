//! The tables that all threads share: strings, libraries, functions, frames, stacks.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_abi::record::CpuMode;
use perf_session::{BuildId, Dso, DsoKind};
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use crate::calls::{Call, calls_of, unknown_name};
use crate::frames::short_name;
use crate::profile::Profile;
use crate::stacks::EMPTY;
use crate::text::OneLine;

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

/// What all threads share.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shared {
    stack_table: Stacks,
    frame_table: Frames,
    func_table: Functions,
    resource_table: Resources,
    native_symbols: Symbols,
    sources: Sources,
    #[serde(rename = "stringArray", serialize_with = "Strings::serialize_list")]
    pub(super) strings: Strings,
    #[serde(skip)]
    pub(super) libs: Vec<Lib>,
    /// The last row of each stack in the table.
    #[serde(skip)]
    rows: Vec<Option<u32>>,
}

/// Texts, each once.
#[derive(Default)]
pub(super) struct Strings {
    list: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Strings {
    pub(super) fn number(&mut self, bytes: &[u8]) -> u32 {
        self.number_of(OneLine(bytes).to_string())
    }

    fn number_of(&mut self, text: String) -> u32 {
        let next = self.list.len() as u32;
        *self.numbers.entry(text).or_insert_with_key(|text| {
            self.list.push(text.clone());
            next
        })
    }

    fn serialize_list<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list.serialize(serializer)
    }
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

/// A column whose rows are all the same.
#[derive(Default)]
struct Same<T>(T, usize);

impl<T: Serialize> Serialize for Same<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = serializer.serialize_seq(Some(self.1))?;
        (0..self.1).try_for_each(|_| all.serialize_element(&self.0))?;
        all.end()
    }
}

#[derive(Default, Serialize)]
struct Resources {
    length: usize,
    #[serde(rename = "type")]
    kind: Same<u32>,
    lib: Vec<u32>,
    name: Vec<u32>,
    host: Same<()>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Functions {
    length: usize,
    name: Vec<u32>,
    #[serde(rename = "isJS")]
    is_js: Same<bool>,
    #[serde(rename = "relevantForJS")]
    relevant_for_js: Same<bool>,
    /// -1 where nothing is mapped.
    resource: Vec<i64>,
    source: Vec<Option<u32>>,
    line_number: Same<()>,
    column_number: Same<()>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Frames {
    length: usize,
    /// -1 if it is not known.
    address: Vec<i64>,
    inline_depth: Vec<u32>,
    category: Vec<u32>,
    subcategory: Same<u32>,
    func: Vec<u32>,
    native_symbol: Vec<Option<u32>>,
    #[serde(rename = "innerWindowID")]
    inner_window_id: Same<()>,
    line: Vec<Option<u32>>,
    column: Same<()>,
}

/// The functions that are in the symbol tables of libraries.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Symbols {
    length: usize,
    address: Vec<i64>,
    function_size: Same<()>,
    lib_index: Vec<u32>,
    name: Vec<u32>,
}

#[derive(Default, Serialize)]
struct Sources {
    length: usize,
    id: Same<()>,
    filename: Vec<u32>,
}

#[derive(Default, Serialize)]
struct Stacks {
    length: usize,
    frame: Vec<u32>,
    prefix: Vec<Option<u32>>,
}

/// The rows of the tables, by what they have.
#[derive(Default)]
struct Numbers {
    libs: HashMap<u32, u32>,
    functions: HashMap<(u32, Option<u32>, Option<u32>), u32>,
    symbols: HashMap<(u32, i64, u32), u32>,
    sources: HashMap<u32, u32>,
}

impl Shared {
    pub(super) fn new(profile: &Profile) -> Self {
        let mut it = Self {
            stack_table: Stacks::default(),
            frame_table: Frames::default(),
            func_table: Functions::default(),
            resource_table: Resources::default(),
            native_symbols: Symbols::default(),
            sources: Sources::default(),
            strings: Strings::default(),
            libs: Vec::new(),
            rows: Vec::new(),
        };
        let mut numbers = Numbers::default();
        let mut rows = Vec::new();
        for frame in 0..profile.frames().places().len() as u32 {
            let start = it.frame_table.func.len() as u32;
            it.add_frame(profile, frame, &mut numbers);
            rows.push(start..it.frame_table.func.len() as u32);
        }
        it.add_stacks(profile, &rows);
        it.finish();
        it
    }

    /// Returns the row of a stack; `None` for [`EMPTY`].
    pub(super) fn row_of(&self, stack: u32) -> Option<u32> {
        self.rows.get(stack as usize).copied().flatten()
    }

    fn add_stacks(&mut self, profile: &Profile, rows: &[std::ops::Range<u32>]) {
        let stacks = profile.stacks();
        for number in EMPTY..stacks.len() as u32 {
            // Callers have lower numbers.
            let row = stacks.node(number).and_then(|(caller, frame)| {
                let mut prefix = self.row_of(caller);
                for row in rows.get(frame as usize).cloned().unwrap_or_default() {
                    let next = self.stack_table.frame.len() as u32;
                    self.stack_table.frame.push(row);
                    self.stack_table.prefix.push(prefix);
                    prefix = Some(next);
                }
                prefix
            });
            self.rows.push(row);
        }
    }

    /// Adds the rows of a frame: one for each call, the outermost one first.
    fn add_frame(&mut self, profile: &Profile, frame: u32, numbers: &mut Numbers) {
        let dso = profile.frames().dso_of(frame);
        let lib = dso.zip(profile.frames().place(frame)).map(|(dso, place)| {
            let next = self.libs.len() as u32;
            *numbers.libs.entry(place.dso).or_insert_with(|| {
                self.libs.push(Lib::new(dso, profile.build_id(place.dso)));
                self.resource_table.lib.push(next);
                self.resource_table.name.push(self.strings.number(&short_name(dso)));
                next
            })
        });
        let calls = calls_of(profile, frame);
        let address = address_of(profile, frame);
        let symbol = self.add_symbol(profile, frame, lib, address, calls.first(), numbers);
        let is_caller = profile.frames().place(frame).is_some_and(|place| place.is_caller);
        for (call, depth) in calls.iter().zip(0..) {
            let func = self.add_function(call, lib, dso, numbers);
            let table = &mut self.frame_table;
            // That of the call, not the one that it returns to.
            table.address.push(address.map_or(-1, |address| (address - i64::from(is_caller)).max(0)));
            table.inline_depth.push(depth);
            table.category.push(category(profile, frame));
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
        outermost: Option<&Call<'_>>,
        numbers: &mut Numbers,
    ) -> Option<u32> {
        let (_, symbol) = outermost?.symbol?;
        let place = profile.frames().place(frame)?;
        let start = address?.checked_sub_unsigned(place.offset.checked_sub(symbol.start)?)?;
        let (lib, start) = (lib?, Some(start).filter(|start| *start >= 0)?);
        let name = self.strings.number(&symbol.name);
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
        call: &Call<'_>,
        resource: Option<u32>,
        dso: Option<&Arc<Dso>>,
        numbers: &mut Numbers,
    ) -> u32 {
        let name = match call.symbol {
            Some((_, symbol)) => self.strings.number(&symbol.name),
            None => self.strings.number_of(unknown_name(dso)),
        };
        let source = call.line.map(|line| {
            let file = self.strings.number(&line.file);
            let next = self.sources.filename.len() as u32;
            *numbers.sources.entry(file).or_insert_with(|| {
                self.sources.filename.push(file);
                next
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

    /// Sets the lengths, and the columns whose rows are all the same.
    fn finish(&mut self) {
        let libs = self.libs.len();
        let table = &mut self.resource_table;
        (table.length, table.kind, table.host) = (libs, Same(LIBRARY, libs), Same((), libs));
        let table = &mut self.func_table;
        let length = table.name.len();
        (table.length, table.is_js, table.relevant_for_js) =
            (length, Same(false, length), Same(false, length));
        (table.line_number, table.column_number) = (Same((), length), Same((), length));
        let table = &mut self.frame_table;
        let length = table.func.len();
        (table.length, table.subcategory) = (length, Same(0, length));
        (table.inner_window_id, table.column) = (Same((), length), Same((), length));
        let table = &mut self.native_symbols;
        (table.length, table.function_size) = (table.name.len(), Same((), table.name.len()));
        let table = &mut self.sources;
        (table.length, table.id) = (table.filename.len(), Same((), table.filename.len()));
        self.stack_table.length = self.stack_table.frame.len();
    }
}

/// Returns the address of a frame relative to the start of its library in memory; `None` if it is not known, or does not
/// have 32 bits, which are all that the profiler takes.
fn address_of(profile: &Profile, frame: u32) -> Option<i64> {
    let (place, mapping) = (profile.frames().place(frame)?, profile.frames().mapping(frame)?);
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
