//! The functions of all captures, each once.

use hashbrown::HashMap;
use perf_abi::record::CpuMode;
use perf_profile::{
    Call, FrameLocation, NONE, Profile, each_call,
    table::number_cache::{NumberCache, UnknownNames},
    table::number_lists::NumberLists,
    text::OneLine,
    unknown_name,
};
use perf_session::DsoKind;
use perf_symbol::NameSource;

use super::lines::RankedLines;
use crate::html::numbers::push;

/// The kind of a function, which chooses its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum FunctionKind {
    User,
    Kernel,
    Inlined,
    /// Generated code.
    Jit,
    /// A file is mapped, but no name is known.
    Unnamed,
    /// Nothing is mapped.
    Unmapped,
    /// No function: the name of a thread.
    Thread,
}

impl FunctionKind {
    /// Number of kinds of functions with a name, which are the first ones.
    const COUNT: usize = 4;
}

/// A function: its name, the file that it is in, and what it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct FlameFunction {
    pub(super) name: String,
    /// The name of the file without its folders. Empty if nothing is mapped.
    pub(super) file: String,
    pub(super) kind: FunctionKind,
}

/// The functions of all captures, each once, numbered in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct FlameFunctions {
    numbers: HashMap<FlameFunction, u32>,
}

impl FlameFunctions {
    pub(super) fn number(&mut self, function: FlameFunction) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(function).or_insert(next)
    }

    /// Returns the functions at each frame of a capture, the outermost one first.
    pub(super) fn of_frames(&mut self, profile: &Profile) -> NumberLists {
        let named = profile.function_table();
        // Most frames are in few functions. A symbol is in one file, and may be of each kind.
        let mut known = NumberCache::of(named.symbols().len() * FunctionKind::COUNT);
        let mut of_unknown = UnknownNames::of(profile.frames().dsos().len());
        let mut of_frames = NumberLists::default();
        for (place, frame) in profile.frames().locations().iter().zip(0..) {
            let file = || match place.dso {
                NONE => String::new(),
                dso => OneLine(named.short_name(named.short_name_of(dso))).to_string(),
            };
            of_frames.push(each_call(profile, frame).map(|(Call { symbol, .. }, _)| {
                let Some((number, symbol)) = symbol else {
                    return of_unknown.number(place.dso, place.guess.is_some(), || {
                        let dso = profile.frames().dsos().get(place.dso as usize);
                        let name = unknown_name(dso, place.guess);
                        let kind =
                            if place.dso == NONE { FunctionKind::Unmapped } else { FunctionKind::Unnamed };
                        self.number(FlameFunction { name, file: file(), kind })
                    });
                };
                let kind = if symbol.is_inlined {
                    FunctionKind::Inlined
                } else {
                    kind(profile, place, symbol.source)
                };
                known.number(number * FunctionKind::COUNT as u32 + kind as u32, || {
                    let name = OneLine(&symbol.label()).to_string();
                    self.number(FlameFunction { name, file: file(), kind })
                })
            }));
        }
        of_frames
    }

    /// Sorts the functions, by their names first.
    pub(super) fn sorted(self) -> RankedFunctions {
        let mut list: Vec<_> = self.numbers.into_iter().collect();
        list.sort_unstable();
        let mut ranks = vec![0; list.len()];
        for ((_, number), rank) in list.iter().zip(0..) {
            if let Some(place) = ranks.get_mut(*number as usize) {
                *place = rank;
            }
        }
        let list: Vec<_> = list.into_iter().map(|(function, _)| function).collect();
        let mut files: Vec<_> = list.iter().map(|function| function.file.clone()).collect();
        files.sort_unstable();
        files.dedup();
        RankedFunctions { list, ranks, files }
    }
}

/// Returns what a function is that is not inlined.
fn kind(profile: &Profile, place: &FrameLocation, source: Option<NameSource>) -> FunctionKind {
    let dso = profile.frames().dsos().get(place.dso as usize);
    let is_generated = dso.is_some_and(|dso| dso.kind() == DsoKind::Memory)
        || matches!(source, Some(NameSource::PerfMap | NameSource::Jitdump));
    match place.mode {
        _ if is_generated => FunctionKind::Jit,
        CpuMode::KERNEL | CpuMode::GUEST_KERNEL | CpuMode::HYPERVISOR => FunctionKind::Kernel,
        _ => FunctionKind::User,
    }
}

/// The functions of all captures, sorted by their names, files and kinds.
#[derive(Debug)]
pub(super) struct RankedFunctions {
    pub(super) list: Vec<FlameFunction>,
    /// The place in `list` of each function, by its number.
    pub(super) ranks: Vec<u32>,
    /// The files, each once, sorted.
    pub(super) files: Vec<String>,
}

impl RankedFunctions {
    /// Returns the names, each once, sorted: for each the number of UTF-16 units that are as in the name before, and the
    /// rest.
    pub(super) fn names(&self) -> Vec<(usize, &str)> {
        let mut names: Vec<(usize, &str)> = Vec::new();
        let mut before = "";
        for FlameFunction { name, .. } in &self.list {
            if !names.is_empty() && name == before {
                continue;
            }
            let same = name.chars().zip(before.chars()).take_while(|(one, other)| one == other);
            let (units, bytes) = same.fold((0, 0), |(units, bytes), (character, _)| {
                (units + character.len_utf16(), bytes + character.len_utf8())
            });
            names.push((units, name.get(bytes..).unwrap_or_default()));
            before = name;
        }
        names
    }

    /// Returns of each function: whether its name is another one than before, the number of the file, the kind, and the
    /// number of the source file from 1 on with the line, or 0 without a line.
    pub(super) fn bytes(&self, lines: &RankedLines) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut before: Option<&str> = None;
        for (rank, FlameFunction { name, file, kind }) in self.list.iter().enumerate() {
            push(&mut bytes, u64::from(before.is_some_and(|before| before != name)));
            let file = self.files.binary_search(file).unwrap_or_default();
            push(&mut bytes, file as u64);
            push(&mut bytes, *kind as u64);
            match lines.lines.get(rank) {
                Some(&Some((source, line))) => {
                    push(&mut bytes, source as u64 + 1);
                    push(&mut bytes, u64::from(line));
                }
                _ => push(&mut bytes, 0),
            }
            before = Some(name);
        }
        bytes
    }
}
