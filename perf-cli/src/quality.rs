//! How good the stacks and names of a run are.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use perf_session::{BuildId, Dso};
use perf_symbol::unwind::StackEnd;
use perf_symbol::{Function, Why};
use serde_json::{Value, json};

use crate::escape::Lossy;
use crate::names::Names;

/// Counts of stacks by their ends, and of frames by what is known of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quality {
    stacks: u64,
    ends: BTreeMap<StackEnd, u64>,
    /// Frames, inlined ones not counted.
    frames: u64,
    mapped: u64,
    named: u64,
    with_line: u64,
    inlined: u64,
    /// Number of frames without a name, by what is mapped.
    unnamed: BTreeMap<(Arc<Dso>, Option<BuildId>), u64>,
}

/// A file that has no names for some frames.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    pub(crate) dso: Arc<Dso>,
    pub(crate) build_id: Option<BuildId>,
    /// The number of frames without a name.
    pub(crate) frames: u64,
    /// Why the file could not be used; `None` if it could.
    pub(crate) why: Option<Why>,
}

impl Quality {
    pub(crate) fn count_stack(&mut self, end: StackEnd) {
        self.count_stacks(end, 1);
    }

    /// Counts stacks with the same end.
    pub(crate) fn count_stacks(&mut self, end: StackEnd, count: u64) {
        self.stacks += count;
        *self.ends.entry(end).or_default() += count;
    }

    /// Counts a frame with the functions at its address.
    pub(crate) fn count_frame(&mut self, file: Option<(&Arc<Dso>, Option<BuildId>)>, functions: &[Function]) {
        let is_named = functions.last().is_some_and(|it| it.name.is_some());
        let has_line = functions.iter().any(|it| it.line.is_some());
        let inlined = functions.iter().filter(|it| it.is_inlined).count() as u64;
        self.count_frames(file, is_named, has_line, inlined, 1);
    }

    /// Counts a frame so many times. `inlined` is the number of functions that are inlined at its address.
    pub(crate) fn count_frames(
        &mut self,
        file: Option<(&Arc<Dso>, Option<BuildId>)>,
        is_named: bool,
        has_line: bool,
        inlined: u64,
        times: u64,
    ) {
        self.frames += times;
        self.mapped += if file.is_some() { times } else { 0 };
        self.named += if is_named { times } else { 0 };
        self.with_line += if has_line { times } else { 0 };
        self.inlined += inlined * times;
        if let Some((dso, build_id)) = file.filter(|_| !is_named && times > 0) {
            *self.unnamed.entry((Arc::clone(dso), build_id)).or_default() += times;
        }
    }

    pub(crate) fn stacks(&self) -> u64 {
        self.stacks
    }

    pub(crate) fn stacks_with(&self, end: StackEnd) -> u64 {
        self.ends.get(&end).copied().unwrap_or(0)
    }

    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    pub(crate) fn mapped(&self) -> u64 {
        self.mapped
    }

    pub(crate) fn named(&self) -> u64 {
        self.named
    }

    /// Returns the files without names, ordered by DSO.
    pub(crate) fn missing(&self, names: &Names) -> Vec<Missing> {
        let looked = names.looked();
        let why = |dso: &Dso, build_id: Option<BuildId>| {
            looked.iter().find(|it| *it.dso == *dso && it.build_id == build_id)?.why
        };
        let of = |(&(ref dso, build_id), &frames): (&(Arc<Dso>, Option<BuildId>), &u64)| Missing {
            dso: Arc::clone(dso),
            build_id,
            frames,
            why: why(dso, build_id),
        };
        self.unnamed.iter().map(of).collect()
    }

    /// Returns the members of the account: `stacks`, `frames` and `missing`.
    pub(crate) fn members(&self, names: &Names) -> [(&'static str, Value); 3] {
        let mut stacks = json!({"samples": self.stacks});
        for (end, count) in &self.ends {
            stacks[end.name()] = (*count).into();
        }
        let Self { frames, mapped, named, with_line, inlined, .. } = self;
        let frames = json!({
            "total": frames, "mapped": mapped, "named": named, "with_line": with_line, "inlined": inlined,
        });
        let missing: Vec<_> = self
            .missing(names)
            .into_iter()
            .map(|it| {
                let why = it.why.map_or_else(|| "no symbols".to_owned(), |why| why.to_string());
                let mut missing = json!({"dso": Lossy(it.dso.name()).to_string()});
                if let Some(id) = it.build_id {
                    missing["build_id"] = id.to_string().into();
                }
                missing["frames"] = it.frames.into();
                missing["why"] = why.into();
                missing
            })
            .collect();
        [("stacks", stacks), ("frames", frames), ("missing", missing.into())]
    }
}
