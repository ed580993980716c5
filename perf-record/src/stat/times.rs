//! Events of the tool that are times: `duration_time`, `user_time` and `system_time`.

use core::time::Duration;
use std::fs;

use perf_open::event::ToolEvent;
use perf_open::workload::CpuTime;

use crate::Targets;

/// The cpu time up to a moment, in ticks of the kernel's accounting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CpuTicks {
    user: u64,
    system: u64,
}

/// The time since the start of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PassedTime {
    pub(super) elapsed: Duration,
    /// `None` if the cpu time is not known, as of a task that has ended.
    pub(super) cpu: Option<CpuTime>,
}

impl PassedTime {
    /// Returns the value of a tool's event in nanoseconds.
    pub(super) fn of(&self, tool: ToolEvent) -> Option<u64> {
        let duration = match tool {
            ToolEvent::DurationTime => Some(self.elapsed),
            ToolEvent::UserTime => self.cpu.map(|cpu| cpu.user),
            ToolEvent::SystemTime => self.cpu.map(|cpu| cpu.system),
            _ => None,
        };
        duration.map(nanoseconds)
    }
}

/// Returns a time in nanoseconds; the largest number for more than 584 years.
pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl CpuTicks {
    /// Returns the ticks of the targets; `None` if nothing of them is left.
    pub(super) fn now(targets: &Targets, command: Option<u32>) -> Option<Self> {
        match targets {
            // With the children that it has waited for.
            Targets::Command => of_task(&fs::read_to_string(format!("/proc/{}/stat", command?)).ok()?, true),
            Targets::Threads(threads) => {
                let of =
                    |tid| of_task(&fs::read_to_string(format!("/proc/{tid}/task/{tid}/stat")).ok()?, false);
                threads.iter().filter_map(of).reduce(Self::plus)
            }
            Targets::Cpus(cpus) => of_cpus(&fs::read_to_string("/proc/stat").ok()?, cpus),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self { user: self.user.saturating_add(other.user), system: self.system.saturating_add(other.system) }
    }

    /// Returns the time since `start`.
    pub(super) fn since(self, start: Self) -> CpuTime {
        let time = |now: u64, start: u64| {
            let per_second = rustix::param::clock_ticks_per_second().max(1);
            Duration::from_secs_f64(now.saturating_sub(start) as f64 / per_second as f64)
        };
        CpuTime { user: time(self.user, start.user), system: time(self.system, start.system) }
    }
}

/// Returns the ticks of a task from its `stat`: the fields `utime` and `stime`, and with `children` those of the children
/// that it has waited for.
fn of_task(stat: &str, children: bool) -> Option<CpuTicks> {
    // The state follows the name, which is in parentheses and may contain some. `utime` is the twelfth field after it.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11).map(str::parse::<u64>);
    let mut next = || fields.next()?.ok();
    let own = CpuTicks { user: next()?, system: next()? };
    Some(if children { own.plus(CpuTicks { user: next()?, system: next()? }) } else { own })
}

/// Returns the ticks of cpus from `/proc/stat`: `cpuN user nice system idle iowait irq softirq ...`.
fn of_cpus(stat: &str, cpus: &[u32]) -> Option<CpuTicks> {
    let of_line = |line: &str| {
        let mut fields = line.split_whitespace();
        let cpu: u32 = fields.next()?.strip_prefix("cpu")?.parse().ok()?;
        let ticks: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
        let [user, nice, system, _, _, irq, softirq, ..] = ticks[..] else { return None };
        let sum = |ticks: &[u64]| ticks.iter().fold(0_u64, |sum, ticks| sum.saturating_add(*ticks));
        cpus.contains(&cpu)
            .then(|| CpuTicks { user: sum(&[user, nice]), system: sum(&[system, irq, softirq]) })
    };
    stat.lines().filter_map(of_line).reduce(CpuTicks::plus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_has_its_own_time_and_its_childrens() {
        let stat = "77 (a ) b) S 1 77 77 0 -1 4194304 100 200 0 0 5 6 70 80 20 0 1 0 99 1000";
        assert_eq!(of_task(stat, false), Some(CpuTicks { user: 5, system: 6 }));
        assert_eq!(of_task(stat, true), Some(CpuTicks { user: 75, system: 86 }));
        assert_eq!(of_task("77 (a) S 1", true), None);
    }

    #[test]
    fn cpus_are_added_up() {
        let stat = "cpu  9 9 9 9 9 9 9\ncpu0 1 2 3 4 5 6 7 8\ncpu1 10 20 30 40 50 60 70 80\nintr 5\n";
        assert_eq!(of_cpus(stat, &[0]), Some(CpuTicks { user: 3, system: 16 }));
        assert_eq!(of_cpus(stat, &[0, 1]), Some(CpuTicks { user: 33, system: 176 }));
        assert_eq!(of_cpus(stat, &[2]), None);
    }

    #[test]
    fn a_tick_has_nanoseconds() {
        let ticks = u64::from(rustix::param::clock_ticks_per_second() as u32);
        let time = CpuTicks { user: 3 * ticks, system: ticks }.since(CpuTicks { user: ticks, system: 0 });
        let passed = PassedTime { elapsed: Duration::from_secs(5), cpu: Some(time) };
        let values =
            [ToolEvent::DurationTime, ToolEvent::UserTime, ToolEvent::SystemTime].map(|tool| passed.of(tool));
        assert_eq!(passed.of(ToolEvent::NumCpus), None);
        assert_eq!(values, [5, 2, 1].map(|seconds: u64| Some(seconds * 1_000_000_000)));
        assert_eq!(PassedTime::default().of(ToolEvent::UserTime), None);
    }
}
