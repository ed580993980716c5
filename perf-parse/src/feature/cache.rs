//! `CACHE`: the caches of the CPUs.

use alloc::vec::Vec;

use perf_abi::endian::Endian;

use super::codec::{Fault, SectionField, entry, number, put_number};
use super::{Entries, FeatureSection};
use crate::byte_str::ByteStr;
use crate::error::FileError;

entry! {
    /// A cache, and the CPUs that share it.
    ///
    /// perf: `struct cpu_cache_level`, `tools/perf/util/env.h`; `write_cache`, `tools/perf/util/header.c`.
    pub struct Cache<'a> {
        /// Level of the cache; 1 is nearest to the CPU.
        pub level: u32,
        /// Size of a line in bytes.
        pub line_size: u32,
        /// Number of sets.
        pub sets: u32,
        /// Number of ways of associativity.
        pub ways: u32,
        /// `Data`, `Instruction` or `Unified`.
        pub kind as "type": ByteStr<'a>,
        /// Size of the cache with its unit, such as `32K`.
        pub size: ByteStr<'a>,
        /// The list of the CPUs that share the cache.
        pub map: ByteStr<'a>,
    }
}

pub(super) fn decode<'a, O: Endian>(
    section: &FeatureSection<'a>,
) -> Result<Entries<'a, Cache<'a>>, FileError> {
    let version = |at: &mut _| number::<O>(at, "version").map(u64::from);
    section.check_version("cache.version", version)?;
    section.whole(|at| {
        version(at)?;
        SectionField::take::<O>(at, "nr", 0)
    })
}

pub(super) fn encode<O: Endian>(caches: &Entries<'_, Cache<'_>>, out: &mut Vec<u8>) -> Result<(), Fault> {
    put_number::<O>(out, 1);
    caches.put::<O>(out, "nr")
}
