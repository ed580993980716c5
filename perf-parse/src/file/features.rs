//! Feature sections: what the recorder knew of the machine and of itself.

use alloc::vec::Vec;

use perf_abi::attr::Attr;
use perf_abi::endian::{Endian, U32, U64};
use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use zerocopy::FromBytes;

use super::build_id::BuildIds;
use super::error::{FileError, FileErrorKind};
use super::header::{FileHeader, Section};
use crate::cursor::Cursor;
use crate::error::Error;

/// A feature section. Borrows from the file; decoded when asked.
///
/// perf: `HEADER_*` and `feat_ops`, `tools/perf/util/header.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureSection<'a> {
    /// Which feature.
    pub feature: Feature,
    /// Where the section begins, in bytes from the start of the file.
    pub offset: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// The sections that the table behind the data lists. One that is not in the file is left out and noted.
pub(super) fn sections<'a, O: Endian>(
    header: &FileHeader,
    bytes: &'a [u8],
    diagnostics: &mut Vec<FileError>,
) -> Vec<FeatureSection<'a>> {
    let mut sections = Vec::new();
    // Without the size of the data there is no telling where the table is.
    if header.data.size == 0 {
        return sections;
    }
    let mut entry = header.feature_table();
    for feature in 0_u32..256 {
        let word = header.features.get(feature as usize / 64).copied().unwrap_or_default();
        if word & (1_u64 << (feature % 64)) == 0 {
            continue;
        }
        let table = Section { offset: entry, size: 16 };
        match table.of(bytes, "feature table").and_then(|entry| section::<O>(entry, Feature(feature), bytes))
        {
            Ok(section) => sections.push(section),
            Err(error) => diagnostics.push(FileError { offset: entry, ..error }),
        }
        entry = entry.saturating_add(16);
    }
    sections
}

fn section<'a, O: Endian>(
    entry: &[u8],
    feature: Feature,
    bytes: &'a [u8],
) -> Result<FeatureSection<'a>, FileError> {
    let [offset, size] = <[U64<O>; 2]>::read_from_bytes(entry).unwrap_or_default().map(|word| word.get());
    let section = Section { offset, size };
    Ok(FeatureSection { feature, offset, bytes: section.of(bytes, "feature section")? })
}

impl<'a> FeatureSection<'a> {
    /// The section of `feature`, whose `bytes` stand at `offset` in the capture.
    #[must_use]
    pub fn new(feature: Feature, offset: u64, bytes: &'a [u8]) -> Self {
        Self { feature, offset, bytes }
    }

    /// The section as one string: `HOSTNAME`, `OSRELEASE`, `VERSION`, `ARCH`, `CPUDESC`, `CPUID`.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Feature`] if the section ends before the string does, or bytes are left.
    pub fn string<O: Endian>(&self) -> Result<&'a [u8], FileError> {
        self.whole(string::<O>)
    }

    /// `CMDLINE`: the words of the command line.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn strings<O: Endian>(&self) -> Result<Vec<&'a [u8]>, FileError> {
        self.whole(|at| list::<O, _>(at, string::<O>))
    }

    /// `NRCPUS`: cpus available, cpus online.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn nr_cpus<O: Endian>(&self) -> Result<(u32, u32), FileError> {
        self.whole(|at| Ok((number::<O>(at, "nr_cpus_available")?, number::<O>(at, "nr_cpus_online")?)))
    }

    /// `TOTAL_MEM`: KiB of memory.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn total_mem<O: Endian>(&self) -> Result<u64, FileError> {
        self.whole(|at| at.word::<O>("total_mem"))
    }

    /// `CPU_TOPOLOGY` of a machine with `nr_cpus` cpus available.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn cpu_topology<O: Endian>(&self, nr_cpus: u32) -> Result<CpuTopology<'a>, FileError> {
        self.whole(|at| {
            let core_siblings = list::<O, _>(at, string::<O>)?;
            let thread_siblings = list::<O, _>(at, string::<O>)?;
            let (mut cpus, mut die_siblings) = (Vec::new(), None);
            // The first tools wrote no more than the siblings, the next no dies.
            if !at.rest().is_empty() {
                for _ in 0..nr_cpus {
                    let core_id = number::<O>(at, "core_id")?;
                    cpus.push(CpuPlace { core_id, socket_id: number::<O>(at, "socket_id")?, die_id: None });
                }
            }
            if !at.rest().is_empty() {
                die_siblings = Some(list::<O, _>(at, string::<O>)?);
                for cpu in &mut cpus {
                    cpu.die_id = Some(number::<O>(at, "die_id")?);
                }
            }
            Ok(CpuTopology { core_siblings, thread_siblings, cpus, die_siblings })
        })
    }

    /// `PMU_MAPPINGS`: type and name of each PMU.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn pmu_mappings<O: Endian>(&self) -> Result<Vec<(EventType, &'a [u8])>, FileError> {
        self.whole(|at| list::<O, _>(at, |at| Ok((EventType(number::<O>(at, "type")?), string::<O>(at)?))))
    }

    /// `GROUP_DESC`: the groups of more than one event.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn group_desc<O: Endian>(&self) -> Result<Vec<GroupDesc<'a>>, FileError> {
        self.whole(|at| {
            list::<O, _>(at, |at| {
                let name = string::<O>(at)?;
                let leader_idx = number::<O>(at, "leader_idx")?;
                Ok(GroupDesc { name, leader_idx, nr_members: number::<O>(at, "nr_members")? })
            })
        })
    }

    /// `HYBRID_TOPOLOGY`: the name and cpus of each core PMU.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn hybrid_topology<O: Endian>(&self) -> Result<Vec<HybridPmu<'a>>, FileError> {
        self.whole(|at| {
            list::<O, _>(at, |at| Ok(HybridPmu { pmu_name: string::<O>(at)?, cpus: string::<O>(at)? }))
        })
    }

    /// `SAMPLE_TIME`: the times of the first and the last sample, in nanoseconds of the events' clock.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn sample_time<O: Endian>(&self) -> Result<(u64, u64), FileError> {
        self.whole(|at| Ok((at.word::<O>("first")?, at.word::<O>("last")?)))
    }

    /// `CLOCKID`: nanoseconds of resolution of the events' clock.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn clockid<O: Endian>(&self) -> Result<u64, FileError> {
        self.whole(|at| at.word::<O>("resolution_ns"))
    }

    /// `CLOCK_DATA`: one moment, on the wall clock and on the events' clock.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn clock_data<O: Endian>(&self) -> Result<ClockData, FileError> {
        self.whole(|at| {
            Ok(ClockData {
                version: number::<O>(at, "version")?,
                clockid: number::<O>(at, "clockid")?,
                wall_clock_ns: at.word::<O>("wall_clock_ns")?,
                clockid_time_ns: at.word::<O>("clockid_time_ns")?,
            })
        })
    }

    /// `BUILD_ID`: the build ids of the files that samples hit. Ends after the first error.
    #[must_use]
    pub fn build_ids<O: Endian>(&self) -> BuildIds<'a, O> {
        BuildIds::new(*self)
    }

    /// `EVENT_DESC`: each event's attr, name and ids.
    ///
    /// Ends after the first error, which is [`FileErrorKind::Feature`], or [`FileErrorKind::Attr`] for an attr.
    #[must_use]
    pub fn event_desc<O: Endian>(&self) -> EventDescs<'a, O> {
        EventDescs {
            section: *self,
            at: Cursor::new(self.bytes, 0),
            left: None,
            order: core::marker::PhantomData,
        }
    }

    /// Decodes the section with `decode`, which must use all of it.
    fn whole<T>(&self, decode: impl FnOnce(&mut Cursor<'a>) -> Result<T, Error>) -> Result<T, FileError> {
        let mut at = Cursor::new(self.bytes, 0);
        decode(&mut at).and_then(|value| at.finish().map(|()| value)).map_err(|error| self.error(error))
    }

    pub(super) fn error(&self, error: Error) -> FileError {
        let kind = FileErrorKind::Feature { feature: self.feature, error };
        FileError::new(kind, self.offset.saturating_add(u64::from(error.offset)))
    }
}

fn number<O: Endian>(at: &mut Cursor<'_>, field: &'static str) -> Result<u32, Error> {
    at.fixed::<U32<O>>(field).map(|number| number.get())
}

/// A count, and as many items.
fn list<'a, O: Endian, T>(
    at: &mut Cursor<'a>,
    mut item: impl FnMut(&mut Cursor<'a>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    // Not reserved by the count, which may be anything: each item takes bytes of the section, or fails.
    let mut items = Vec::new();
    for _ in 0..number::<O>(at, "nr")? {
        items.push(item(at)?);
    }
    Ok(items)
}

/// A string: its length, NUL and padding included, and its bytes.
fn string<'a, O: Endian>(at: &mut Cursor<'a>) -> Result<&'a [u8], Error> {
    let len = number::<O>(at, "string.len")?;
    let offset = at.offset();
    let padded = at.bytes(u64::from(len), "string")?;
    Cursor::new(padded, offset).string("string")
}

/// Where the cpus of a machine are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuTopology<'a> {
    /// Lists of the cpus that share a package.
    pub core_siblings: Vec<&'a [u8]>,
    /// Lists of the cpus that share a core.
    pub thread_siblings: Vec<&'a [u8]>,
    /// The place of each cpu; empty in files of perf before 4.0.
    pub cpus: Vec<CpuPlace>,
    /// Lists of the cpus that share a die; `None` in files of perf before 5.3, or of machines without dies.
    pub die_siblings: Option<Vec<&'a [u8]>>,
}

/// Where a cpu is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuPlace {
    /// Its core.
    pub core_id: u32,
    /// Its socket.
    pub socket_id: u32,
    /// Its die; `None` where the file has no dies.
    pub die_id: Option<u32>,
}

/// A group of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupDesc<'a> {
    /// Its name; `{anon_group}` for one without.
    pub name: &'a [u8],
    /// Index of the leader among the events.
    pub leader_idx: u32,
    /// How many events it has, the leader included.
    pub nr_members: u32,
}

/// A core PMU of a machine with several kinds of cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HybridPmu<'a> {
    /// Its name.
    pub pmu_name: &'a [u8],
    /// The list of its cpus.
    pub cpus: &'a [u8],
}

/// One moment on two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockData {
    /// Version of the section: 1.
    pub version: u32,
    /// Which clock the events use: `CLOCK_*`.
    pub clockid: u32,
    /// Nanoseconds since 1970 of the wall clock.
    pub wall_clock_ns: u64,
    /// Nanoseconds of the events' clock.
    pub clockid_time_ns: u64,
}

/// An event as the feature `EVENT_DESC` describes it.
#[derive(Clone, Copy, Debug)]
pub struct EventDesc<'a, O: Endian> {
    /// Its attr, as the attr section has it too.
    pub attr: Attr,
    /// Its name.
    pub name: &'a [u8],
    /// Its ids.
    pub ids: &'a [U64<O>],
}

/// An iterator over the events of the feature `EVENT_DESC`; made by [`FeatureSection::event_desc`].
#[derive(Clone, Debug)]
pub struct EventDescs<'a, O: Endian> {
    section: FeatureSection<'a>,
    at: Cursor<'a>,
    /// Events left and bytes of an attr; `None` before the first.
    left: Option<(u32, u32)>,
    order: core::marker::PhantomData<O>,
}

impl<'a, O: Endian> EventDescs<'a, O> {
    fn take(&mut self) -> Result<Option<EventDesc<'a, O>>, FileError> {
        let section = self.section;
        let at = &mut self.at;
        let error = |error| section.error(error);
        let (left, attr_size) = match self.left {
            Some(left) => left,
            None => (number::<O>(at, "nr").map_err(error)?, number::<O>(at, "attr_size").map_err(error)?),
        };
        let Some(remaining) = left.checked_sub(1) else {
            return at.finish().map(|()| None).map_err(error);
        };
        self.left = Some((remaining, attr_size));
        let offset = section.offset.saturating_add(u64::from(at.offset()));
        let attr = at.bytes(u64::from(attr_size), "attr").map_err(error)?;
        let attr =
            Attr::read::<O>(attr).map_err(|error| FileError::new(FileErrorKind::Attr(error), offset))?.attr;
        let nr_ids = number::<O>(at, "nr_ids").map_err(error)?;
        let name = string::<O>(at).map_err(error)?;
        let ids = at.array(u64::from(nr_ids), "ids").map_err(error)?;
        Ok(Some(EventDesc { attr, name, ids }))
    }
}

impl<'a, O: Endian> Iterator for EventDescs<'a, O> {
    type Item = Result<EventDesc<'a, O>, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == Some((0, 0)) {
            return None;
        }
        let event = self.take();
        if !matches!(event, Ok(Some(_))) {
            self.left = Some((0, 0));
        }
        event.transpose()
    }
}
