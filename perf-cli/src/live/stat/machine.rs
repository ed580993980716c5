//! The properties of the machine and of the targets that are events of the tool: `num_cpus`, `smt_on`, `target_cpu`.

use alloc::collections::BTreeSet;
use std::fs;
use std::path::Path;

use perf_open::event::Tool;
use perf_open::pmu::parse_cpus;

use crate::live::observed::Observed;

/// Returns the value of a property; `None` if this machine does not have it, or it is a time. `observed` is what is counted.
///
/// perf: `tool_pmu__read_event`, `tools/perf/util/tool_pmu.c`.
pub(crate) fn property(tool: Tool, observed: &Observed, sysfs: &Path) -> Option<u64> {
    let cpus =
        |list: &str| parse_cpus(&fs::read_to_string(sysfs.join("devices/system/cpu").join(list)).ok()?).ok();
    let number = |count: usize| u64::try_from(count).ok();
    let online = cpus("online");
    let topology = || Topology { cpus: online.as_deref().unwrap_or_default(), sysfs };
    match tool {
        Tool::HasPmem => Some(sysfs.join("firmware/acpi/tables/NFIT").exists().into()),
        Tool::NumCpus => number(cpus("present")?.len()),
        Tool::NumCpusOnline => number(online?.len()),
        Tool::NumCores => topology().parts(&["core_cpus_list", "thread_siblings_list"]),
        // Where the kernel has no dies, each package is one.
        Tool::NumDies => topology().parts(&["die_cpus_list", "package_cpus_list", "core_siblings_list"]),
        Tool::NumPackages => topology().parts(&["package_cpus_list", "core_siblings_list"]),
        Tool::SmtOn => Some(topology().has_smt().into()),
        Tool::SystemTscFreq => tsc_frequency(),
        Tool::CoreWide => {
            let Observed::Cpus(counted) = observed else { return Some((!topology().has_smt()).into()) };
            Some(topology().has_whole_cores(counted).into())
        }
        Tool::TargetCpu => Some(matches!(observed, Observed::Cpus(_)).into()),
        _ => None,
    }
}

/// How the CPUs that are online belong together.
struct Topology<'a> {
    cpus: &'a [u32],
    sysfs: &'a Path,
}

impl Topology<'_> {
    /// Returns the CPUs of the same core, die or package as a CPU, by the first of some files that there is.
    fn siblings(&self, cpu: u32, files: &[&str]) -> Option<Vec<u32>> {
        let folder = self.sysfs.join(format!("devices/system/cpu/cpu{cpu}/topology"));
        let text = files.iter().find_map(|file| fs::read_to_string(folder.join(file)).ok())?;
        parse_cpus(&text).ok()
    }

    /// Returns the number of parts whose CPUs are in these files.
    fn parts(&self, files: &[&str]) -> Option<u64> {
        let parts = self.cpus.iter().map(|&cpu| self.siblings(cpu, files));
        u64::try_from(parts.collect::<Option<BTreeSet<_>>>()?.len()).ok().filter(|&parts| parts > 0)
    }

    fn cores(&self) -> impl Iterator<Item = Vec<u32>> {
        self.cpus.iter().filter_map(|&cpu| self.siblings(cpu, &["core_cpus_list", "thread_siblings_list"]))
    }

    fn has_smt(&self) -> bool {
        match fs::read_to_string(self.sysfs.join("devices/system/cpu/smt/active")) {
            Ok(active) => active.trim() == "1",
            Err(_) => self.cores().any(|core| core.len() > 1),
        }
    }

    /// Returns whether each core has all of its CPUs among those that are counted, or none of them.
    fn has_whole_cores(&self, counted: &[u32]) -> bool {
        self.cores().all(|core| {
            let of_core = core.iter().filter(|cpu| counted.contains(cpu)).count();
            of_core == 0 || of_core == core.len()
        })
    }
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
        let of = |tool, observed: &Observed| property(tool, observed, root.path());
        let command = Observed::Command;
        for (tool, expected) in [
            (Tool::HasPmem, Some(0)),
            (Tool::NumCpus, Some(8)),
            (Tool::NumCpusOnline, Some(7)),
            (Tool::NumCores, Some(4)),
            (Tool::NumDies, Some(2)),
            (Tool::NumPackages, Some(2)),
            (Tool::SmtOn, Some(1)),
            (Tool::CoreWide, Some(0)),
            (Tool::TargetCpu, Some(0)),
            (Tool::DurationTime, None),
        ] {
            assert_eq!(of(tool, &command), expected, "{tool:?}");
        }
        assert_eq!(of(Tool::TargetCpu, &Observed::Cpus(vec![0])), Some(1));
        assert_eq!(of(Tool::CoreWide, &Observed::Cpus(vec![0, 1, 6])), Some(1));
        assert_eq!(of(Tool::CoreWide, &Observed::Cpus(vec![0, 1, 2])), Some(0));
        let nowhere = Path::new("/nowhere");
        assert_eq!(property(Tool::NumCores, &command, nowhere), None);
        assert_eq!(property(Tool::NumCpus, &command, nowhere), None);
    }

    #[test]
    fn names_of_processors_may_have_a_frequency() {
        let name = "processor : 0\nmodel name\t: Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz\n";
        assert_eq!(named_frequency(name), Some(2_600_000_000));
        assert_eq!(named_frequency("model name\t: AMD EPYC\n"), None);
        assert_eq!(named_frequency(""), None);
    }
}
