//! `CPU_DOMAIN_INFO`: the scheduling domains of the CPUs.

use alloc::vec::Vec;

use perf_abi::endian::Endian;

use super::codec::{Fault, SectionField, number, put_number};
use super::{Entries, FeatureSection, FieldValue, Fields};
use crate::byte_str::ByteStr;
use crate::cursor::Cursor;
use crate::error::{Error, FileError};

/// The scheduling domains of a machine.
///
/// perf: `write_cpu_domain_info`, `tools/perf/util/header.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainInfo<'a> {
    /// Version of `/proc/schedstat`, the source of the domains.
    pub schedstat_version: u32,
    /// Maximum number of domains of a CPU.
    pub max_sched_domains: u32,
    /// The domains of each online CPU.
    pub cpus: Entries<'a, CpuDomains<'a>>,
}

/// The scheduling domains of a CPU.
///
/// perf: `struct cpu_domain_map`, `tools/perf/util/env.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuDomains<'a> {
    /// Number of the CPU.
    pub cpu: u32,
    /// Its domains, smallest first.
    pub domains: Entries<'a, SchedDomain<'a>>,
}

/// A scheduling domain.
///
/// perf: `struct domain_info`, `tools/perf/util/env.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedDomain<'a> {
    /// Number of the domain on this CPU.
    pub domain: u32,
    /// Name of the domain, such as `SMT` or `MC`; `None` if the version of schedstat is below 17.
    pub dname: Option<ByteStr<'a>>,
    /// Its CPUs as a hexadecimal mask, such as `00000000,00000003`.
    pub cpumask: ByteStr<'a>,
    /// Its CPUs as a list, such as `0-1`.
    pub cpulist: ByteStr<'a>,
}

/// The first version of schedstat with names of domains.
const WITH_NAMES: u32 = 17;

pub(super) fn decode<'a, O: Endian>(section: &FeatureSection<'a>) -> Result<DomainInfo<'a>, FileError> {
    section.whole(|at| {
        let schedstat_version = number::<O>(at, "schedstat_version")?;
        let max_sched_domains = number::<O>(at, "max_sched_domains")?;
        // The section has no number of CPUs.
        let (from, mut nr) = (*at, 0_u64);
        while !section.ends(at) {
            CpuDomains::take::<O>(at, "", schedstat_version)?;
            nr = nr.saturating_add(1);
        }
        let cpus = Entries::between::<O>(&from, at, nr, schedstat_version);
        Ok(DomainInfo { schedstat_version, max_sched_domains, cpus })
    })
}

pub(super) fn encode<O: Endian>(info: &DomainInfo<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
    let has_names = info.schedstat_version >= WITH_NAMES;
    if info.cpus.iter().flat_map(|cpu| cpu.domains).any(|it| it.dname.is_some() != has_names) {
        return Err(("dname", "given from schedstat_version 17 on, and not before"));
    }
    put_number::<O>(out, info.schedstat_version);
    put_number::<O>(out, info.max_sched_domains);
    info.cpus.put_all::<O>(out, "")
}

impl DomainInfo<'_> {
    pub(super) fn value(&self) -> FieldValue<'_> {
        FieldValue::Object(self)
    }
}

impl Fields for DomainInfo<'_> {
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        to("schedstat_version", self.schedstat_version.value());
        to("max_sched_domains", self.max_sched_domains.value());
        to("cpus", self.cpus.value());
    }
}

impl<'a> SectionField<'a> for CpuDomains<'a> {
    fn take<O: Endian>(at: &mut Cursor<'a>, _: &'static str, schedstat_version: u32) -> Result<Self, Error> {
        let cpu = number::<O>(at, "cpu")?;
        Ok(Self { cpu, domains: Entries::counted::<O>(at, "nr_domains", "", schedstat_version)? })
    }

    fn put<O: Endian>(&self, out: &mut Vec<u8>, _: &'static str) -> Result<(), Fault> {
        put_number::<O>(out, self.cpu);
        self.domains.put::<O>(out, "nr_domains")
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Object(self)
    }
}

impl Fields for CpuDomains<'_> {
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        to("cpu", self.cpu.value());
        to("domains", self.domains.value());
    }
}

impl<'a> SectionField<'a> for SchedDomain<'a> {
    fn take<O: Endian>(at: &mut Cursor<'a>, _: &'static str, schedstat_version: u32) -> Result<Self, Error> {
        let domain = number::<O>(at, "domain")?;
        let has_name = schedstat_version >= WITH_NAMES;
        Ok(Self {
            domain,
            dname: if has_name { Some(SectionField::take::<O>(at, "dname", 0)?) } else { None },
            cpumask: SectionField::take::<O>(at, "cpumask", 0)?,
            cpulist: SectionField::take::<O>(at, "cpulist", 0)?,
        })
    }

    fn put<O: Endian>(&self, out: &mut Vec<u8>, _: &'static str) -> Result<(), Fault> {
        put_number::<O>(out, self.domain);
        self.dname.map_or(Ok(()), |dname| dname.put::<O>(out, "dname"))?;
        self.cpumask.put::<O>(out, "cpumask")?;
        self.cpulist.put::<O>(out, "cpulist")
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Object(self)
    }
}

impl Fields for SchedDomain<'_> {
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        to("domain", self.domain.value());
        to("cpumask", self.cpumask.value());
        to("cpulist", self.cpulist.value());
        if let Some(dname) = &self.dname {
            to("dname", dname.value());
        }
    }
}
