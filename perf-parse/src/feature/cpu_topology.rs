//! `CPU_TOPOLOGY`: cores, dies and sockets.

use alloc::vec::Vec;

use perf_abi::endian::Endian;

use super::codec::{Fault, SectionField, entry};
use super::{Entries, FeatureSection, FieldValue, Fields};
use crate::byte_str::ByteStr;
use crate::error::FileError;

/// The topology of the CPUs of a machine.
///
/// perf: `write_cpu_topology`, `tools/perf/util/header.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTopology<'a> {
    /// Lists of the CPUs that share a package.
    pub core_siblings: Entries<'a, ByteStr<'a>>,
    /// Lists of the CPUs that share a core.
    pub thread_siblings: Entries<'a, ByteStr<'a>>,
    /// The core and socket of each CPU; empty in files of perf before 4.0.
    pub cpus: Entries<'a, CpuPlace>,
    /// The dies; `None` in files of perf before 5.3, or of machines without dies.
    pub dies: Option<Dies<'a>>,
}

entry! {
    /// The place of a CPU.
    pub struct CpuPlace {
        /// Its core.
        pub core_id: u32,
        /// Its socket.
        pub socket_id: u32,
    }
}

/// The dies of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Dies<'a> {
    /// Lists of the CPUs that share a die.
    pub die_siblings: Entries<'a, ByteStr<'a>>,
    /// The die of each CPU.
    pub die_ids: Entries<'a, u32>,
}

impl<'a> CpuTopology<'a> {
    /// Returns the place of each CPU, and its die if the dies are known.
    pub fn places(&self) -> impl Iterator<Item = (CpuPlace, Option<u32>)> + use<'a> {
        let mut die_ids = self.dies.map(|dies| dies.die_ids.iter());
        self.cpus.iter().map(move |cpu| (cpu, die_ids.as_mut().and_then(Iterator::next)))
    }
}

/// Decodes a section. The number of CPUs is not in the section, but in `NRCPUS`.
pub(super) fn decode<'a, O: Endian>(section: &FeatureSection<'a>) -> Result<CpuTopology<'a>, FileError> {
    let nr_cpus = u64::from(section.nr_cpus?);
    section.whole(|at| {
        let core_siblings = Entries::counted::<O>(at, "nr_core_siblings", "core_siblings", 0)?;
        let thread_siblings = Entries::counted::<O>(at, "nr_thread_siblings", "thread_siblings", 0)?;
        let (mut cpus, mut dies) = (Entries::default(), None);
        // The first versions of perf wrote only the siblings. Later versions added the CPUs, and then the dies.
        if !section.ends(at) {
            cpus = Entries::of::<O>(at, nr_cpus, "", 0)?;
        }
        if !section.ends(at) {
            let die_siblings = Entries::counted::<O>(at, "nr_die_siblings", "die_siblings", 0)?;
            dies = Some(Dies { die_siblings, die_ids: Entries::of::<O>(at, nr_cpus, "die_id", 0)? });
        }
        Ok(CpuTopology { core_siblings, thread_siblings, cpus, dies })
    })
}

/// Encodes a topology. To decode it, a capture must have an `NRCPUS` with the number of CPUs in `topology`.
pub(super) fn encode<O: Endian>(topology: &CpuTopology<'_>, out: &mut Vec<u8>) -> Result<(), Fault> {
    topology.core_siblings.put::<O>(out, "core_siblings")?;
    topology.thread_siblings.put::<O>(out, "thread_siblings")?;
    topology.cpus.put_all::<O>(out, "")?;
    let Some(Dies { die_siblings, die_ids }) = topology.dies else { return Ok(()) };
    if die_ids.len() != topology.cpus.len() {
        return Err(("die_id", "given for every cpu, and for no other"));
    }
    die_siblings.put::<O>(out, "die_siblings")?;
    die_ids.put_all::<O>(out, "die_id")
}

impl CpuTopology<'_> {
    pub(super) fn value(&self) -> FieldValue<'_> {
        FieldValue::Object(self)
    }
}

impl Fields for CpuTopology<'_> {
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        to("core_siblings", self.core_siblings.value());
        to("thread_siblings", self.thread_siblings.value());
        to("cpus", FieldValue::List(&CpuPlaceList(*self)));
        if let Some(dies) = &self.dies {
            to("die_siblings", dies.die_siblings.value());
        }
    }
}

/// The place of each CPU, as one list with the dies.
#[derive(Debug)]
struct CpuPlaceList<'a>(CpuTopology<'a>);

impl super::Items for CpuPlaceList<'_> {
    fn each(&self, to: &mut dyn FnMut(FieldValue<'_>)) {
        self.0.places().for_each(|(cpu, die_id)| to(FieldValue::Object(&CpuPlaceWithDie { cpu, die_id })));
    }
}

#[derive(Debug)]
struct CpuPlaceWithDie {
    cpu: CpuPlace,
    die_id: Option<u32>,
}

impl Fields for CpuPlaceWithDie {
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        self.cpu.each(to);
        if let Some(die_id) = &self.die_id {
            to("die_id", die_id.value());
        }
    }
}
