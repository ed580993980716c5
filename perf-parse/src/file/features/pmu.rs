//! PMUs: their types, CPUs and capabilities.

use alloc::vec::Vec;

use perf_abi::endian::Endian;
use perf_abi::event::EventType;

use super::FeatureSection;
use super::fields::{STRING, list, number, string};
use crate::cursor::Cursor;
use crate::error::Error;
use crate::error::FileError;

impl<'a> FeatureSection<'a> {
    /// Decodes `PMU_MAPPINGS`: type and name of each PMU.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn pmu_mappings<O: Endian>(&self) -> Result<Vec<(EventType, &'a [u8])>, FileError> {
        self.whole(|at| {
            list::<O, _>(at, "nr", 4 + STRING, |at| {
                Ok((EventType(number::<O>(at, "type")?), string::<O>(at, "name")?))
            })
        })
    }

    /// Decodes `HYBRID_TOPOLOGY`: the name and CPUs of each core PMU.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn hybrid_topology<O: Endian>(&self) -> Result<Vec<HybridPmu<'a>>, FileError> {
        self.whole(|at| {
            list::<O, _>(at, "nr", 2 * STRING, |at| {
                Ok(HybridPmu { pmu_name: string::<O>(at, "pmu_name")?, cpus: string::<O>(at, "cpus")? })
            })
        })
    }

    /// Decodes `CPU_PMU_CAPS`: the capabilities of the core PMU of a machine with one kind of cores.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn cpu_pmu_caps<O: Endian>(&self) -> Result<Vec<PmuCap<'a>>, FileError> {
        self.whole(caps::<O>)
    }

    /// Decodes `PMU_CAPS`: the capabilities of each of the other PMUs.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn pmu_caps<O: Endian>(&self) -> Result<Vec<PmuCaps<'a>>, FileError> {
        self.whole(|at| {
            list::<O, _>(at, "nr_pmu", 4 + STRING, |at| {
                Ok(PmuCaps { caps: caps::<O>(at)?, pmu_name: string::<O>(at, "pmu_name")? })
            })
        })
    }
}

fn caps<'a, O: Endian>(at: &mut Cursor<'a>) -> Result<Vec<PmuCap<'a>>, Error> {
    list::<O, _>(at, "nr_caps", 2 * STRING, |at| {
        Ok(PmuCap { name: string::<O>(at, "name")?, value: string::<O>(at, "value")? })
    })
}

/// A core PMU of a machine with several kinds of cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HybridPmu<'a> {
    /// Name of the PMU.
    pub pmu_name: &'a [u8],
    /// The list of its CPUs.
    pub cpus: &'a [u8],
}

/// A capability: a file under `caps` of a PMU in sysfs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PmuCap<'a> {
    /// Name of the capability.
    pub name: &'a [u8],
    /// Its value: the content of the file.
    pub value: &'a [u8],
}

/// The capabilities of a PMU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PmuCaps<'a> {
    /// Name of the PMU.
    pub pmu_name: &'a [u8],
    /// Its capabilities.
    pub caps: Vec<PmuCap<'a>>,
}
