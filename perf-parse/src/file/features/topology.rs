//! The topology of the CPUs: cores, dies, sockets, scheduling domains.

use alloc::vec::Vec;

use perf_abi::endian::Endian;

use super::FeatureSection;
use super::fields::{STRING, items, list, number, string, strings};
use crate::cursor::Cursor;
use crate::error::Error;
use crate::error::FileError;

impl<'a> FeatureSection<'a> {
    /// Decodes `CPU_TOPOLOGY` of a machine with `nr_cpus` CPUs available, which is the first number of `NRCPUS`.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn cpu_topology<O: Endian>(&self, nr_cpus: u32) -> Result<CpuTopology<'a>, FileError> {
        self.whole(|at| {
            let core_siblings = strings::<O>(at, "nr_core_siblings", "core_siblings")?;
            let thread_siblings = strings::<O>(at, "nr_thread_siblings", "thread_siblings")?;
            let (mut cpus, mut die_siblings) = (Vec::new(), None);
            // The first versions of perf wrote only the siblings; later ones did not write dies.
            if !self.ends(at) {
                cpus = items(at, u64::from(nr_cpus), 8, |at| {
                    let core_id = number::<O>(at, "core_id")?;
                    Ok(CpuPlace { core_id, socket_id: number::<O>(at, "socket_id")?, die_id: None })
                })?;
            }
            if !self.ends(at) {
                die_siblings = Some(strings::<O>(at, "nr_die_siblings", "die_siblings")?);
                for cpu in &mut cpus {
                    cpu.die_id = Some(number::<O>(at, "die_id")?);
                }
            }
            Ok(CpuTopology { core_siblings, thread_siblings, cpus, die_siblings })
        })
    }

    /// Decodes `CPU_DOMAIN_INFO`: the scheduling domains of each online CPU.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn cpu_domain_info<O: Endian>(&self) -> Result<DomainInfo<'a>, FileError> {
        self.whole(|at| {
            let schedstat_version = number::<O>(at, "schedstat_version")?;
            let max_sched_domains = number::<O>(at, "max_sched_domains")?;
            let mut cpus = Vec::new();
            while !self.ends(at) {
                let cpu = number::<O>(at, "cpu")?;
                let domains = list::<O, _>(at, "nr_domains", 4 + 2 * STRING, |at| {
                    SchedDomain::parse::<O>(at, schedstat_version)
                })?;
                cpus.push(CpuDomains { cpu, domains });
            }
            Ok(DomainInfo { schedstat_version, max_sched_domains, cpus })
        })
    }
}

/// The topology of the CPUs of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuTopology<'a> {
    /// Lists of the CPUs that share a package.
    pub core_siblings: Vec<&'a [u8]>,
    /// Lists of the CPUs that share a core.
    pub thread_siblings: Vec<&'a [u8]>,
    /// The place of each CPU; empty in files of perf before 4.0.
    pub cpus: Vec<CpuPlace>,
    /// Lists of the CPUs that share a die; `None` in files of perf before 5.3, or of machines without dies.
    pub die_siblings: Option<Vec<&'a [u8]>>,
}

/// The place of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuPlace {
    /// Its core.
    pub core_id: u32,
    /// Its socket.
    pub socket_id: u32,
    /// Its die; `None` if the file has no dies.
    pub die_id: Option<u32>,
}

/// The scheduling domains of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainInfo<'a> {
    /// Version of `/proc/schedstat`, the source of the domains.
    pub schedstat_version: u32,
    /// Maximum number of domains of a CPU.
    pub max_sched_domains: u32,
    /// The domains of each CPU.
    pub cpus: Vec<CpuDomains<'a>>,
}

/// The scheduling domains of a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuDomains<'a> {
    /// Number of the CPU.
    pub cpu: u32,
    /// Its domains, smallest first.
    pub domains: Vec<SchedDomain<'a>>,
}

/// A scheduling domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedDomain<'a> {
    /// Number of the domain on this CPU.
    pub domain: u32,
    /// Name of the domain, such as `SMT` or `MC`; `None` if the version of schedstat is below 17.
    pub dname: Option<&'a [u8]>,
    /// Its CPUs as a hexadecimal mask, such as `00000000,00000003`.
    pub cpumask: &'a [u8],
    /// Its CPUs as a list, such as `0-1`.
    pub cpulist: &'a [u8],
}

impl<'a> SchedDomain<'a> {
    fn parse<O: Endian>(at: &mut Cursor<'a>, schedstat_version: u32) -> Result<Self, Error> {
        Ok(Self {
            domain: number::<O>(at, "domain")?,
            dname: if schedstat_version >= 17 { Some(string::<O>(at, "dname")?) } else { None },
            cpumask: string::<O>(at, "cpumask")?,
            cpulist: string::<O>(at, "cpulist")?,
        })
    }
}
