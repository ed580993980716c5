//! Events of the tool that are properties of the machine and of the targets: `num_cpus`, `smt_on`, `target_cpu`.

use alloc::collections::BTreeSet;
use std::fs;
use std::path::Path;

use perf_open::event::ToolEvent;

use crate::Targets;
use crate::sysfs::text;
use crate::topology::{SiblingLevel, SysfsTopology};

/// Returns whether this machine has an event that the tool itself measures.
///
/// # Examples
///
/// ```
/// use perf_record::open::event::ToolEvent;
///
/// assert!(perf_record::stat::has_tool_event(ToolEvent::DurationTime));
/// ```
#[must_use]
pub fn has_tool_event(tool: ToolEvent) -> bool {
    tool.is_time() || property(tool, &Targets::Command, Path::new("/sys")).is_some()
}

/// Returns the value of a property; `None` if this machine does not have it, or it is a time. `targets` are the targets.
///
/// perf: `tool_pmu__read_event`, `tools/perf/util/tool_pmu.c`.
pub(super) fn property(tool: ToolEvent, targets: &Targets, sysfs: &Path) -> Option<u64> {
    let topology = SysfsTopology::at(sysfs);
    let number = |count: usize| u64::try_from(count).ok();
    let online = topology.listed("online");
    let cpus = online.as_deref().unwrap_or_default();
    let siblings = |cpu, level| topology.siblings(cpu, level);
    match tool {
        ToolEvent::HasPmem => Some(sysfs.join("firmware/acpi/tables/NFIT").exists().into()),
        ToolEvent::NumCpus => number(topology.listed("present")?.len()),
        ToolEvent::NumCpusOnline => number(online?.len()),
        ToolEvent::NumCores => distinct(cpus, |cpu| siblings(cpu, SiblingLevel::Core)),
        // Where the kernel has no dies, each package is one.
        ToolEvent::NumDies => distinct(cpus, |cpu| {
            siblings(cpu, SiblingLevel::Die).or_else(|| siblings(cpu, SiblingLevel::Package))
        }),
        ToolEvent::NumPackages => distinct(cpus, |cpu| siblings(cpu, SiblingLevel::Package)),
        ToolEvent::SmtOn => Some(has_smt(topology, cpus).into()),
        ToolEvent::SystemTscFreq => tsc_frequency(),
        ToolEvent::CoreWide => {
            let Targets::Cpus(counted) = targets else { return Some((!has_smt(topology, cpus)).into()) };
            Some(has_whole_cores(topology, cpus, counted).into())
        }
        ToolEvent::TargetCpu => Some(matches!(targets, Targets::Cpus(_)).into()),
        _ => None,
    }
}

/// Returns the number of distinct lists of siblings of these cpus; `None` if a cpu has none, or there are no cpus.
fn distinct(cpus: &[u32], siblings: impl Fn(u32) -> Option<Vec<u32>>) -> Option<u64> {
    let lists = cpus.iter().map(|&cpu| siblings(cpu)).collect::<Option<BTreeSet<_>>>()?;
    u64::try_from(lists.len()).ok().filter(|&count| count > 0)
}

/// Returns the cpus of the core of each of these cpus, if the kernel lists them.
fn cores(topology: SysfsTopology<'_>, cpus: &[u32]) -> impl Iterator<Item = Vec<u32>> {
    cpus.iter().filter_map(move |&cpu| topology.siblings(cpu, SiblingLevel::Core))
}

/// Returns whether a core runs several threads at once.
fn has_smt(topology: SysfsTopology<'_>, online: &[u32]) -> bool {
    match text(&topology.cpu_file("smt/active")) {
        Some(active) => active == "1",
        None => cores(topology, online).any(|core| core.len() > 1),
    }
}

/// Returns whether each core has all of its cpus among those that are counted, or none of them.
fn has_whole_cores(topology: SysfsTopology<'_>, online: &[u32], counted: &[u32]) -> bool {
    cores(topology, online).all(|core| {
        let of_core = core.iter().filter(|cpu| counted.contains(cpu)).count();
        of_core == 0 || of_core == core.len()
    })
}

/// Returns the frequency of the time stamp counter: what the processor reports, or else the one in its name.
///
/// perf: `arch_get_tsc_freq`, `tools/perf/arch/x86/util/tsc.c`.
fn tsc_frequency() -> Option<u64> {
    if !cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
        return None;
    }
    perf_open::tsc::frequency().or_else(|| named_frequency(&fs::read_to_string("/proc/cpuinfo").ok()?))
}

/// Returns the frequency in the name of a processor, such as `@ 2.60GHz`.
fn named_frequency(cpuinfo: &str) -> Option<u64> {
    let name = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    let hertz = name.rsplit_once("@ ")?.1.strip_suffix("GHz")?.parse::<f64>().ok()? * 1e9;
    // The float is a whole number in the range of u64, or saturates.
    Some(hertz.round() as u64).filter(|&hertz| hertz > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the files of a machine with two packages, of one die each; each die has two cores of two CPUs. The last CPU is
    /// offline.
    fn machine(write: &mut dyn FnMut(&str, &str)) {
        write("devices/system/cpu/present", "0-7\n");
        write("devices/system/cpu/online", "0-6\n");
        for (cpu, core, package) in [
            (0, "0-1", "0-3"),
            (1, "0-1", "0-3"),
            (2, "2-3", "0-3"),
            (3, "2-3", "0-3"),
            (4, "4-5", "4-6"),
            (5, "4-5", "4-6"),
            (6, "6", "4-6"),
        ] {
            let folder = format!("devices/system/cpu/cpu{cpu}/topology");
            write(&format!("{folder}/core_cpus_list"), core);
            write(&format!("{folder}/package_cpus_list"), package);
        }
    }

    #[test]
    fn properties_are_those_of_sysfs() {
        let root = tempfile::tempdir().unwrap();
        machine(&mut |path, text| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        });
        let of = |tool, targets: &Targets| property(tool, targets, root.path());
        let command = Targets::Command;
        for (tool, expected) in [
            (ToolEvent::HasPmem, Some(0)),
            (ToolEvent::NumCpus, Some(8)),
            (ToolEvent::NumCpusOnline, Some(7)),
            (ToolEvent::NumCores, Some(4)),
            (ToolEvent::NumDies, Some(2)),
            (ToolEvent::NumPackages, Some(2)),
            (ToolEvent::SmtOn, Some(1)),
            (ToolEvent::CoreWide, Some(0)),
            (ToolEvent::TargetCpu, Some(0)),
            (ToolEvent::DurationTime, None),
        ] {
            assert_eq!(of(tool, &command), expected, "{tool:?}");
        }
        assert_eq!(of(ToolEvent::TargetCpu, &Targets::Cpus(vec![0])), Some(1));
        assert_eq!(of(ToolEvent::CoreWide, &Targets::Cpus(vec![0, 1, 6])), Some(1));
        assert_eq!(of(ToolEvent::CoreWide, &Targets::Cpus(vec![0, 1, 2])), Some(0));
        let nowhere = Path::new("/nowhere");
        assert_eq!(property(ToolEvent::NumCores, &command, nowhere), None);
        assert_eq!(property(ToolEvent::NumCpus, &command, nowhere), None);
    }

    #[test]
    fn names_of_processors_may_have_a_frequency() {
        let name = "processor : 0\nmodel name\t: Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz\n";
        assert_eq!(named_frequency(name), Some(2_600_000_000));
        assert_eq!(named_frequency("model name\t: AMD EPYC\n"), None);
        assert_eq!(named_frequency(""), None);
    }
}
