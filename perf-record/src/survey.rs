//! Facts about the records of a recording, found while they are written.

use std::path::Path;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::endian::NativeEndian;
use perf_abi::ksymbol::BpfEventType;
use perf_abi::record::{Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::feature::{FeatureData, SampleTime};
use perf_parse::file::write::FeaturePayloads;
use perf_parse::{RawRecord, SampleLayout};

use crate::host::ROOT;
use crate::{BpfPrograms, BuildIds, Error};

/// Facts about all records so far.
#[derive(Clone, Debug)]
pub(crate) struct Survey {
    pub(crate) samples: u64,
    /// The times of the first and the last sample.
    pub(crate) times: Option<(u64, u64)>,
    /// The files that were mapped; `None` if their build ids are not wanted.
    pub(crate) files: Option<BuildIds>,
    /// The BPF programs that were loaded; `None` if they are not wanted.
    pub(crate) programs: Option<BpfPrograms>,
    /// The offset of the time in the payload of a sample; `None` if the events differ in it.
    time_at: Option<usize>,
    /// The layout of the event that records mappings.
    layout: SampleLayout,
    /// Whether that event records build ids in place of inodes.
    build_id: bool,
}

/// Offset of `misc` in a header.
const MISC: usize = 4;

impl Survey {
    /// Begins with no records. `layout` is that of the event that records mappings.
    pub(crate) fn new<'a>(
        attrs: impl IntoIterator<Item = &'a Attr>,
        tracker: &Attr,
        layout: SampleLayout,
        (files, programs): (bool, bool),
    ) -> Self {
        let build_id = tracker.flags.contains(AttrFlags::BUILD_ID);
        let mut offsets = attrs.into_iter().map(time_offset);
        let first = offsets.next().flatten();
        let time_at = first.filter(|_| offsets.all(|other| other == first));
        let (files, programs) = (files.then(BuildIds::new), programs.then(BpfPrograms::new));
        Self { samples: 0, times: None, files, programs, time_at, layout, build_id }
    }

    /// Looks at whole records that follow each other: at the headers and the times of samples, and at the files of
    /// mappings. Returns whether a record needs to be [mended](Self::mended).
    pub(crate) fn look(&mut self, mut records: &[u8]) -> bool {
        let mut is_wrong = false;
        while let Ok((record, rest)) = RawRecord::<NativeEndian>::parse(records) {
            match record.kind() {
                RecordType::SAMPLE => self.sample(&record),
                RecordType::MMAP2 if !self.build_id && record.misc().contains(Misc::MMAP_BUILD_ID) => {
                    is_wrong = true;
                }
                RecordType::MMAP | RecordType::MMAP2 => {
                    if let (Some(files), Ok(mapping)) = (&mut self.files, record.decode(&self.layout)) {
                        files.record(record.misc(), &mapping);
                    }
                }
                RecordType::BPF_EVENT => {
                    if let (Some(programs), Some((BpfEventType::PROG_LOAD, id))) =
                        (&mut self.programs, program(record.payload()))
                    {
                        programs.load(id);
                    }
                }
                _ => {}
            }
            records = rest;
        }
        is_wrong
    }

    /// Returns the records without the bit for a build id in MMAP2 records that have an inode, and looks at their files.
    ///
    /// The kernel sets the bit for an event with `build_id`, and does not clear it before it writes the same mapping for
    /// the next event. So another recorder on the machine that records build ids makes ours look as if they had some.
    ///
    /// Kernel: `perf_event_mmap_output`, `kernel/events/core.c`, which restores the type and the size of the header
    /// alone; at least Linux 5.12 to 6.18.
    pub(crate) fn mended(&mut self, records: &[u8]) -> Vec<u8> {
        let mut mended = records.to_vec();
        let mut at = 0;
        while let Some((record, _)) =
            mended.get(at..).and_then(|rest| RawRecord::<NativeEndian>::parse(rest).ok())
        {
            let size = usize::from(record.size());
            if record.kind() == RecordType::MMAP2 {
                let misc = record.misc().0 & !Misc::MMAP_BUILD_ID.0;
                mended[at + MISC..at + MISC + 2].copy_from_slice(&misc.to_ne_bytes());
                let (record, _) = mended.split_at(at + size);
                if let (Some(files), Ok((record, _))) =
                    (&mut self.files, RawRecord::<NativeEndian>::parse(&record[at..]))
                    && let Ok(mapping) = record.decode(&self.layout)
                {
                    files.record(record.misc(), &mapping);
                }
            }
            at += size;
        }
        mended
    }

    /// Returns a survey of no records, which counts the same facts.
    pub(crate) fn empty(&self) -> Self {
        let (files, programs) = (self.files.as_ref().map(|_| BuildIds::new()), self.programs.as_ref());
        Self { samples: 0, times: None, files, programs: programs.map(|_| BpfPrograms::new()), ..*self }
    }

    /// Adds the facts about other records.
    pub(crate) fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.times = match (self.times, other.times) {
            (Some((first, last)), Some((start, end))) => Some((first.min(start), last.max(end))),
            (times, others) => times.or(others),
        };
        if let (Some(files), Some(others)) = (&mut self.files, other.files) {
            files.add(others);
        }
        if let (Some(programs), Some(others)) = (&mut self.programs, other.programs) {
            programs.add(others);
        }
    }

    /// Returns the survey of the same mappings, and no samples.
    pub(crate) fn without_samples(&self) -> Self {
        Self { samples: 0, times: None, ..self.clone() }
    }

    /// Adds the features that depend on the records: `SAMPLE_TIME`, `BUILD_ID`, `BPF_PROG_INFO` and `BPF_BTF`.
    pub(crate) fn describe(&self, features: &mut FeaturePayloads<NativeEndian>) -> Result<(), Error> {
        if let Some(programs) = &self.programs {
            programs.describe(features)?;
        }
        if let Some((first, last)) = self.times {
            features.set(&FeatureData::SampleTime(SampleTime { first, last }))?;
        }
        match &self.files {
            Some(files) => Ok(files.finish(Path::new(ROOT), features)?),
            None => Ok(()),
        }
    }

    #[inline]
    fn sample(&mut self, record: &RawRecord<'_, NativeEndian>) {
        self.samples += 1;
        let time = self.time_at.and_then(|at| record.payload().get(at..)?.first_chunk());
        if let Some(time) = time {
            let time = u64::from_ne_bytes(*time);
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
        }
    }
}

/// Returns what happened to a BPF program, and its id: the first fields of a BPF_EVENT record.
///
/// The record is not decoded. If other recorders of the machine want such records, the kernel makes it longer by the sample
/// id of each of their events: `perf_event_bpf_output`, `kernel/events/core.c`, adds to the size of the header and does not
/// restore it; at least Linux 6.18. The bytes at the end are then not ours.
fn program(payload: &[u8]) -> Option<(BpfEventType, u32)> {
    let (kind, rest) = payload.split_first_chunk()?;
    let (_flags, rest) = rest.split_first_chunk::<2>()?;
    let id = rest.first_chunk()?;
    Some((BpfEventType(u16::from_ne_bytes(*kind)), u32::from_ne_bytes(*id)))
}

/// Returns the offset of the time in the payload of a sample.
fn time_offset(attr: &Attr) -> Option<usize> {
    let before = [SampleType::IDENTIFIER, SampleType::IP, SampleType::TID];
    let words = before.iter().filter(|field| attr.sample_type.contains(**field)).count();
    attr.sample_type.contains(SampleType::TIME).then_some(words * 8)
}
