//! Two profiles against each other.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use perf_session::BuildId;

use crate::event_name::event_name;
use crate::functions::{FunctionKey, FunctionTotal, Functions};
use crate::profile::Profile;
use crate::sample::SampleTotal;
use crate::weight::Weight;

/// What makes the two sides comparable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normalize {
    /// Shares of each side's total, in percent.
    #[default]
    Share,
    /// What is counted in a second between the first and the last sample of each side.
    Time,
    /// What is counted.
    Nothing,
}

/// A side of a comparison: an event of a profile.
#[derive(Clone, Copy, Debug)]
pub struct DiffSide<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// The index in [`Profile::events`].
    pub event: u32,
}

impl<'a> DiffSide<'a> {
    /// Returns the side of the first event of a profile that has samples; `None` if none has.
    #[must_use]
    pub fn first(profile: &'a Profile) -> Option<Self> {
        (!profile.events().is_empty()).then_some(Self { profile, event: 0 })
    }

    /// Returns the side of the event of a profile that has a name; `None` if there is no such event with samples.
    #[must_use]
    pub fn named(profile: &'a Profile, name: &[u8]) -> Option<Self> {
        let event = profile.events().iter().position(|it| event_name(&it.event) == name)?;
        Some(Self { profile, event: event as u32 })
    }

    /// Returns the name of the event: see [`event_name`].
    #[must_use]
    pub fn name(&self) -> Vec<u8> {
        let event = self.profile.events().get(self.event as usize);
        event.map_or_else(Vec::new, |it| event_name(&it.event))
    }
}

/// What a function takes in both sides, normalised.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionDiff {
    /// The function.
    pub key: FunctionKey,
    /// In the function itself: before and after.
    pub own: [f64; 2],
    /// With what it calls: before and after.
    pub whole: [f64; 2],
}

impl FunctionDiff {
    /// Returns by how much the function itself takes more after than before.
    #[must_use]
    pub fn delta(&self) -> f64 {
        let [before, after] = self.own;
        after - before
    }
}

/// A file that has another build id on the two sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path.
    pub name: Vec<u8>,
    /// The build ids before, and those after. A side may have several, as files may be replaced during a recording.
    pub build_ids: [Vec<BuildId>; 2],
}

impl ChangedFile {
    /// Returns the build ids before, and those after, as text: several are separated by commas.
    #[must_use]
    pub fn shown_ids(&self) -> [String; 2] {
        let text = |ids: &Vec<BuildId>| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        self.build_ids.each_ref().map(text)
    }
}

/// Two sides against each other.
#[derive(Debug)]
pub struct Diff {
    /// All functions, those first whose own part changed the most.
    pub rows: Vec<FunctionDiff>,
    /// What both sides count in all, before it is normalised.
    pub totals: [SampleTotal; 2],
    /// Files whose build id changed, by name.
    pub changed: Vec<ChangedFile>,
}

impl Diff {
    /// Compares what the functions of two sides take.
    #[must_use]
    pub fn of(sides: [DiffSide<'_>; 2], weight: Weight, normalize: Normalize) -> Self {
        let functions = sides.map(|side| Functions::of(side.profile, side.event));
        let count = |side: usize, total: SampleTotal| -> f64 {
            let side = sides.get(side);
            let event = side.and_then(|it| Some((it, it.profile.events().get(it.event as usize)?)));
            event.map_or(0.0, |(_, event)| weight.of_total(total, &event.event) as f64)
        };
        let totals = [0, 1].map(|side| functions.get(side).map_or_else(SampleTotal::default, |it| it.all));
        let units = [0, 1].map(|side| match normalize {
            Normalize::Share => totals.get(side).map_or(0.0, |&total| count(side, total) / 100.0),
            Normalize::Time => sides.get(side).map_or(0.0, |side| seconds(side.profile)),
            Normalize::Nothing => 1.0,
        });
        // A side without samples has 0 of everything.
        let normalized = |side: usize, total: SampleTotal| {
            let unit = units.get(side).copied().unwrap_or(0.0);
            if unit > 0.0 { count(side, total) / unit } else { 0.0 }
        };
        let mut both: BTreeMap<&FunctionKey, [FunctionTotal; 2]> = BTreeMap::new();
        let [before, after] = &functions;
        before.totals.iter().for_each(|(key, total)| both.entry(key).or_default()[0] = *total);
        after.totals.iter().for_each(|(key, total)| both.entry(key).or_default()[1] = *total);
        let row = |(key, [before, after]): (&FunctionKey, [FunctionTotal; 2])| FunctionDiff {
            key: key.clone(),
            own: [normalized(0, before.own), normalized(1, after.own)],
            whole: [normalized(0, before.whole), normalized(1, after.whole)],
        };
        let mut rows: Vec<_> = both.into_iter().map(row).collect();
        // The sort is stable, so equal ones stay in the order of their names.
        rows.sort_by(|one, other| other.delta().abs().total_cmp(&one.delta().abs()));
        Self { rows, totals, changed: changed(sides) }
    }

    /// Returns the functions whose own part changed by at least `min`, which are the first ones.
    pub fn rows_from(&self, min: f64) -> impl Iterator<Item = &FunctionDiff> {
        self.rows.iter().take_while(move |row| row.delta().abs() >= min)
    }
}

/// Returns the time between the first and the last sample.
pub fn seconds(profile: &Profile) -> f64 {
    profile.span().map_or(0.0, |(first, last)| (last - first) as f64 / 1e9)
}

/// Returns the files that have other build ids on the other side.
pub fn changed(sides: [DiffSide<'_>; 2]) -> Vec<ChangedFile> {
    let mut files: BTreeMap<&[u8], [Vec<BuildId>; 2]> = BTreeMap::new();
    for (number, side) in sides.iter().enumerate() {
        for (dso, index) in side.profile.frames().dsos().iter().zip(0..) {
            let Some(id) = side.profile.build_id(index) else { continue };
            let of_file = files.entry(dso.name()).or_default().get_mut(number);
            if let Some(ids) = of_file.filter(|ids| !ids.contains(&id)) {
                ids.push(id);
            }
        }
    }
    let mut changed = Vec::new();
    for (name, mut build_ids) in files {
        build_ids.iter_mut().for_each(|ids| ids.sort_unstable_by_key(|id| Reverse(id.as_bytes().to_vec())));
        let [before, after] = &build_ids;
        if !before.is_empty() && !after.is_empty() && before != after {
            changed.push(ChangedFile { name: name.to_vec(), build_ids });
        }
    }
    changed
}
