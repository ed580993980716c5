//! How good the stacks and names of a run are.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use perf_session::{BuildId, Dso};
use perf_symbol::Function;
use perf_symbol::unwind::StackEnd;
use serde_json::{Value, json};

use crate::escape::Lossy;
use crate::names::Names;

/// Counts of stacks by their ends, and of frames by what is known of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quality {
    samples: u64,
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

impl Quality {
    pub(crate) fn count_stack(&mut self, end: StackEnd) {
        self.samples += 1;
        *self.ends.entry(end).or_default() += 1;
    }

    /// Counts a frame with the functions at its address.
    pub(crate) fn count_frame(&mut self, file: Option<(&Arc<Dso>, Option<BuildId>)>, functions: &[Function]) {
        self.frames += 1;
        self.mapped += u64::from(file.is_some());
        let is_named = functions.last().is_some_and(|it| it.name.is_some());
        self.named += u64::from(is_named);
        self.with_line += u64::from(functions.iter().any(|it| it.line.is_some()));
        self.inlined += functions.iter().filter(|it| it.is_inlined).count() as u64;
        if let Some((dso, build_id)) = file.filter(|_| !is_named) {
            *self.unnamed.entry((Arc::clone(dso), build_id)).or_default() += 1;
        }
    }

    /// Returns the members of the account: `stacks`, `frames` and `missing`.
    pub(crate) fn members(&self, names: &Names) -> [(&'static str, Value); 3] {
        let mut stacks = json!({"samples": self.samples});
        for (end, count) in &self.ends {
            stacks[end.name()] = (*count).into();
        }
        let Self { frames, mapped, named, with_line, inlined, .. } = self;
        let frames = json!({
            "total": frames, "mapped": mapped, "named": named, "with_line": with_line, "inlined": inlined,
        });
        let looked = names.looked();
        let missing: Vec<_> = self
            .unnamed
            .iter()
            .map(|((dso, build_id), frames)| {
                let why = looked.iter().find(|it| it.dso == *dso && it.build_id == *build_id);
                let why =
                    why.and_then(|it| it.why).map_or_else(|| "no symbols".to_owned(), |why| why.to_string());
                let mut missing = json!({"dso": Lossy(dso.name()).to_string()});
                if let Some(id) = build_id {
                    missing["build_id"] = id.to_string().into();
                }
                missing["frames"] = (*frames).into();
                missing["why"] = why.into();
                missing
            })
            .collect();
        [("stacks", stacks), ("frames", frames), ("missing", missing.into())]
    }
}
