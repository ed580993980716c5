//! The threads that read the rings, and the rings of each.

use core::str::FromStr;
use std::path::Path;

use perf_open::pmu::parse_cpus;
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::Error;
use crate::host::ROOT;
use crate::topology::{SiblingLevel, SysfsTopology};

/// A thread that reads rings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a thread reads rings of cpus, and runs on cpus")]
pub struct ThreadMask {
    /// The cpus whose rings it reads.
    pub cpus: Vec<u32>,
    /// The cpus on which it runs.
    pub affinity: Vec<u32>,
}

impl ThreadMask {
    /// Limits the calling thread to the cpus of [`affinity`](Self::affinity).
    ///
    /// # Errors
    ///
    /// The errno of `sched_setaffinity`: `EINVAL` if this process may run on none of the cpus.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use perf_record::ThreadMask;
    ///
    /// ThreadMask { cpus: vec![0, 1], affinity: vec![1] }.pin_thread()?;
    /// # Ok::<(), perf_record::Error>(())
    /// ```
    pub fn pin_thread(&self) -> Result<(), Error> {
        let mut set = CpuSet::new();
        for &cpu in &self.affinity {
            match usize::try_from(cpu) {
                Ok(cpu) if cpu < CpuSet::MAX_CPU => set.set(cpu),
                _ => return Err(Error::Request(format!("a thread cannot be limited to cpu {cpu}"))),
            }
        }
        sched_setaffinity(None, &set).map_err(|error| Error::io("sched_setaffinity")(error.into()))
    }
}

/// The division of the rings among threads: the argument of perf's `--threads`.
///
/// It is parsed from perf's words: `cpu` or nothing, `core`, `package`, `numa`, or masks such as `0,2-4/2-4:1,5-7/5-7`.
///
/// # Examples
///
/// ```
/// use perf_record::ThreadSpec;
///
/// let spec: ThreadSpec = "0,2-4/2-4:1,5/1,5".parse()?;
/// let masks = spec.masks(&[0, 1, 2, 3])?;
/// assert_eq!(masks[0].cpus, [0, 2, 3]);
/// assert_eq!(masks[0].affinity, [2, 3]);
/// # Ok::<(), perf_record::Error>(())
/// ```
///
/// perf: `record__init_thread_masks`, `tools/perf/builtin-record.c`; since 5.18.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "these are perf's")]
pub enum ThreadSpec {
    /// A thread for each cpu.
    Cpu,
    /// A thread for the cpus of each core.
    Core,
    /// A thread for the cpus of each package.
    Package,
    /// A thread for the cpus of each NUMA node.
    Numa,
    /// These threads.
    Masks(Vec<ThreadMask>),
}

impl FromStr for ThreadSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.to_ascii_lowercase().as_str() {
            "" | "cpu" => return Ok(Self::Cpu),
            "core" => return Ok(Self::Core),
            "package" => return Ok(Self::Package),
            "numa" => return Ok(Self::Numa),
            _ => {}
        }
        let must = || {
            Error::Request(format!(
                "{text}: must be cpu, core, package, numa, or masks such as 0,2-4/2-4:1,5-7/5-7: the CPUs whose rings \
                 each thread reads, and those on which it runs"
            ))
        };
        let mask = |mask: &str| {
            let (cpus, affinity) = mask.split_once('/')?;
            let [cpus, affinity] =
                [cpus, affinity].map(|list| parse_cpus(list).ok().filter(|it| !it.is_empty()));
            Some(ThreadMask { cpus: cpus?, affinity: affinity? })
        };
        let masks: Option<Vec<_>> = text.split(':').map(mask).collect();
        masks.map(Self::Masks).ok_or_else(must)
    }
}

impl ThreadSpec {
    /// Returns the threads that read the rings of `cpus`. Other cpus are left out of their masks.
    ///
    /// # Errors
    ///
    /// If a given mask has none of `cpus`, or the masks of two threads have a cpu in common; if the machine does not
    /// list its cores, packages or nodes.
    pub fn masks(&self, cpus: &[u32]) -> Result<Vec<ThreadMask>, Error> {
        self.masks_in(Path::new(ROOT), cpus)
    }

    pub(crate) fn masks_in(&self, root: &Path, cpus: &[u32]) -> Result<Vec<ThreadMask>, Error> {
        let sysfs = root.join("sys");
        let topology = SysfsTopology::at(&sysfs);
        let siblings = |level| {
            let lists = topology.sibling_lists(topology.cpus(), level);
            lists.iter().filter_map(|list| parse_cpus(list).ok()).collect::<Vec<_>>()
        };
        let (lists, of) = match self {
            Self::Cpu => (cpus.iter().map(|&cpu| vec![cpu]).collect(), "cpus"),
            Self::Core => (siblings(SiblingLevel::Core), "cores"),
            Self::Package => (siblings(SiblingLevel::Package), "packages"),
            Self::Numa => (topology.nodes().into_iter().map(|(_, cpus)| cpus).collect(), "NUMA nodes"),
            Self::Masks(masks) => return user_masks(masks, cpus),
        };
        let limited = |list: &Vec<u32>| within(list, cpus);
        // Those of other cpus have nothing to read.
        let lists = lists.iter().map(limited).filter(|list| !list.is_empty());
        let masks: Vec<_> = lists.map(|cpus| ThreadMask { affinity: cpus.clone(), cpus }).collect();
        let has = |cpu: &u32| masks.iter().any(|mask| mask.cpus.contains(cpu));
        match cpus.iter().find(|cpu| !has(cpu)) {
            Some(cpu) => Err(Error::Request(format!(
                "/sys lists no {of} with cpu {cpu}; a thread for each cpu needs no such list"
            ))),
            None => Ok(masks),
        }
    }
}

fn within(list: &[u32], cpus: &[u32]) -> Vec<u32> {
    list.iter().copied().filter(|cpu| cpus.contains(cpu)).collect()
}

/// perf: `record__init_thread_masks_spec`.
fn user_masks(masks: &[ThreadMask], cpus: &[u32]) -> Result<Vec<ThreadMask>, Error> {
    let mut limited: Vec<ThreadMask> = Vec::new();
    for (number, mask) in masks.iter().enumerate() {
        let wrong = |what: String| Error::Request(format!("mask {}: {what}", number + 1));
        let mask = ThreadMask { cpus: within(&mask.cpus, cpus), affinity: within(&mask.affinity, cpus) };
        for (list, what) in [(&mask.cpus, "CPUs to read"), (&mask.affinity, "CPUs to run on")] {
            if list.is_empty() {
                return Err(wrong(format!("has none of the recorded CPUs among its {what}")));
            }
        }
        for other in &limited {
            let common = |ours: &[u32], theirs: &[u32]| within(ours, theirs).first().copied();
            if let Some(cpu) = common(&mask.cpus, &other.cpus) {
                return Err(wrong(format!("another mask reads CPU {cpu} too")));
            }
            if let Some(cpu) = common(&mask.affinity, &other.affinity) {
                return Err(wrong(format!("the thread of another mask runs on CPU {cpu} too")));
            }
        }
        limited.push(mask);
    }
    Ok(limited)
}
