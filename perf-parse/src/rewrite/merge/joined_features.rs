//! The features of several captures as one list.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use perf_abi::endian::Endianness;
use perf_abi::feature::Feature;

use super::error::CaptureMergeError;
use super::translation::RecordTranslation;
use crate::byte_str::ByteStr;
use crate::feature::{
    ClockData, Entries, FeatureData, FeatureSection, GroupDesc, MetaInfo, MetaInfoEntry, SampleTime,
    StoredFile, StoredSymbol,
};
use crate::file::write::{FeaturePayloads, WriteFileError};
use crate::record::RawRecord;
use crate::rewrite::account::EditAccount;
use crate::rewrite::tracing;

/// Adds the features of a capture to those of the captures before it. `translation` is that of the capture's records.
pub(super) fn join(
    capture: usize,
    features: &mut FeaturePayloads,
    mut of_capture: FeaturePayloads,
    translation: &RecordTranslation,
) -> Result<(), CaptureMergeError> {
    let endianness = features.endianness();
    let differ = |field, must| CaptureMergeError::Differ { capture, field, must };
    translate(&mut of_capture, translation)?;
    for (feature, payload) in of_capture.iter() {
        let Some(before) = features.get(feature).map(Vec::from) else {
            features.raw(feature, payload)?;
            continue;
        };
        match feature {
            EditAccount::FEATURE => {
                if let Some((a, b)) = EditAccount::parse(&before).zip(EditAccount::parse(payload)) {
                    let joined = a.joined(&b).ok_or(differ(
                        "one_in",
                        "that of the first capture: samples of different weight cannot be told apart",
                    ))?;
                    features.raw(feature, &joined.encode())?;
                }
            }
            _ if before == payload => {}
            Feature::BUILD_ID => features.raw(feature, &build_ids(endianness, before, payload))?,
            Feature::TRACING_DATA => {
                let must = "formats of tracepoints that can be joined with those of the first capture";
                let joined = tracing::joined(&before, payload).ok_or(differ("TRACING_DATA", must))?;
                features.raw(feature, &joined)?;
            }
            _ => {
                let section = |bytes| FeatureSection::new(feature, 0, bytes, endianness).decode();
                if let (Ok(a), Ok(b)) = (section(&before), section(payload)) {
                    decoded(features, a, b)?;
                }
            }
        }
    }
    Ok(())
}

/// Brings the times and the indexes of events in features to those of the merged capture.
fn translate(features: &mut FeaturePayloads, translation: &RecordTranslation) -> Result<(), WriteFileError> {
    let moved = |time: u64| translation.time(time).unwrap_or(time);
    let section = |features: &FeaturePayloads, feature| features.get(feature).map(Vec::from);
    if translation.offset != 0 {
        for feature in [Feature::SAMPLE_TIME, Feature::CLOCK_DATA] {
            let Some(bytes) = section(features, feature) else { continue };
            match FeatureSection::new(feature, 0, &bytes, translation.endianness).decode() {
                Ok(FeatureData::SampleTime(it)) if (it.first, it.last) != (0, 0) => {
                    let times = SampleTime { first: moved(it.first), last: moved(it.last) };
                    features.set(&FeatureData::SampleTime(times))?;
                }
                Ok(FeatureData::ClockData(it)) => {
                    let clockid_time_ns = moved(it.clockid_time_ns);
                    features.set(&FeatureData::ClockData(ClockData { clockid_time_ns, ..it }))?;
                }
                _ => {}
            }
        }
    }
    let Some(bytes) = section(features, Feature::GROUP_DESC) else { return Ok(()) };
    let groups = FeatureSection::new(Feature::GROUP_DESC, 0, &bytes, translation.endianness).decode();
    if let Ok(FeatureData::GroupDesc(groups)) = groups {
        let index = |index: u32| {
            let event = translation.events.get(usize::try_from(index).ok()?)?;
            u32::try_from(event.index).ok()
        };
        // The members of a group are adjacent. Those that no longer are, are events alone.
        let leader = |it: &GroupDesc<'_>| {
            let leader = index(it.leader_idx)?;
            let stays = |number: u32| {
                let (own, merged) = (it.leader_idx.checked_add(number), leader.checked_add(number));
                own.zip(merged).is_some_and(|(own, merged)| index(own) == Some(merged))
            };
            (0..it.nr_members).all(stays).then_some(leader)
        };
        let moved = groups.iter().filter_map(|it| Some(GroupDesc { leader_idx: leader(&it)?, ..it }));
        let mut moved: Vec<_> = moved.collect();
        moved.sort_by_key(|it| it.leader_idx);
        features.set(&FeatureData::GroupDesc(Entries::from(&moved)))?;
    }
    Ok(())
}

/// Joins features that are lists. Other features stay as they were in the first capture.
fn decoded(
    features: &mut FeaturePayloads,
    before: FeatureData<'_>,
    more: FeatureData<'_>,
) -> Result<(), WriteFileError> {
    match (before, more) {
        (FeatureData::SampleTime(a), FeatureData::SampleTime(b)) => {
            let times = [a, b].into_iter().filter(|it| (it.first, it.last) != (0, 0));
            let joined =
                times.reduce(|a, b| SampleTime { first: a.first.min(b.first), last: a.last.max(b.last) });
            features.set(&FeatureData::SampleTime(joined.unwrap_or(a)))
        }
        (FeatureData::GroupDesc(a), FeatureData::GroupDesc(b)) => {
            let mut all: BTreeMap<_, _> = b.iter().map(|it| (it.leader_idx, it)).collect();
            all.extend(a.iter().map(|it| (it.leader_idx, it)));
            let mut end = 0;
            let mut follows = |it: &GroupDesc<'_>| {
                let is_apart = it.leader_idx >= end;
                if is_apart {
                    end = it.leader_idx.saturating_add(it.nr_members);
                }
                is_apart
            };
            let all: Vec<_> = all.into_values().filter(|it| follows(it)).collect();
            features.set(&FeatureData::GroupDesc(Entries::from(&all)))
        }
        (FeatureData::BpfProgInfo(a), FeatureData::BpfProgInfo(b)) => {
            let all = without_repeats(a.iter().chain(b.iter()), |it| it.program.id);
            features.set(&FeatureData::BpfProgInfo(Entries::from(&all)))
        }
        (FeatureData::BpfBtf(a), FeatureData::BpfBtf(b)) => {
            let all = without_repeats(a.iter().chain(b.iter()), |it| it.id);
            features.set(&FeatureData::BpfBtf(Entries::from(&all)))
        }
        (FeatureData::MetaInfo(a), FeatureData::MetaInfo(b)) => meta_info(features, &a, &b),
        (FeatureData::File(a), FeatureData::File(b)) => {
            with_symbols(a.iter().chain(b.iter()), |all| features.set(&FeatureData::File(Entries::from(all))))
        }
        (FeatureData::File2(a), FeatureData::File2(b)) => with_symbols(a.iter().chain(b.iter()), |all| {
            features.set(&FeatureData::File2(Entries::from(all)))
        }),
        _ => Ok(()),
    }
}

/// Returns the entries, the first of each key.
fn without_repeats<T, K: Ord>(entries: impl Iterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut known = BTreeSet::new();
    entries.filter(|it| known.insert(key(it))).collect()
}

/// Joins the names of events.
fn meta_info(
    features: &mut FeaturePayloads,
    before: &MetaInfo<'_>,
    more: &MetaInfo<'_>,
) -> Result<(), WriteFileError> {
    const EVENTS: &str = "event_type_info";
    let lines = |info: &MetaInfo<'_>| info.get(EVENTS).unwrap_or_default().as_bytes().to_vec();
    let (first, second) = (lines(before), lines(more));
    let lines = first.split(|&byte| byte == b'\n').chain(second.split(|&byte| byte == b'\n'));
    let lines = without_repeats(lines.filter(|line| !line.is_empty()), |line| line.to_vec()).join(&b'\n');
    let own = before.entries.iter().filter(|entry| entry.key != EVENTS);
    let events = MetaInfoEntry { key: ByteStr::new(EVENTS.as_bytes()), value: ByteStr::new(&lines) };
    let entries: Vec<_> = own.chain((!lines.is_empty()).then_some(events)).collect();
    features.set(&FeatureData::MetaInfo(MetaInfo { entries: Entries::from(&entries) }))
}

/// Joins files: those that differ in their symbols alone are one with all symbols.
fn with_symbols<'a, T>(
    files: impl Iterator<Item = StoredFile<'a>>,
    use_all: impl FnOnce(&[StoredFile<'_>]) -> T,
) -> T {
    let mut all: Vec<(StoredFile<'a>, BTreeMap<_, StoredSymbol<'a>>)> = Vec::new();
    let mut places = BTreeMap::<_, usize>::new();
    for file in files {
        let key = (
            file.path.as_bytes(),
            file.kind.0,
            file.min_vaddr,
            file.file_offset_of_min_vaddr,
            file.memory_offset_of_min_vaddr,
            file.dex_file_offsets.iter().collect::<Vec<_>>(),
        );
        let place = *places.entry(key).or_insert(all.len());
        if place == all.len() {
            all.push((file, BTreeMap::new()));
        }
        if let Some((_, symbols)) = all.get_mut(place) {
            symbols.extend(file.symbols.iter().map(|it| ((it.vaddr, it.name.as_bytes()), it)));
        }
    }
    let symbols: Vec<Vec<_>> = all.iter().map(|(_, symbols)| symbols.values().copied().collect()).collect();
    let files: Vec<_> = all
        .iter()
        .zip(&symbols)
        .map(|((file, _), symbols)| StoredFile { symbols: Entries::from(symbols), ..*file })
        .collect();
    use_all(&files)
}

/// Appends the entries that are not there yet.
fn build_ids(endianness: Endianness, mut all: Vec<u8>, mut more: &[u8]) -> Vec<u8> {
    let entries = |mut bytes: &[u8]| {
        let mut entries = BTreeSet::new();
        while let Ok((entry, rest)) = RawRecord::<Endianness>::parse_in(endianness, bytes) {
            entries.insert(Vec::from(entry.as_bytes()));
            bytes = rest;
        }
        entries
    };
    let before = entries(&all);
    while let Ok((entry, rest)) = RawRecord::<Endianness>::parse_in(endianness, more) {
        if !before.contains(entry.as_bytes()) {
            all.extend_from_slice(entry.as_bytes());
        }
        more = rest;
    }
    all
}
