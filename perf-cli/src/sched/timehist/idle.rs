//! The call chains with which CPUs became idle.

use std::collections::{BTreeMap, HashMap};

use super::text::push_milliseconds;
use crate::escape::print;

/// The idle times of each CPU by the call chain of the thread that ran before.
#[derive(Debug, Default)]
pub(super) struct IdleChains(BTreeMap<u32, IdleCpu>);

#[derive(Debug, Default)]
struct IdleCpu {
    /// The last call chain; empty before the first one.
    last: Vec<u8>,
    /// The nanoseconds and the number of times.
    times: HashMap<Vec<u8>, (u64, u64)>,
}

/// The most call chains of a CPU. Times of further ones are left out.
const CHAINS: usize = 1 << 14;

/// The most CPUs.
const CPUS: usize = 1 << 12;

impl IdleChains {
    /// Notes that a CPU becomes idle with a call chain.
    pub(super) fn begin(&mut self, cpu: u32, chain: &[u8]) {
        if self.0.len() < CPUS || self.0.contains_key(&cpu) {
            let idle = self.0.entry(cpu).or_default();
            idle.last.clear();
            idle.last.extend_from_slice(chain);
        }
    }

    /// Adds the time for which a CPU was idle.
    pub(super) fn end(&mut self, cpu: u32, time: u64) {
        let Some(IdleCpu { last, times }) = self.0.get_mut(&cpu).filter(|idle| !idle.last.is_empty()) else {
            return;
        };
        if let Some((sum, count)) = times.get_mut(last) {
            (*sum, *count) = (sum.saturating_add(time), *count + 1);
        } else if times.len() < CHAINS {
            times.insert(last.clone(), (time, 1));
        }
    }

    /// Appends the call chains of a CPU, those with the longest times first.
    ///
    /// perf: `timehist_print_idlehist_callchain`, `tools/perf/builtin-sched.c`.
    pub(super) fn push(&self, out: &mut Vec<u8>, cpu: u32, total: u64) {
        print(out, format_args!("  CPU {cpu:2}:"));
        push_milliseconds(out, total, 6);
        out.extend_from_slice(b" msec\n");
        print(out, format_args!("  {:>16}  {:>8}  Callchains\n", "Idle time (msec)", "Count"));
        print(out, format_args!("  {:-<16}  {:-<8}  {:-<50}\n", "", "", ""));
        let times = self.0.get(&cpu).map(|idle| idle.times.iter());
        let mut rows: Vec<_> = times.into_iter().flatten().collect();
        rows.sort_unstable_by(|(left, left_times), (right, right_times)| {
            right_times.cmp(left_times).then_with(|| left.cmp(right))
        });
        for (chain, (time, count)) in rows {
            out.extend_from_slice(b"  ");
            push_milliseconds(out, *time, 12);
            print(out, format_args!(" {count:8}  "));
            out.extend_from_slice(chain.strip_prefix(b" ").unwrap_or(chain));
            out.push(b'\n');
        }
        out.push(b'\n');
    }
}
