//! `GROUP_DESC`: the groups of more than one event.

use super::codec::entry;
use crate::byte_str::ByteStr;

entry! {
    /// A group of events. perf requires the groups in the order of their leaders.
    ///
    /// perf: `write_group_desc`, `tools/perf/util/header.c`.
    pub struct GroupDesc<'a> {
        /// Name of the group; `{anon_group}` if it has none.
        pub name: ByteStr<'a>,
        /// Index of the leader among the events.
        pub leader_idx: u32,
        /// Number of events in the group, including the leader.
        pub nr_members: u32,
    }
}
