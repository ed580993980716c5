//! The payloads of the feature sections.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::marker::PhantomData;

use perf_abi::endian::{Endian, I32, U16, U32, U64};
use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use perf_abi::file::CompressType;
use perf_abi::record::{HeaderBuildId, Misc, RecordType};
use zerocopy::{Immutable, IntoBytes};

use super::compress::MMAP_LEN;
use super::error::WriteFileError;
use super::{Zstd, pad};
use crate::file::features::is_absent;
use crate::file::{BuildId, Cache, ClockData, CpuTopology, GroupDesc, HybridPmu, NumaNode};

/// perf pads names to a multiple of this number of bytes.
const NAME_ALIGN: usize = 64;

/// A fault in a payload: the field, and what it must be.
type Fault = (&'static str, &'static str);

/// What is known about the machine, the tool and the events: one payload for each feature, in byte order `O`.
///
/// Setting a feature again replaces it. `COMPRESSED` and `AUXTRACE` describe the bytes of a capture, so the writers
/// create them: payloads that are set for them are replaced, or left out if the capture is not compressed or has no
/// AUXTRACE records.
///
/// # Examples
///
/// ```
/// use perf_parse::abi::endian::LittleEndian;
/// use perf_parse::abi::feature::Feature;
/// use perf_parse::file::write::Features;
///
/// let mut features = Features::<LittleEndian>::new();
/// features.string(Feature::ARCH, b"x86_64")?;
/// features.nr_cpus(8, 4);
/// assert_eq!(features.get(Feature::NRCPUS), Some(&[8, 0, 0, 0, 4, 0, 0, 0][..]));
/// assert!(features.string(Feature::HOSTNAME, b"two\0parts").is_err());
/// # Ok::<(), perf_parse::file::write::WriteFileError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features<O> {
    payloads: BTreeMap<Feature, Vec<u8>>,
    order: PhantomData<O>,
}

impl<O: Endian> Default for Features<O> {
    fn default() -> Self {
        Self::new()
    }
}

impl<O: Endian> Features<O> {
    /// Creates an empty set of features.
    #[must_use]
    pub const fn new() -> Self {
        Self { payloads: BTreeMap::new(), order: PhantomData }
    }

    /// Returns the payload of a feature; `None` if it was not set.
    #[must_use]
    pub fn get(&self, feature: Feature) -> Option<&[u8]> {
        self.payloads.get(&feature).map(Vec::as_slice)
    }

    /// Returns the features and their payloads, in ascending order of features.
    pub fn iter(&self) -> impl Iterator<Item = (Feature, &[u8])> {
        self.payloads.iter().map(|(feature, payload)| (*feature, payload.as_slice()))
    }

    /// Removes a feature and returns its payload.
    pub fn remove(&mut self, feature: Feature) -> Option<Vec<u8>> {
        self.payloads.remove(&feature)
    }

    /// Sets any feature to a payload: one that was read from a capture of the same byte order, or an empty one for
    /// `BRANCH_STACK` and `STAT`. For other known features an empty payload removes the feature, as readers do.
    ///
    /// # Errors
    ///
    /// [`WriteFileError::Feature`] for a number that has no bit in the header of a file.
    pub fn raw(&mut self, feature: Feature, payload: &[u8]) -> Result<(), WriteFileError> {
        if !(Feature::FIRST..Feature::FEAT_BITS).contains(&feature.0) {
            return Err(WriteFileError::Feature { feature, field: "", must: "a number from 1 to 255" });
        }
        if is_absent(feature, payload.len() as u64) {
            self.payloads.remove(&feature);
        } else {
            self.payloads.insert(feature, payload.to_vec());
        }
        Ok(())
    }

    /// Sets a feature that is one string: `HOSTNAME`, `OSRELEASE`, `VERSION`, `ARCH`, `CPUDESC`, `CPUID`.
    ///
    /// # Errors
    ///
    /// [`WriteFileError::Feature`] for a string with a NUL inside, or one of 4 GiB.
    pub fn string(&mut self, feature: Feature, value: &[u8]) -> Result<(), WriteFileError> {
        self.insert(feature, |out| string::<O>(out, value).map_err(|must| ("string", must)))
    }

    /// Sets `CMDLINE`: the words of the command line.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn cmdline(&mut self, words: &[&[u8]]) -> Result<(), WriteFileError> {
        self.insert(Feature::CMDLINE, |out| strings::<O>(out, "cmdline", words))
    }

    /// Sets `NRCPUS`: the number of CPUs available and the number of CPUs online.
    pub fn nr_cpus(&mut self, available: u32, online: u32) {
        self.fixed(Feature::NRCPUS, &[U32::<O>::new(available), U32::new(online)]);
    }

    /// Sets `TOTAL_MEM`: the size of the memory in KiB.
    pub fn total_mem(&mut self, kib: u64) {
        self.fixed(Feature::TOTAL_MEM, &U64::<O>::new(kib));
    }

    /// Sets `SAMPLE_TIME`: the times of the first and the last sample, in nanoseconds of the events' clock.
    pub fn sample_time(&mut self, first: u64, last: u64) {
        self.fixed(Feature::SAMPLE_TIME, &[U64::<O>::new(first), U64::new(last)]);
    }

    /// Sets `CLOCKID`: the resolution of the events' clock in nanoseconds.
    pub fn clockid(&mut self, resolution_ns: u64) {
        self.fixed(Feature::CLOCKID, &U64::<O>::new(resolution_ns));
    }

    /// Sets `CLOCK_DATA`: one moment, on the wall clock and on the events' clock.
    pub fn clock_data(&mut self, data: &ClockData) {
        let mut payload = Vec::new();
        put(&mut payload, &[U32::<O>::new(data.version), U32::new(data.clockid)]);
        put(&mut payload, &[U64::<O>::new(data.wall_clock_ns), U64::new(data.clockid_time_ns)]);
        self.payloads.insert(Feature::CLOCK_DATA, payload);
    }

    /// Sets `CPU_TOPOLOGY`: the topology of the CPUs. To decode it, pass the number of CPUs in `topology`.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string), and if a CPU has a `die_id` without `die_siblings`, or `die_siblings` is given and
    /// a CPU has no `die_id`.
    pub fn cpu_topology(&mut self, topology: &CpuTopology<'_>) -> Result<(), WriteFileError> {
        self.insert(Feature::CPU_TOPOLOGY, |out| {
            strings::<O>(out, "core_siblings", &topology.core_siblings)?;
            strings::<O>(out, "thread_siblings", &topology.thread_siblings)?;
            for cpu in &topology.cpus {
                put(out, &[U32::<O>::new(cpu.core_id), U32::new(cpu.socket_id)]);
            }
            if let Some(dies) = &topology.die_siblings {
                strings::<O>(out, "die_siblings", dies)?;
            }
            for cpu in &topology.cpus {
                match (cpu.die_id, &topology.die_siblings) {
                    (Some(die_id), Some(_)) => put(out, &U32::<O>::new(die_id)),
                    (None, None) => {}
                    _ => return Err(("die_id", "given for every cpu, and die_siblings too, or for none")),
                }
            }
            Ok(())
        })
    }

    /// Sets `NUMA_TOPOLOGY`: memory and CPUs of each NUMA node.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn numa_topology(&mut self, nodes: &[NumaNode<'_>]) -> Result<(), WriteFileError> {
        self.insert(Feature::NUMA_TOPOLOGY, |out| {
            list::<O, _>(out, "numa_topology", nodes, |out, node| {
                put(out, &U32::<O>::new(node.node));
                put(out, &[U64::<O>::new(node.mem_total), U64::new(node.mem_free)]);
                string::<O>(out, node.cpus)
            })
        })
    }

    /// Sets `CACHE`: the caches of the CPUs.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn cache(&mut self, caches: &[Cache<'_>]) -> Result<(), WriteFileError> {
        self.insert(Feature::CACHE, |out| {
            put(out, &U32::<O>::new(1));
            list::<O, _>(out, "cache", caches, |out, cache| {
                put(out, &[cache.level, cache.line_size, cache.sets, cache.ways].map(U32::<O>::new));
                [cache.kind, cache.size, cache.map].iter().try_for_each(|text| string::<O>(out, text))
            })
        })
    }

    /// Sets `MEM_TOPOLOGY`: the size of a block of memory in bytes, and the number and the blocks of each NUMA node.
    ///
    /// A node is written with one bit for each block up to its highest.
    ///
    /// # Errors
    ///
    /// [`WriteFileError::Feature`] for a block number of 2^31 - 1 or more, which perf does not read.
    pub fn mem_topology(
        &mut self,
        block_size_bytes: u64,
        nodes: &[(u64, &[u32])],
    ) -> Result<(), WriteFileError> {
        self.insert(Feature::MEM_TOPOLOGY, |out| {
            put(out, &[1, block_size_bytes, nodes.len() as u64].map(U64::<O>::new));
            nodes.iter().try_for_each(|(node, blocks)| mem_node::<O>(out, *node, blocks))
        })
    }

    /// Sets `PMU_MAPPINGS`: type and name of each PMU.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn pmu_mappings(&mut self, pmus: &[(EventType, &[u8])]) -> Result<(), WriteFileError> {
        self.insert(Feature::PMU_MAPPINGS, |out| {
            list::<O, _>(out, "pmu_mappings", pmus, |out, (kind, name)| {
                put(out, &U32::<O>::new(kind.0));
                string::<O>(out, name)
            })
        })
    }

    /// Sets `GROUP_DESC`: the groups of more than one event. perf requires them in the order of their leaders.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn group_desc(&mut self, groups: &[GroupDesc<'_>]) -> Result<(), WriteFileError> {
        self.insert(Feature::GROUP_DESC, |out| {
            list::<O, _>(out, "group_desc", groups, |out, group| {
                string::<O>(out, group.name)?;
                put(out, &[U32::<O>::new(group.leader_idx), U32::new(group.nr_members)]);
                Ok(())
            })
        })
    }

    /// Sets `HYBRID_TOPOLOGY`: the name and CPUs of each core PMU.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn hybrid_topology(&mut self, pmus: &[HybridPmu<'_>]) -> Result<(), WriteFileError> {
        self.insert(Feature::HYBRID_TOPOLOGY, |out| {
            list::<O, _>(out, "hybrid_topology", pmus, |out, pmu| {
                string::<O>(out, pmu.pmu_name)?;
                string::<O>(out, pmu.cpus)
            })
        })
    }

    /// Sets `BUILD_ID`: the build ids of the files that samples hit. `BUILD_ID_SIZE` is added to each `misc`.
    ///
    /// # Errors
    ///
    /// [`WriteFileError::Feature`] for a build id of more than 20 bytes, and for a name with a NUL inside or longer
    /// than a record.
    pub fn build_ids(&mut self, ids: &[BuildId<'_>]) -> Result<(), WriteFileError> {
        self.insert(Feature::BUILD_ID, |out| ids.iter().try_for_each(|id| build_id::<O>(out, id)))
    }

    /// Sets `COMPRESSED`: version 1, the algorithm, level and ratio, and the size of the buffer to decompress a record.
    pub(super) fn compressed(&mut self, zstd: Zstd, ratio: u32) {
        let fields = [1, CompressType::ZSTD.0, u32::from(zstd.level), ratio, MMAP_LEN];
        self.fixed(Feature::COMPRESSED, &fields.map(U32::<O>::new));
    }

    /// Sets `AUXTRACE`: offset and size of each AUXTRACE record.
    pub(super) fn auxtrace(&mut self, records: &[[u64; 2]]) {
        let mut payload = Vec::new();
        put(&mut payload, &U64::<O>::new(records.len() as u64));
        for record in records {
            put(&mut payload, &record.map(U64::<O>::new));
        }
        self.payloads.insert(Feature::AUXTRACE, payload);
    }

    /// Sets `EVENT_DESC`, if it was not set.
    pub(super) fn event_desc(&mut self, payload: Vec<u8>) {
        self.payloads.entry(Feature::EVENT_DESC).or_insert(payload);
    }

    fn fixed(&mut self, feature: Feature, payload: &(impl IntoBytes + Immutable + ?Sized)) {
        self.payloads.insert(feature, payload.as_bytes().to_vec());
    }

    fn insert(
        &mut self,
        feature: Feature,
        encode: impl FnOnce(&mut Vec<u8>) -> Result<(), Fault>,
    ) -> Result<(), WriteFileError> {
        let mut payload = Vec::new();
        encode(&mut payload).map_err(|wrong| fault(feature, wrong))?;
        self.raw(feature, &payload)
    }
}

fn fault(feature: Feature, (field, must): Fault) -> WriteFileError {
    WriteFileError::Feature { feature, field, must }
}

fn put(out: &mut Vec<u8>, value: &(impl IntoBytes + Immutable + ?Sized)) {
    out.extend_from_slice(value.as_bytes());
}

/// Appends a string: its length, which includes NUL and padding, and its bytes.
///
/// perf: `do_write_string`, `tools/perf/util/header.c`.
pub(super) fn string<O: Endian>(out: &mut Vec<u8>, value: &[u8]) -> Result<(), &'static str> {
    if value.contains(&0) {
        return Err("free of NULs");
    }
    let padded = value.len().saturating_add(1).next_multiple_of(NAME_ALIGN);
    let len = u32::try_from(padded).map_err(|_| "shorter than 4 GiB")?;
    put(out, &U32::<O>::new(len));
    out.extend_from_slice(value);
    out.extend(core::iter::repeat_n(0, padded.saturating_sub(value.len())));
    Ok(())
}

/// Appends a count, and that number of items.
fn list<O: Endian, T>(
    out: &mut Vec<u8>,
    field: &'static str,
    items: &[T],
    mut item: impl FnMut(&mut Vec<u8>, &T) -> Result<(), &'static str>,
) -> Result<(), Fault> {
    let nr = u32::try_from(items.len()).map_err(|_| (field, "fewer than 2^32"))?;
    put(out, &U32::<O>::new(nr));
    items.iter().try_for_each(|it| item(out, it)).map_err(|must| (field, must))
}

fn strings<O: Endian>(out: &mut Vec<u8>, field: &'static str, items: &[&[u8]]) -> Result<(), Fault> {
    list::<O, _>(out, field, items, |out, item| string::<O>(out, item))
}

/// Appends a node of `MEM_TOPOLOGY`: its number, the number of bits twice, and the bits.
fn mem_node<O: Endian>(out: &mut Vec<u8>, node: u64, blocks: &[u32]) -> Result<(), Fault> {
    let nbits = blocks.iter().max().map_or(0, |&highest| u64::from(highest).saturating_add(1));
    if nbits > i32::MAX as u64 {
        return Err(("blocks", "below 2147483647"));
    }
    put(out, &[node, nbits, nbits].map(U64::<O>::new));
    let mut words = alloc::vec![0_u64; usize::try_from(nbits.div_ceil(64)).unwrap_or(0)];
    for &block in blocks {
        if let Some(word) = words.get_mut((block / 64) as usize) {
            *word |= 1 << (block % 64);
        }
    }
    words.iter().for_each(|&word| put(out, &U64::<O>::new(word)));
    Ok(())
}

/// Appends an entry of `BUILD_ID`.
///
/// perf: `write_buildid`, `tools/perf/util/build-id.c`, which also leaves the type 0.
fn build_id<O: Endian>(out: &mut Vec<u8>, id: &BuildId<'_>) -> Result<(), Fault> {
    let mut bytes = [0; 20];
    let used = bytes.get_mut(..id.build_id.len()).ok_or(("build_id", "at most 20 bytes"))?;
    used.copy_from_slice(id.build_id);
    let size = u8::try_from(id.build_id.len()).unwrap_or(20);
    if id.filename.contains(&0) {
        return Err(("filename", "free of NULs"));
    }
    let mut filename = id.filename.to_vec();
    filename.push(0);
    pad(&mut filename, NAME_ALIGN);
    let fixed = HeaderBuildId::<O> {
        pid: I32::new(id.pid),
        build_id: bytes,
        size,
        reserved_1: 0,
        reserved_2: U16::ZERO,
    };
    let misc = id.misc.union(Misc::BUILD_ID_SIZE);
    let entry = super::framed::<O>(RecordType(0), misc, &[fixed.as_bytes(), &filename]);
    out.extend(entry.ok_or(("filename", "so short that the entry has at most 65535 bytes"))?);
    Ok(())
}
