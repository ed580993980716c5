//! The tables of a report: one for each event, or group of events.

use perf_abi::feature::Feature;
use perf_parse::feature::FeatureData;
use perf_parse::file::Reader;
use perf_profile::event_name;

use super::collect::Collected;

/// A table: the events that its columns are of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Members {
    /// Indices, the leader first.
    pub(super) events: Vec<usize>,
    /// The names in the line above the table.
    pub(super) name: Vec<u8>,
    /// Whether the event leads others, in tables of their own.
    pub(super) leads_others: bool,
}

/// Whether events share a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grouping {
    /// Those that were recorded as a group.
    AsRecorded,
    /// All, if none were recorded as a group.
    Always,
    Never,
}

/// Returns the tables of a capture, in the order of the events. Those without samples are left out.
///
/// perf: `evlist__tty_browse_hists`, `tools/perf/builtin-report.c`; `evsel__group_desc`, `tools/perf/util/evsel.c`.
pub(super) fn of(reader: &Reader<'_>, collected: &Collected, grouping: Grouping) -> Vec<Members> {
    let is_grouped = grouping != Grouping::Never;
    let groups = match reader.feature(Feature::GROUP_DESC).map(|section| section.decode()) {
        Some(Ok(FeatureData::GroupDesc(groups))) if !groups.is_empty() => groups,
        _ => return without_groups(reader, collected, grouping),
    };
    let count = collected.events.keys().max().map_or(0, |last| last + 1).max(reader.events().len());
    let mut tables = Vec::new();
    let mut index = 0;
    while index < count {
        let group = groups.iter().find(|it| it.leader_idx as usize == index && it.nr_members > 1);
        let Some(group) = group else {
            if collected.events.contains_key(&index) {
                tables.push(alone(collected, index, false));
            }
            index += 1;
            continue;
        };
        let members: Vec<_> = (index..count.min(index.saturating_add(group.nr_members as usize))).collect();
        if is_grouped {
            let named =
                |index: &usize| reader.events().get(*index).map_or_else(Vec::new, |event| event_name(event));
            let names: Vec<_> = members.iter().map(named).collect();
            let name = match group.name {
                b"{anon_group}" | b"" => b"anon group",
                name => name,
            };
            let name = [name, b" { ", &names.join(&b", "[..]), b" }"].concat();
            // perf leaves out a group whose leader has no samples; its members would be lost.
            if members.iter().any(|member| collected.events.contains_key(member)) {
                tables.push(Members { events: members.clone(), name, leads_others: false });
            }
        } else {
            let with_samples = members.iter().filter(|&member| collected.events.contains_key(member));
            tables.extend(with_samples.map(|&member| alone(collected, member, member == index)));
        }
        index += members.len();
    }
    tables
}

/// Returns the tables of a capture without groups of events. With `--group`, all events are one.
///
/// perf: `evlist__force_leader`, `tools/perf/util/evlist.c`.
fn without_groups(reader: &Reader<'_>, collected: &Collected, grouping: Grouping) -> Vec<Members> {
    let events = reader.events();
    if grouping == Grouping::Always && events.len() > 1 && !collected.events.is_empty() {
        let names: Vec<_> = events.iter().map(|event| event_name(event)).collect();
        let members = (0..events.len()).collect();
        return vec![Members { events: members, name: names.join(&b", "[..]), leads_others: false }];
    }
    // perf makes the first event a leader even with --no-group.
    let leads = |index: usize| index == 0 && grouping == Grouping::Never && events.len() > 1;
    collected.events.keys().map(|&index| alone(collected, index, leads(index))).collect()
}

fn alone(collected: &Collected, index: usize, leads_others: bool) -> Members {
    let name = collected.events.get(&index).map_or_else(Vec::new, |it| event_name(&it.event));
    Members { events: vec![index], name, leads_others }
}
