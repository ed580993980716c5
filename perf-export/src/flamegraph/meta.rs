//! The page's data that are text, as JSON.

use std::collections::BTreeMap;

use perf_profile::{
    Profile,
    diff::{Normalize, seconds},
    text::OneLine,
};
use serde_json::{Value, json};

use super::events::FlameEvents;
use super::functions::RankedFunctions;
use super::lines::RankedLines;
use super::samples::FlameSamples;
use super::threads::FlameThreads;
use super::tree::FlameTree;
use super::{Options, changed_files};

/// The largest number of files without names that are listed.
const MISSING: usize = 100;

/// The captures and options of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlameMeta<'a> {
    pub(super) profiles: &'a [Profile],
    pub(super) options: &'a Options,
    pub(super) functions: &'a RankedFunctions,
    pub(super) lines: &'a RankedLines,
    pub(super) events: &'a FlameEvents,
    pub(super) threads: &'a FlameThreads,
    pub(super) samples: &'a FlameSamples,
}

impl FlameMeta<'_> {
    pub(super) fn json(&self, tree: &FlameTree) -> Value {
        let captures: Vec<_> =
            (0..self.profiles.len()).map(|capture| self.options.capture(capture)).collect();
        let threads: Vec<_> = self
            .threads
            .list
            .iter()
            .map(|it| json!([it.capture, it.process, it.pid, it.tid, it.comm]))
            .collect();
        let names: Vec<Value> =
            self.functions.names().into_iter().flat_map(|(same, rest)| [same.into(), rest.into()]).collect();
        json!({
            "compare": self.options.compare.map(|normalize| self.compare(normalize)),
            "captures": captures,
            "event": self.events.first_shown(self.options.event.as_deref()),
            "events": self.events(),
            "threads": threads,
            "buckets": self.samples.timeline.buckets,
            "duration": self.samples.duration,
            "timeline": self.samples.timeline.length as f64,
            "quality": self.quality(),
            "functions": self.functions.list.len(),
            "nodes": tree.nodes.len(),
            "files": self.functions.files,
            "sources": self.lines.files,
            "names": names,
        })
    }

    fn compare(&self, normalize: Normalize) -> Value {
        let normalize = match normalize {
            Normalize::Share => "share",
            Normalize::Time => "time",
            Normalize::Nothing => "none",
        };
        let seconds: Vec<_> = self.profiles.iter().map(seconds).collect();
        json!({ "normalize": normalize, "seconds": seconds, "changed": changed_files(self.profiles) })
    }

    fn events(&self) -> Vec<Value> {
        let rows = self.samples.rows.iter().zip(&self.samples.periods);
        let events = self.events.list.iter().zip(rows);
        // Periods are text, as numbers of JavaScript have 53 bits.
        let total =
            |it: &perf_profile::SampleTotal| json!({"samples": it.samples, "period": it.period.to_string()});
        events
            .map(|(event, (rows, period))| {
                json!({
                    "name": event.name,
                    "unit": event.unit,
                    "rows": rows,
                    "period": period.map(|it| it.to_string()),
                    "total": total(&event.total),
                    "beyond": total(&event.beyond),
                })
            })
            .collect()
    }

    fn quality(&self) -> Value {
        let mut ends: BTreeMap<&str, u64> = BTreeMap::new();
        let mut files: BTreeMap<(String, String), u64> = BTreeMap::new();
        let [mut stacks, mut frames, mut mapped, mut named, mut inlined] = [0; 5];
        for profile in self.profiles {
            let quality = profile.quality();
            stacks += quality.stacks();
            frames += quality.frames();
            mapped += quality.mapped();
            named += quality.named();
            inlined += quality.inlined();
            for (end, count) in quality.ends() {
                *ends.entry(end.name()).or_default() += count;
            }
            for missing in quality.missing(profile.lookups()) {
                let why = missing.why.map_or_else(|| "no symbols".to_owned(), |why| why.to_string());
                *files.entry((OneLine(missing.dso.name()).to_string(), why)).or_default() += missing.frames;
            }
        }
        let mut missing: Vec<_> =
            files.into_iter().map(|((file, why), frames)| json!([file, frames, why])).collect();
        // A stable sort: files with the same number stay in the order of their names.
        missing.sort_by_key(|it| core::cmp::Reverse(it.get(1).and_then(Value::as_u64)));
        let others = missing.len().saturating_sub(MISSING);
        missing.truncate(MISSING);
        json!({
            "stacks": stacks,
            "ends": ends,
            "frames": frames,
            "mapped": mapped,
            "named": named,
            "inlined": inlined,
            "missing": missing,
            "others": others,
        })
    }
}
