//! Folders like `/sys/bus/event_source/devices` and `/sys/kernel/tracing`, created for one test.

use core::ops::Deref;
use std::fs;

use perf_open::event::EventParser;
use perf_open::pmu::Pmus;
use perf_open::tracepoint::Tracefs;
use tempfile::TempDir;

/// A reader of folders, and the temporary folders that it reads.
pub(crate) struct Fake<T> {
    it: T,
    _folders: Vec<TempDir>,
}

impl<T> Deref for Fake<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.it
    }
}

/// Writes `files` (paths and texts) into a new folder. Dropping the result removes the folder.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

/// An Intel machine with one kind of cpu, two memory controllers, and an energy counter.
pub(crate) const INTEL: &[(&str, &str)] = &[
    ("cpu/type", "4\n"),
    ("cpu/format/event", "config:0-7\n"),
    ("cpu/format/umask", "config:8-15\n"),
    ("cpu/format/edge", "config:18\n"),
    ("cpu/format/inv", "config:23\n"),
    ("cpu/format/cmask", "config:24-31\n"),
    ("cpu/format/ldlat", "config1:0-15\n"),
    ("cpu/format/spread", "config:0-7,21,32-35\n"),
    ("cpu/format/acr", "config3:0-63\n"),
    ("cpu/format/newest", "config4:1-2\n"),
    ("cpu/events/cpu-cycles", "event=0x3c\n"),
    ("cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n"),
    ("cpu/events/parametrised", "event=0x10,umask=?\n"),
    ("cpu/events/wrong", "event=0x100\n"),
    ("cpu/events/broken", "event=,\n"),
    ("cpu/caps/branches", "32\n"),
    ("cpu/caps/max_precise", "3\n"),
    ("uncore_imc_0/type", "13\n"),
    ("uncore_imc_0/cpumask", "0,18\n"),
    ("uncore_imc_0/format/event", "config:0-7\n"),
    ("uncore_imc_0/format/umask", "config:8-15\n"),
    ("uncore_imc_0/events/cas_count_read", "event=0x04,umask=0x03\n"),
    ("uncore_imc_0/events/cas_count_read.scale", "6.103515625e-5\n"),
    ("uncore_imc_0/events/cas_count_read.unit", "MiB\n"),
    ("uncore_imc_1/type", "14\n"),
    ("uncore_imc_1/cpumask", "0,18\n"),
    ("uncore_imc_1/format/event", "config:0-7\n"),
    ("uncore_imc_1/format/umask", "config:8-15\n"),
    ("uncore_imc_1/events/cas_count_read", "event=0x04,umask=0x03\n"),
    ("uncore_imc_1/events/cas_count_read.scale", "6.103515625e-5\n"),
    ("uncore_imc_1/events/cas_count_read.unit", "MiB\n"),
    ("uncore_imc_free_running_0/type", "15\n"),
    ("power/type", "20\n"),
    ("power/cpumask", "0\n"),
    ("power/format/event", "config:0-7\n"),
    ("power/events/energy-pkg", "event=0x02\n"),
    ("power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n"),
    ("power/events/energy-pkg.unit", "Joules\n"),
    ("power/events/energy-pkg.per-pkg", "1\n"),
    ("power/events/energy-pkg.snapshot", "1\n"),
    ("kprobe/type", "6\n"),
    ("kprobe/format/retprobe", "config:0\n"),
    ("uprobe/type", "7\n"),
    ("uprobe/format/retprobe", "config:0\n"),
    ("uprobe/format/ref_ctr_offset", "config:32-63\n"),
    ("software/type", "1\n"),
];

/// An Intel machine with two kinds of cpus.
pub(crate) const HYBRID: &[(&str, &str)] = &[
    ("cpu_core/type", "4\n"),
    ("cpu_core/cpus", "0-3\n"),
    ("cpu_core/format/event", "config:0-7\n"),
    ("cpu_atom/type", "10\n"),
    ("cpu_atom/cpus", "4-7\n"),
    ("cpu_atom/format/event", "config:0-7\n"),
];

/// An Arm machine with statistical profiling.
pub(crate) const ARM: &[(&str, &str)] = &[
    ("arm_spe_0/type", "9\n"),
    ("arm_spe_0/cpumask", "0-1\n"),
    ("arm_spe_0/format/ts_enable", "config:0\n"),
    ("arm_spe_0/format/load_filter", "config:33\n"),
    ("arm_spe_0/format/event_filter", "config1:0-63\n"),
    ("arm_spe_0/format/min_latency", "config2:0-11\n"),
    ("arm_spe_0/caps/min_interval", "1024\n"),
    ("armv8_pmuv3_0/type", "8\n"),
    ("armv8_pmuv3_0/cpus", "0-1\n"),
    ("armv8_pmuv3_0/format/event", "config:0-15\n"),
    ("armv8_pmuv3_0/events/l1d_cache", "event=0x0004\n"),
];

/// Some tracepoints.
pub(crate) const TRACEPOINTS: &[(&str, &str)] = &[
    ("events/enable", "0\n"),
    ("events/sched/enable", "0\n"),
    ("events/sched/sched_switch/id", "316\n"),
    ("events/sched/sched_switch/format", "name: sched_switch\nID: 316\n"),
    ("events/sched/sched_wakeup/id", "319\n"),
    ("events/sched/sched_process_exit/id", "312\n"),
    ("events/syscalls/sys_enter_read/id", "7x\n"),
    ("events/ftrace/function/format", "name: function\n"),
];

/// Returns the PMUs of a folder with these files.
pub(crate) fn pmus_of(files: &[(&str, &str)]) -> Fake<Pmus> {
    let folder = folder(files);
    Fake { it: Pmus::at(folder.path()), _folders: vec![folder] }
}

/// Returns the tracefs of a folder with these files.
pub(crate) fn tracefs_of(files: &[(&str, &str)]) -> Fake<Tracefs> {
    let folder = folder(files);
    Fake { it: Tracefs::at(folder.path()), _folders: vec![folder] }
}

/// Returns a parser for a machine with these PMUs and some tracepoints.
pub(crate) fn parser(pmus: &[(&str, &str)]) -> Fake<EventParser> {
    let (pmus, tracefs) = (folder(pmus), folder(TRACEPOINTS));
    let it = EventParser::at(Pmus::at(pmus.path()), Tracefs::at(tracefs.path()));
    Fake { it, _folders: vec![pmus, tracefs] }
}
