//! The tables of numbers of `perf c2c report --stdio`.

use perf_parse::event::Events;
use perf_profile::c2c::{AccessCounts, C2cReport, C2cSort};
use perf_profile::event_name;

use crate::args::c2c::C2cReportArgs;
use crate::escape::{OneLine, print};

fn push_count(out: &mut Vec<u8>, name: &str, count: u64) {
    print(out, format_args!("  {name:<34}: {count:>10}\n"));
}

/// perf: `print_c2c__display_stats`, `tools/perf/builtin-c2c.c`.
pub(super) fn push_counts(out: &mut Vec<u8>, all: &AccessCounts) {
    let misses = all.last_level_misses();
    let rows = [
        ("Total records", all.records),
        ("Locked Load/Store Operations", all.locked),
        ("Load Operations", all.loads),
        ("Loads - uncacheable", all.load_uncached),
        ("Loads - IO", all.load_io),
        ("Loads - Miss", all.load_miss),
        ("Loads - no mapping", all.load_without_address),
        ("Load Fill Buffer Hit", all.load_fill_buffer),
        ("Load L1D hit", all.load_l1),
        ("Load L2D hit", all.load_l2),
        ("Load LLC hit", all.load_l3.saturating_add(all.local_hitm)),
        ("Load Local HITM", all.local_hitm),
        ("Load Remote HITM", all.remote_hitm),
        ("Load Remote HIT", all.remote_hit),
        ("Load Local DRAM", all.local_memory),
        ("Load Remote DRAM", all.remote_memory),
        ("Load MESI State Exclusive", all.load_exclusive),
        ("Load MESI State Shared", all.load_shared),
        ("Load LLC Misses", misses),
        ("Load access blocked by data", all.blocked_by_data),
        ("Load access blocked by address", all.blocked_by_address),
        ("Load HIT Local Peer", all.local_peer),
        ("Load HIT Remote Peer", all.remote_peer),
    ];
    for (name, count) in rows {
        push_count(out, name, count);
    }
    let parts = [
        ("LLC Misses to Local DRAM", all.local_memory),
        ("LLC Misses to Remote DRAM", all.remote_memory),
        ("LLC Misses to Remote cache (HIT)", all.remote_hit),
        ("LLC Misses to Remote cache (HITM)", all.remote_hitm),
    ];
    for (name, count) in parts {
        if misses == 0 {
            // 0 divided by 0.
            print(out, format_args!("  {name:<34}: {:>10}%\n", "-nan"));
        } else {
            let percent = count as f64 / misses as f64 * 100.0;
            print(out, format_args!("  {name:<34}: {percent:>10.1}%\n"));
        }
    }
    let rows = [
        ("Store Operations", all.stores),
        ("Store - uncacheable", all.store_uncached),
        ("Store - no mapping", all.store_without_address),
        ("Store L1D Hit", all.store_l1_hit),
        ("Store L1D Miss", all.store_l1_miss),
        ("Store No available memory level", all.store_unknown),
        ("No Page Map Rejects", all.unmapped),
        ("Unable to parse data source", all.neither),
    ];
    for (name, count) in rows {
        push_count(out, name, count);
    }
}

/// perf: `print_shared_cacheline_info`, `tools/perf/builtin-c2c.c`.
pub(super) fn push_shared(out: &mut Vec<u8>, report: &C2cReport) {
    let all = report.shared();
    let rows = [
        ("Total Shared Cache Lines", report.shared_lines()),
        ("Load HITs on shared lines", all.loads),
        ("Fill Buffer Hits on shared lines", all.load_fill_buffer),
        ("L1D hits on shared lines", all.load_l1),
        ("L2D hits on shared lines", all.load_l2),
        ("LLC hits on shared lines", all.load_l3.saturating_add(all.local_hitm)),
        ("Load hits on peer cache or nodes", all.peer()),
        ("Locked Access on shared lines", all.locked),
        ("Blocked Access on shared lines", all.blocked_by_data.saturating_add(all.blocked_by_address)),
        ("Store HITs on shared lines", all.stores),
        ("Store L1D hits on shared lines", all.store_l1_hit),
        ("Store No available memory level", all.store_unknown),
        ("Total Merged records", all.hitm().saturating_add(all.stores)),
    ];
    for (name, count) in rows {
        push_count(out, name, count);
    }
}

/// perf: `print_c2c_info`, `tools/perf/builtin-c2c.c`.
pub(super) fn push_details(out: &mut Vec<u8>, report: &C2cReport, events: &Events, args: &C2cReportArgs) {
    for (number, event) in events.iter().enumerate() {
        let heading = if number == 0 { "  Events" } else { "" };
        print(out, format_args!("{heading:<36}: {}\n", OneLine(&event_name(event))));
    }
    let sort = match report.sort() {
        C2cSort::Local => "Local HITMs",
        C2cSort::Remote => "Remote HITMs",
        C2cSort::Peer => "Peer Snoop",
        _ => "Total HITMs",
    };
    let keys: String = args.coalesce.iter().flat_map(|key| [",", key.name()]).collect();
    print(out, format_args!("  {:<34}: {sort}\n", "Cachelines sort on"));
    print(out, format_args!("  {:<34}: offset{keys}\n", "Cacheline data grouping"));
}
