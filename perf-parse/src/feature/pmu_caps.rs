//! `CPU_PMU_CAPS` and `PMU_CAPS`: what the PMUs can do.

use alloc::vec::Vec;

use perf_abi::endian::Endian;

use super::codec::{Fault, SectionField, entry};
use super::{Entries, FieldValue, Fields};
use crate::byte_str::ByteStr;
use crate::cursor::Cursor;
use crate::error::Error;

entry! {
    /// A capability: a file under `caps` of a PMU in sysfs.
    ///
    /// perf: `write_cpu_pmu_caps`, `tools/perf/util/header.c`.
    pub struct PmuCap<'a> {
        /// Name of the capability.
        pub name: ByteStr<'a>,
        /// Its value: the content of the file.
        pub value: ByteStr<'a>,
    }
}

/// The capabilities of a PMU.
///
/// perf: `write_pmu_caps`, `tools/perf/util/header.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PmuCaps<'a> {
    /// Name of the PMU.
    pub pmu_name: ByteStr<'a>,
    /// Its capabilities.
    pub caps: Entries<'a, PmuCap<'a>>,
}

impl<'a> SectionField<'a> for PmuCaps<'a> {
    fn take<O: Endian>(at: &mut Cursor<'a>, _: &'static str, _: u32) -> Result<Self, Error> {
        let caps = SectionField::take::<O>(at, "nr_caps", 0)?;
        Ok(Self { caps, pmu_name: SectionField::take::<O>(at, "pmu_name", 0)? })
    }

    fn put<O: Endian>(&self, out: &mut Vec<u8>, _: &'static str) -> Result<(), Fault> {
        self.caps.put::<O>(out, "nr_caps")?;
        self.pmu_name.put::<O>(out, "pmu_name")
    }

    fn value(&self) -> FieldValue<'_> {
        FieldValue::Object(self)
    }
}

impl Fields for PmuCaps<'_> {
    fn each(&self, to: &mut dyn FnMut(&'static str, FieldValue<'_>)) {
        to("pmu_name", self.pmu_name.value());
        to("caps", self.caps.value());
    }
}
