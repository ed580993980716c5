//! Feature sections: what the recorder knew about the machine, the events and itself.
//!
//! [`FeatureSection`] is a section as it was recorded. [`FeatureSection::decode`] decodes it into a [`FeatureData`],
//! and [`FeatureData::encode`] encodes the data again. [`Features`] is the collection of the sections of a capture,
//! with a method for each. Each section has its own source file, named after the section.
//!
//! # Examples
//!
//! ```
//! use perf_parse::Reader;
//!
//! # let path = "examples/captures/plain.data";
//! let reader = Reader::open(path)?;
//! let features = reader.features();
//! if let Some(hostname) = features.hostname()? {
//!     println!("recorded on {hostname}");
//! }
//! for file in features.build_ids()?.unwrap_or_default() {
//!     println!("{:02x?} {}", file.build_id, file.filename);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod auxtrace;
mod bpf_btf;
mod bpf_prog_info;
mod build_id;
mod cache;
mod clock_data;
mod clockid;
pub(crate) mod codec;
mod collection;
mod compressed;
mod cpu_domain_info;
mod cpu_topology;
mod dir_format;
mod e_machine;
mod entries;
pub(crate) mod event_desc;
mod group_desc;
mod hybrid_topology;
mod mem_topology;
mod nrcpus;
mod numa_topology;
mod pmu_caps;
mod pmu_mappings;
mod sample_time;
mod section;
mod simpleperf;
mod tracing_data;
mod value;

pub use auxtrace::AuxtraceEntry;
pub use bpf_btf::BpfBtf;
pub use bpf_prog_info::{BpfLineInfo, BpfProgInfo, BpfProgram};
pub use build_id::BuildId;
pub use cache::Cache;
pub use clock_data::ClockData;
pub use clockid::ClockId;
pub use collection::{Features, FeaturesIter};
pub use compressed::Compression;
pub use cpu_domain_info::{CpuDomains, DomainInfo, SchedDomain};
pub use cpu_topology::{CpuPlace, CpuTopology, Dies};
pub use dir_format::DirFormat;
pub use e_machine::EMachine;
pub use entries::{Entries, EntriesIter};
pub use event_desc::{EventDesc, EventDescs};
pub use group_desc::GroupDesc;
pub use hybrid_topology::HybridPmu;
pub use mem_topology::{Bitmap, MemNode, MemTopology};
pub use nrcpus::NrCpus;
pub use numa_topology::NumaNode;
pub use pmu_caps::{PmuCap, PmuCaps};
pub use pmu_mappings::PmuMapping;
pub use sample_time::SampleTime;
pub use section::FeatureSection;
pub(crate) use section::is_absent;
pub use simpleperf::{
    DebugUnwindFile, DexFileOffset, EtmAddress, EtmBinary, EtmBranch, EtmBranchList, EventTypeInfo, InitMap,
    MetaInfo, MetaInfoEntry, StoredFile, StoredSymbol,
};
pub use value::{FieldValue, Fields, Items};

use alloc::vec::Vec;

use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_abi::feature::Feature;

use crate::byte_str::ByteStr;
use crate::error::FileError;
use codec::{Fault, SectionField};
use simpleperf::{debug_unwind, etm_branch_list, file, file2, init_map, meta_info};

/// The reason why a section cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EncodeError {
    /// The feature.
    pub feature: Feature,
    /// The field of the section; empty for the whole section.
    pub field: &'static str,
    /// The requirement that the field does not meet.
    pub must: &'static str,
}

impl EncodeError {
    fn new(feature: Feature, (field, must): Fault) -> Self {
        Self { feature, field, must }
    }
}

impl core::fmt::Display for EncodeError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { feature, field, must } = self;
        match *field {
            "" => write!(f, "feature {feature}: must be {must}"),
            field => write!(f, "feature {feature}: {field}: must be {must}"),
        }
    }
}

impl core::error::Error for EncodeError {}

/// Decodes or encodes a payload: one field with a name, or with the functions of a section's file.
macro_rules! codec {
    (decode $O:ident, $section:ident, $name:literal) => {
        $section.whole(|at| SectionField::take::<$O>(at, $name, 0))
    };
    (decode $O:ident, $section:ident, $file:ident) => {
        $file::decode::<$O>($section)
    };
    (encode $O:ident, $data:ident, $out:ident, $name:literal) => {
        SectionField::put::<$O>($data, $out, $name)
    };
    (encode $O:ident, $data:ident, $out:ident, $file:ident) => {
        $file::encode::<$O>($data, $out)
    };
}

/// The one table of sections: the constant of the feature, the variant and type of the decoded section, the method of
/// [`Features`], and the name of its one field, or the file that decodes and encodes it.
macro_rules! sections {
    (
        marks { $( $(#[$mark_doc:meta])* $MARK:ident = $Mark:ident, $has:ident; )* }
        payloads {
            $( $(#[$doc:meta])* $FEATURE:ident = $Variant:ident($Type:ty), $get:ident, $codec:tt; )*
        }
    ) => {
        /// A decoded feature section. Borrows the bytes of the section and allocates nothing.
        ///
        /// perf: a `write_` function for each, with the name of the feature in lower case: `write_hostname`,
        /// `tools/perf/util/header.c`.
        ///
        /// Newer versions of perf have more features, so more variants will be added.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum FeatureData<'a> {
            $( $(#[$mark_doc])* $Mark, )*
            $( $(#[$doc])* $Variant($Type), )*
            /// `TRACING_DATA`: the formats of the tracepoints, as trace-cmd writes them. See
            /// [`TracingData`](crate::tracepoint::TracingData).
            ///
            /// perf: `read_tracing_data`, `tools/perf/util/trace-event-info.c`.
            TracingData(&'a [u8]),
            /// `DEBUG_UNWIND_FILE` of simpleperf: the bytes of the files in `DEBUG_UNWIND`, one after another.
            DebugUnwindFile(&'a [u8]),
            /// A feature that this crate does not know.
            Other {
                /// The feature.
                feature: Feature,
                /// The bytes of the section.
                bytes: &'a [u8],
            },
        }

        impl<'a> FeatureData<'a> {
            /// The features that this crate decodes.
            pub const KNOWN: &'static [Feature] =
                &[$( Feature::$MARK, )* $( Feature::$FEATURE, )* Feature::TRACING_DATA, Feature::DEBUG_UNWIND_FILE];

            fn of<O: Endian>(section: &FeatureSection<'a>) -> Result<Self, FileError> {
                Ok(match section.feature {
                    $( Feature::$MARK => {
                        section.whole(|_| Ok(()))?;
                        Self::$Mark
                    } )*
                    $( Feature::$FEATURE => Self::$Variant(codec!(decode O, section, $codec)?), )*
                    Feature::TRACING_DATA => Self::TracingData(section.bytes),
                    Feature::DEBUG_UNWIND_FILE => Self::DebugUnwindFile(section.bytes),
                    feature => Self::Other { feature, bytes: section.bytes },
                })
            }

            fn put<O: Endian>(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
                match self {
                    $( Self::$Mark => Ok(()), )*
                    $( Self::$Variant(data) => codec!(encode O, data, out, $codec), )*
                    Self::TracingData(bytes) | Self::DebugUnwindFile(bytes) | Self::Other { bytes, .. } => {
                        out.extend_from_slice(bytes);
                        Ok(())
                    }
                }
            }

            /// Returns the feature.
            #[must_use]
            pub const fn feature(&self) -> Feature {
                match self {
                    $( Self::$Mark => Feature::$MARK, )*
                    $( Self::$Variant(_) => Feature::$FEATURE, )*
                    Self::TracingData(_) => Feature::TRACING_DATA,
                    Self::DebugUnwindFile(_) => Feature::DEBUG_UNWIND_FILE,
                    Self::Other { feature, .. } => *feature,
                }
            }

            /// Returns the content as fields with perf's names, for programs that print or convert any section.
            #[must_use]
            pub fn value(&self) -> FieldValue<'_> {
                match self {
                    $( Self::$Mark => FieldValue::Object(&()), )*
                    $( Self::$Variant(data) => data.value(), )*
                    Self::TracingData(bytes) | Self::DebugUnwindFile(bytes) | Self::Other { bytes, .. } => FieldValue::Bytes(bytes),
                }
            }
        }

        /// The name of the feature, and for a section with content its [`value`](FeatureData::value).
        #[cfg(feature = "serde")]
        impl serde::Serialize for FeatureData<'_> {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                let (number, value) = (self.feature().0, self.value());
                match self {
                    $( Self::$Mark => to.serialize_unit_variant("FeatureData", number, stringify!($MARK)), )*
                    $( Self::$Variant(_) => {
                        to.serialize_newtype_variant("FeatureData", number, stringify!($FEATURE), &value)
                    } )*
                    Self::TracingData(_) => {
                        to.serialize_newtype_variant("FeatureData", number, "TRACING_DATA", &value)
                    }
                    Self::DebugUnwindFile(_) => {
                        to.serialize_newtype_variant("FeatureData", number, "DEBUG_UNWIND_FILE", &value)
                    }
                    Self::Other { feature, .. } => {
                        use serde::ser::SerializeStructVariant;

                        let mut to = to.serialize_struct_variant("FeatureData", number, "OTHER", 2)?;
                        to.serialize_field("feature", feature)?;
                        to.serialize_field("bytes", &value)?;
                        to.end()
                    }
                }
            }
        }

        #[allow(clippy::needless_lifetimes, reason = "not every section borrows")]
        /// The decoded sections. A method returns `None` if the capture does not have the section, and an error as
        /// [`FeatureSection::decode`] does.
        impl Features<'_> {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                ///
                /// Those of [`FeatureSection::decode`].
                pub fn $get<'a>(&'a self) -> Result<Option<$Type>, FileError> {
                    match self.get(Feature::$FEATURE).map(|section| section.decode()).transpose()? {
                        Some(FeatureData::$Variant(data)) => Ok(Some(data)),
                        _ => Ok(None),
                    }
                }
            )*

            $(
                /// Returns whether the capture has this section, which has no bytes.
                $(#[$mark_doc])*
                #[must_use]
                pub fn $has(&self) -> bool {
                    self.get(Feature::$MARK).is_some()
                }
            )*
        }
    };
}

sections! {
    marks {
        /// `BRANCH_STACK`: samples have branch stacks.
        BRANCH_STACK = BranchStack, has_branch_stack;
        /// `STAT`: perf stat wrote the file.
        STAT = Stat, has_stat;
    }
    payloads {
        /// `BUILD_ID`: the build ids of the files that samples hit.
        BUILD_ID = BuildId(Entries<'a, BuildId<'a>>), build_ids, build_id;
        /// `HOSTNAME`: name of the machine.
        HOSTNAME = Hostname(ByteStr<'a>), hostname, "string";
        /// `OSRELEASE`: release of the kernel.
        OSRELEASE = OsRelease(ByteStr<'a>), os_release, "string";
        /// `VERSION`: version of the perf tool.
        VERSION = Version(ByteStr<'a>), version, "string";
        /// `ARCH`: machine name, as in `uname -m`.
        ARCH = Arch(ByteStr<'a>), arch, "string";
        /// `NRCPUS`: the number of CPUs.
        NRCPUS = NrCpus(NrCpus), nr_cpus, "";
        /// `CPUDESC`: name of the CPU.
        CPUDESC = CpuDesc(ByteStr<'a>), cpu_desc, "string";
        /// `CPUID`: vendor, family, model and stepping of the CPU.
        CPUID = CpuId(ByteStr<'a>), cpu_id, "string";
        /// `TOTAL_MEM`: size of the memory in KiB.
        TOTAL_MEM = TotalMem(u64), total_mem, "total_mem";
        /// `CMDLINE`: the words of the command line.
        CMDLINE = CmdLine(Entries<'a, ByteStr<'a>>), cmdline, "nr";
        /// `EVENT_DESC`: attr, name and ids of each event.
        EVENT_DESC = EventDesc(EventDescs<'a>), event_desc, event_desc;
        /// `CPU_TOPOLOGY`: cores, dies and sockets.
        CPU_TOPOLOGY = CpuTopology(CpuTopology<'a>), cpu_topology, cpu_topology;
        /// `NUMA_TOPOLOGY`: the NUMA nodes, their memory and CPUs.
        NUMA_TOPOLOGY = NumaTopology(Entries<'a, NumaNode<'a>>), numa_topology, "nr";
        /// `PMU_MAPPINGS`: type and name of each PMU.
        PMU_MAPPINGS = PmuMappings(Entries<'a, PmuMapping<'a>>), pmu_mappings, "nr";
        /// `GROUP_DESC`: the groups of more than one event.
        GROUP_DESC = GroupDesc(Entries<'a, GroupDesc<'a>>), group_desc, "nr";
        /// `AUXTRACE`: the positions of the AUXTRACE records.
        AUXTRACE = Auxtrace(Entries<'a, AuxtraceEntry>), auxtrace, auxtrace;
        /// `CACHE`: the caches of the CPUs.
        CACHE = Cache(Entries<'a, Cache<'a>>), cache, cache;
        /// `SAMPLE_TIME`: the times of the first and the last sample.
        SAMPLE_TIME = SampleTime(SampleTime), sample_time, "";
        /// `MEM_TOPOLOGY`: the blocks of memory of each NUMA node.
        MEM_TOPOLOGY = MemTopology(MemTopology<'a>), mem_topology, mem_topology;
        /// `CLOCKID`: resolution of the events' clock.
        CLOCKID = ClockId(ClockId), clock_id, "";
        /// `DIR_FORMAT`: the recording is a folder, with the layout of this version.
        DIR_FORMAT = DirFormat(DirFormat), dir_format, "";
        /// `BPF_PROG_INFO`: the BPF programs that were loaded.
        BPF_PROG_INFO = BpfProgInfo(Entries<'a, BpfProgInfo<'a>>), bpf_prog_info, "nr";
        /// `BPF_BTF`: the types of BPF programs.
        BPF_BTF = BpfBtf(Entries<'a, BpfBtf<'a>>), bpf_btf, "nr";
        /// `COMPRESSED`: how the records are compressed.
        COMPRESSED = Compressed(Compression), compressed, "";
        /// `CPU_PMU_CAPS`: the capabilities of the core PMU of a machine with one kind of cores.
        CPU_PMU_CAPS = CpuPmuCaps(Entries<'a, PmuCap<'a>>), cpu_pmu_caps, "nr_caps";
        /// `CLOCK_DATA`: one moment, on the wall clock and on the events' clock.
        CLOCK_DATA = ClockData(ClockData), clock_data, clock_data;
        /// `HYBRID_TOPOLOGY`: the name and CPUs of each core PMU.
        HYBRID_TOPOLOGY = HybridTopology(Entries<'a, HybridPmu<'a>>), hybrid_topology, "nr";
        /// `PMU_CAPS`: the capabilities of each of the other PMUs.
        PMU_CAPS = PmuCaps(Entries<'a, PmuCaps<'a>>), pmu_caps, "nr_pmu";
        /// `CPU_DOMAIN_INFO`: the scheduling domains of each online CPU.
        CPU_DOMAIN_INFO = CpuDomainInfo(DomainInfo<'a>), cpu_domain_info, cpu_domain_info;
        /// `E_MACHINE`: the machine as ELF files identify it.
        E_MACHINE = EMachine(EMachine), e_machine, "";
        /// `CLN_SIZE`: size of a cache line in bytes.
        CLN_SIZE = ClnSize(u32), cln_size, "cln_size";
        /// `FILE` of simpleperf: files and their symbols.
        FILE = File(Entries<'a, StoredFile<'a>>), file, file;
        /// `META_INFO` of simpleperf: facts about the recording.
        META_INFO = MetaInfo(MetaInfo<'a>), meta_info, meta_info;
        /// `DEBUG_UNWIND` of simpleperf: the files in `DEBUG_UNWIND_FILE`.
        DEBUG_UNWIND = DebugUnwind(Entries<'a, DebugUnwindFile<'a>>), debug_unwind, debug_unwind;
        /// `FILE2` of simpleperf: files and their symbols, in newer captures.
        FILE2 = File2(Entries<'a, StoredFile<'a>>), file2, file2;
        /// `ETM_BRANCH_LIST` of simpleperf: the branches of the ETM data.
        ETM_BRANCH_LIST = EtmBranchList(EtmBranchList<'a>), etm_branch_list, etm_branch_list;
        /// `INIT_MAP` of simpleperf: records of the mappings and names at the start of the recording.
        INIT_MAP = InitMap(InitMap<'a>), init_map, init_map;
    }
}

/// Fails to compile if perf-abi has a feature that the table above lacks. `RESERVED` is not a feature.
const _: () = assert!(FeatureData::KNOWN.len() == Feature::NAMES.len().saturating_sub(1));

impl FeatureData<'_> {
    /// Encodes the section in this byte order, as [`FeatureSection::decode`] reads it.
    ///
    /// Strings are padded as perf pads them.
    ///
    /// # Errors
    ///
    /// [`EncodeError`] for what the section cannot hold, such as a string with a NUL inside.
    pub fn encode(&self, order: Endianness) -> Result<Vec<u8>, EncodeError> {
        let mut out = Vec::new();
        let put = match order {
            Endianness::Little => self.put::<LittleEndian>(&mut out),
            Endianness::Big => self.put::<BigEndian>(&mut out),
        };
        put.map_err(|fault| EncodeError::new(self.feature(), fault))?;
        Ok(out)
    }
}

impl<'a> FeatureSection<'a> {
    /// Decodes the section.
    ///
    /// A section is decoded to its last byte, or this method returns an error. The exception is padding: some builds of
    /// perf pad the features of a pipe with zeros to a multiple of 8 bytes.
    ///
    /// This allocates nothing. Lists are checked here and decoded again by their iterators, so the time is linear in the
    /// size of the section. TRACING_DATA and unknown features are not checked.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Feature`](crate::error::FileErrorKind::Feature) if the section ends within a field, a string has
    /// no NUL, or bytes are left after the last field. The error's offset is that of the field or of these bytes.
    /// [`FileErrorKind::Invalid`](crate::error::FileErrorKind::Invalid) for an unknown version of `CACHE`, `CLOCK_DATA` or
    /// `MEM_TOPOLOGY`. [`FileErrorKind::Attr`](crate::error::FileErrorKind::Attr) for an attr of `EVENT_DESC`. For
    /// `CPU_TOPOLOGY` also the error of `NRCPUS`, which has the number of CPUs.
    pub fn decode(&self) -> Result<FeatureData<'a>, FileError> {
        match self.endianness() {
            Endianness::Little => FeatureData::of::<LittleEndian>(self),
            Endianness::Big => FeatureData::of::<BigEndian>(self),
        }
    }

    /// Decodes the part of the section before the first fault, and returns the fault. For `BUILD_ID` and `EVENT_DESC`
    /// this part is the entries before the fault. Other sections are decoded entirely or not at all.
    #[must_use]
    pub fn decode_until_fault(&self) -> (Option<FeatureData<'a>>, Option<FileError>) {
        match self.endianness() {
            Endianness::Little => self.until_fault::<LittleEndian>(),
            Endianness::Big => self.until_fault::<BigEndian>(),
        }
    }

    fn until_fault<O: Endian>(&self) -> (Option<FeatureData<'a>>, Option<FileError>) {
        match self.feature {
            Feature::BUILD_ID => {
                let (ids, fault) = build_id::until_fault::<O>(self);
                (Some(FeatureData::BuildId(ids)), fault)
            }
            Feature::EVENT_DESC => {
                let (events, fault) = event_desc::until_fault::<O>(self);
                (Some(FeatureData::EventDesc(events)), fault)
            }
            _ => match FeatureData::of::<O>(self) {
                Ok(data) => (Some(data), None),
                Err(error) => (None, Some(error)),
            },
        }
    }
}

/// Serializes decoded structs as their [`FieldValue`].
#[cfg(feature = "serde")]
macro_rules! as_values {
    ($($Struct:ident)+) => {$(
        impl serde::Serialize for $Struct<'_> {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                self.value().serialize(to)
            }
        }
    )+};
}

#[cfg(feature = "serde")]
as_values! {
    BpfBtf BpfProgInfo CpuDomains CpuTopology DomainInfo EtmBranchList EventDesc EventDescs InitMap MemNode MemTopology
    MetaInfo MetaInfoEntry PmuCaps SchedDomain StoredFile StoredSymbol
}
