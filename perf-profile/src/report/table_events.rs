//! The tables of a report: one for each event, or group of events.

use std::collections::BTreeMap;

use perf_abi::feature::Feature;
use perf_parse::feature::FeatureData;

use super::event_totals::EventTotals;
use super::options::EventGrouping;
use crate::capture_info::CaptureInfo;
use crate::event_name::event_name;

/// The events of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableEvents {
    /// Indices of the events in the capture, the leader of the group first. Not empty.
    pub events: Vec<usize>,
    /// The name of the event or of the group, in any encoding.
    pub name: Vec<u8>,
    /// Whether the event leads others, which have tables of their own.
    pub leads_others: bool,
}

impl TableEvents {
    /// Makes the table of one event.
    fn alone(samples: &BTreeMap<usize, EventTotals>, index: usize, leads_others: bool) -> Self {
        let name = samples.get(&index).map_or_else(Vec::new, |it| event_name(&it.event));
        Self { events: vec![index], name, leads_others }
    }
}

/// The events that a capture names at its beginning, and how they were grouped.
#[derive(Clone, Debug)]
pub(super) struct RecordedEvents {
    names: Vec<Vec<u8>>,
    groups: Vec<RecordedGroup>,
    grouping: EventGrouping,
}

/// A group of events. Those after the leader are its members.
#[derive(Clone, Debug)]
struct RecordedGroup {
    leader: usize,
    /// Number of events.
    members: usize,
    name: Vec<u8>,
}

impl RecordedEvents {
    pub(super) fn new(info: CaptureInfo<'_>, grouping: EventGrouping) -> Self {
        let names = info.events().iter().map(|event| event_name(event)).collect();
        let groups = match info.feature(Feature::GROUP_DESC).map(|section| section.decode()) {
            Some(Ok(FeatureData::GroupDesc(groups))) => groups
                .iter()
                .map(|it| RecordedGroup {
                    leader: it.leader_idx as usize,
                    members: it.nr_members as usize,
                    name: it.name.to_vec(),
                })
                .collect(),
            _ => Vec::new(),
        };
        Self { names, groups, grouping }
    }

    /// Returns the tables of samples, in the order of the events. Those without samples are left out.
    ///
    /// perf: `evlist__tty_browse_hists`, `tools/perf/builtin-report.c`; `evsel__group_desc`, `tools/perf/util/evsel.c`.
    pub(super) fn tables(&self, samples: &BTreeMap<usize, EventTotals>) -> Vec<TableEvents> {
        if self.groups.is_empty() {
            return self.tables_without_groups(samples);
        }
        let is_grouped = self.grouping != EventGrouping::Never;
        let count = samples.keys().max().map_or(0, |last| last + 1).max(self.names.len());
        let mut tables = Vec::new();
        let mut index = 0;
        while index < count {
            let group = self.groups.iter().find(|it| it.leader == index && it.members > 1);
            let Some(group) = group else {
                if samples.contains_key(&index) {
                    tables.push(TableEvents::alone(samples, index, false));
                }
                index += 1;
                continue;
            };
            let members: Vec<_> = (index..count.min(index.saturating_add(group.members))).collect();
            index += members.len();
            if is_grouped {
                // perf leaves out a group whose leader has no samples; its members would be lost.
                if members.iter().any(|member| samples.contains_key(member)) {
                    let name = self.name_of(group, &members);
                    tables.push(TableEvents { events: members, name, leads_others: false });
                }
            } else {
                let with_samples = members.iter().filter(|&member| samples.contains_key(member));
                let alone =
                    |&member: &usize| TableEvents::alone(samples, member, Some(&member) == members.first());
                tables.extend(with_samples.map(alone));
            }
        }
        tables
    }

    /// Returns the name of a group with those of its members.
    fn name_of(&self, group: &RecordedGroup, members: &[usize]) -> Vec<u8> {
        let names: Vec<_> =
            members.iter().map(|&index| self.names.get(index).map_or(&[][..], |name| name)).collect();
        let name = match &*group.name {
            b"{anon_group}" | b"" => b"anon group",
            name => name,
        };
        [name, b" { ", &names.join(&b", "[..]), b" }"].concat()
    }

    /// Returns the tables of a capture without groups of events. All events can be one.
    ///
    /// perf: `evlist__force_leader`, `tools/perf/util/evlist.c`.
    fn tables_without_groups(&self, samples: &BTreeMap<usize, EventTotals>) -> Vec<TableEvents> {
        let count = self.names.len();
        if self.grouping == EventGrouping::Always && count > 1 && !samples.is_empty() {
            let (events, name) = ((0..count).collect(), self.names.join(&b", "[..]));
            return vec![TableEvents { events, name, leads_others: false }];
        }
        // perf makes the first event a leader even without groups.
        let leads = |index: usize| index == 0 && self.grouping == EventGrouping::Never && count > 1;
        samples.keys().map(|&index| TableEvents::alone(samples, index, leads(index))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use perf_abi::attr::Attr;
    use perf_parse::event::Events;

    use super::*;

    /// Returns the events and the name of each table of events `a` to `d`, of which some have samples.
    fn tables(groups: &[(usize, usize, &str)], grouping: EventGrouping, samples: &[usize]) -> Vec<String> {
        let names = ["a", "b", "c", "d"].map(|name| name.as_bytes().to_vec());
        let groups = groups
            .iter()
            .map(|&(leader, members, name)| RecordedGroup { leader, members, name: name.into() })
            .collect();
        let events = Events::from_iter([(Attr::default(), vec![])]);
        let totals = |&index: &usize| {
            let mut event = (*events[0]).clone();
            event.name = names.get(index).cloned();
            (index, EventTotals::new(&Arc::new(event)))
        };
        let samples = samples.iter().map(totals).collect();
        let recorded = RecordedEvents { names: names.to_vec(), groups, grouping };
        let shown = |it: TableEvents| {
            let leader = if it.leads_others { " leads" } else { "" };
            format!("{:?} {}{leader}", it.events, String::from_utf8(it.name).unwrap())
        };
        recorded.tables(&samples).into_iter().map(shown).collect()
    }

    #[test]
    fn events_of_a_group_share_a_table() {
        let groups = [(1, 2, "{anon_group}"), (3, 1, "alone")];
        let of = |grouping| tables(&groups, grouping, &[0, 2, 3]);
        assert_eq!(of(EventGrouping::AsRecorded), ["[0] a", "[1, 2] anon group { b, c }", "[3] d"]);
        assert_eq!(of(EventGrouping::Always), of(EventGrouping::AsRecorded));
        assert_eq!(of(EventGrouping::Never), ["[0] a", "[2] c", "[3] d"]);
        assert_eq!(tables(&groups, EventGrouping::Never, &[1, 2]), ["[1] b leads", "[2] c"]);
        assert_eq!(
            tables(&[(0, 9, "all")], EventGrouping::AsRecorded, &[3]),
            ["[0, 1, 2, 3] all { a, b, c, d }"]
        );
    }

    #[test]
    fn events_without_groups_can_be_one() {
        assert_eq!(tables(&[], EventGrouping::AsRecorded, &[0, 2]), ["[0] a", "[2] c"]);
        assert_eq!(tables(&[], EventGrouping::Always, &[2]), ["[0, 1, 2, 3] a, b, c, d"]);
        assert_eq!(tables(&[], EventGrouping::Never, &[0, 2]), ["[0] a leads", "[2] c"]);
        assert!(tables(&[], EventGrouping::Always, &[]).is_empty());
    }
}
