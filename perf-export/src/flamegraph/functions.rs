//! The functions of all captures, each once.

use hashbrown::HashMap;
use perf_abi::record::CpuMode;
use perf_session::DsoKind;
use perf_symbol::Source;

use super::numbers::push;
use crate::calls::{Call, calls_of, unknown_name};
use crate::frames::{NONE, Place};
use crate::profile::Profile;
use crate::text::OneLine;

/// What a function is, which is its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
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

/// A function: its name, the file that it is in, and what it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Function {
    pub(super) name: String,
    /// The name of the file without its folders. Empty if nothing is mapped.
    pub(super) file: String,
    pub(super) kind: Kind,
}

/// The functions of all captures, each once, numbered in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Functions {
    numbers: HashMap<Function, u32>,
}

impl Functions {
    pub(super) fn number(&mut self, function: Function) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(function).or_insert(next)
    }

    /// Returns the functions at each frame of a capture, the outermost one first.
    pub(super) fn of_frames(&mut self, profile: &Profile) -> Vec<Vec<u32>> {
        // Most frames are in few functions.
        let mut known = HashMap::new();
        let places = profile.frames().places().iter();
        places.zip(0..).map(|(place, frame)| self.of_frame(profile, place, frame, &mut known)).collect()
    }

    fn of_frame(
        &mut self,
        profile: &Profile,
        place: &Place,
        frame: u32,
        known: &mut HashMap<(u32, u32, Kind), u32>,
    ) -> Vec<u32> {
        let named = profile.named();
        let short_name = named.short_name_of(place.dso);
        let file = || match place.dso {
            NONE => String::new(),
            _ => OneLine(named.short_name(short_name)).to_string(),
        };
        let unknown = if place.dso == NONE { Kind::Unmapped } else { Kind::Unnamed };
        let number = |Call { symbol, .. }| match symbol {
            None => *known.entry((NONE, short_name, unknown)).or_insert_with(|| {
                let name = unknown_name(profile.frames().dsos().get(place.dso as usize));
                self.number(Function { name, file: file(), kind: unknown })
            }),
            Some((number, symbol)) => {
                let kind =
                    if symbol.is_inlined { Kind::Inlined } else { kind(profile, place, symbol.source) };
                *known.entry((number, short_name, kind)).or_insert_with(|| {
                    let name = OneLine(&symbol.name).to_string();
                    self.number(Function { name, file: file(), kind })
                })
            }
        };
        calls_of(profile, frame).into_iter().map(number).collect()
    }

    /// Sorts the functions, by their names first.
    pub(super) fn sorted(self) -> Sorted {
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
        Sorted { list, ranks, files }
    }
}

/// Returns what a function is that is not inlined.
fn kind(profile: &Profile, place: &Place, source: Option<Source>) -> Kind {
    let dso = profile.frames().dsos().get(place.dso as usize);
    let is_generated = dso.is_some_and(|dso| dso.kind() == DsoKind::Memory)
        || matches!(source, Some(Source::PerfMap | Source::Jitdump));
    match place.mode {
        _ if is_generated => Kind::Jit,
        CpuMode::KERNEL | CpuMode::GUEST_KERNEL | CpuMode::HYPERVISOR => Kind::Kernel,
        _ => Kind::User,
    }
}

/// The functions of all captures, sorted by their names, files and kinds.
#[derive(Debug)]
pub(super) struct Sorted {
    pub(super) list: Vec<Function>,
    /// The place in `list` of each function, by its number.
    pub(super) ranks: Vec<u32>,
    /// The files, each once, sorted.
    pub(super) files: Vec<String>,
}

impl Sorted {
    /// Returns the names, each once, sorted: for each the number of UTF-16 units that are as in the name before, and the
    /// rest.
    pub(super) fn names(&self) -> Vec<(usize, &str)> {
        let mut names: Vec<(usize, &str)> = Vec::new();
        let mut before = "";
        for Function { name, .. } in &self.list {
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

    /// Returns of each function: whether its name is another one than before, the number of the file, and the kind.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut before: Option<&str> = None;
        for Function { name, file, kind } in &self.list {
            push(&mut bytes, u64::from(before.is_some_and(|before| before != name)));
            let file = self.files.binary_search(file).unwrap_or_default();
            push(&mut bytes, file as u64);
            push(&mut bytes, *kind as u64);
            before = Some(name);
        }
        bytes
    }
}
