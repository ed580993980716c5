//! Facts about the records of a recording, found while they are written.

use std::path::Path;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::endian::NativeEndian;
use perf_abi::ksymbol::BpfEventType;
use perf_abi::record::{Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::feature::{FeatureData, SampleTime};
use perf_parse::file::write::FeaturePayloads;
use perf_parse::{RawRecord, Record, SampleLayout};

use crate::host::ROOT;
use crate::sideband_tasks::TaskSample;
use crate::{BpfPrograms, BuildIdCollector, Error};

/// Facts about all records so far.
#[derive(Clone, Debug)]
pub(crate) struct RecordSurvey {
    pub(crate) samples: u64,
    /// The times of the first and the last sample.
    pub(crate) times: Option<(u64, u64)>,
    /// The files that were mapped; `None` if their build ids are not wanted.
    pub(crate) files: Option<BuildIdCollector>,
    /// The BPF programs that were loaded; `None` if they are not wanted.
    pub(crate) programs: Option<BpfPrograms>,
    /// The offset of the time in the payload of a sample; `None` if the events differ in it.
    time_at: Option<usize>,
    /// The offset of the process and thread id, in the same way.
    task_at: Option<usize>,
    /// The layout of the event that records mappings.
    layout: SampleLayout,
    /// Whether that event records build ids in place of inodes.
    build_id: bool,
}

/// Offsets of `misc` and `size` in a header.
const MISC: usize = 4;
const SIZE: usize = 6;

impl RecordSurvey {
    /// Begins with no records. `layout` is that of the event that records mappings.
    pub(crate) fn new<'a>(
        attrs: impl IntoIterator<Item = &'a Attr>,
        tracker: &Attr,
        layout: SampleLayout,
        (files, programs): (bool, bool),
    ) -> Self {
        let build_id = tracker.flags.contains(AttrFlags::BUILD_ID);
        let attrs: Vec<&Attr> = attrs.into_iter().collect();
        let time_at = common(&attrs, SampleType::TIME);
        let task_at = common(&attrs, SampleType::TID);
        let (files, programs) = (files.then(BuildIdCollector::new), programs.then(BpfPrograms::new));
        Self { samples: 0, times: None, files, programs, time_at, task_at, layout, build_id }
    }

    /// Looks at whole records that follow each other: at the headers and the times of samples, and at the files of
    /// mappings. Returns whether a record needs to be [mended](Self::mended).
    pub(crate) fn look(&mut self, mut records: &[u8]) -> bool {
        let mut is_wrong = false;
        while let Ok((record, rest)) = RawRecord::<NativeEndian>::parse(records) {
            match record.kind() {
                RecordType::SAMPLE => self.sample(&record),
                RecordType::MMAP2 if self.has_wrong_bit(&record) => is_wrong = true,
                RecordType::MMAP | RecordType::MMAP2 => {
                    if let (Some(files), Ok(mapping)) = (&mut self.files, record.decode(&self.layout)) {
                        files.record(record.misc(), &mapping);
                    }
                }
                RecordType::KSYMBOL | RecordType::BPF_EVENT => {
                    is_wrong |= record.stale_bytes(&self.layout) > 0;
                    if let (Some(programs), Ok(Record::BpfEvent(event))) =
                        (&mut self.programs, record.decode(&self.layout))
                        && event.kind == BpfEventType::PROG_LOAD
                    {
                        programs.load(event.id);
                    }
                }
                _ => {}
            }
            records = rest;
        }
        is_wrong
    }

    /// Returns the records without what the kernel wrote for other recorders on the machine, and looks at the files of
    /// mappings that it mended. It sets a header back only in part before it writes the same record for the next event:
    ///
    /// - The bit for a build id in MMAP2, although the record has an inode: `perf_event_mmap_output`, at least Linux 5.12 to
    ///   6.18.
    /// - The size of KSYMBOL and BPF_EVENT: see [`RawRecord::stale_bytes`]. perf looks for the trailer at the end.
    ///
    /// Kernel: `kernel/events/core.c`.
    pub(crate) fn mended(&mut self, mut records: &[u8]) -> Vec<u8> {
        let mut mended = Vec::with_capacity(records.len());
        while let Ok((record, rest)) = RawRecord::<NativeEndian>::parse(records) {
            let at = mended.len();
            let size = record.as_bytes().len() - record.stale_bytes(&self.layout);
            mended.extend_from_slice(&record.as_bytes()[..size]);
            // The sizes of the kernel's records have 16 bits.
            mended[at + SIZE..at + SIZE + 2].copy_from_slice(&(size as u16).to_ne_bytes());
            if self.has_wrong_bit(&record) {
                let misc = record.misc().0 & !Misc::MMAP_BUILD_ID.0;
                mended[at + MISC..at + MISC + 2].copy_from_slice(&misc.to_ne_bytes());
                if let (Some(files), Ok((record, _))) =
                    (&mut self.files, RawRecord::<NativeEndian>::parse(&mended[at..]))
                    && let Ok(mapping) = record.decode(&self.layout)
                {
                    files.record(record.misc(), &mapping);
                }
            }
            records = rest;
        }
        mended.extend_from_slice(records);
        mended
    }

    /// Returns whether an MMAP2 record seems to have a build id, which our event does not ask for.
    fn has_wrong_bit(&self, record: &RawRecord<'_, NativeEndian>) -> bool {
        !self.build_id && record.kind() == RecordType::MMAP2 && record.misc().contains(Misc::MMAP_BUILD_ID)
    }

    /// Returns the task of a sample; `None` for other records, and if the place of the ids is not known.
    pub(crate) fn task_of(&self, record: &RawRecord<'_, NativeEndian>) -> Option<TaskSample> {
        let word = |at: usize| record.payload().get(at..)?.first_chunk::<8>();
        let [p0, p1, p2, p3, t0, t1, t2, t3] =
            *word(self.task_at.filter(|_| record.kind() == RecordType::SAMPLE)?)?;
        let time = self.time_at.and_then(word).map(|time| u64::from_ne_bytes(*time));
        let (pid, tid) = (i32::from_ne_bytes([p0, p1, p2, p3]), i32::from_ne_bytes([t0, t1, t2, t3]));
        Some(TaskSample { pid, tid, time })
    }

    /// Returns the tasks of the samples of some records; `None` if the place of the ids is not known.
    pub(crate) fn tasks_of(&self, mut records: &[u8]) -> Option<Vec<TaskSample>> {
        self.task_at?;
        let mut tasks = Vec::new();
        while let Ok((record, rest)) = RawRecord::<NativeEndian>::parse(records) {
            tasks.extend(self.task_of(&record));
            records = rest;
        }
        Some(tasks)
    }

    /// Forgets the files that these records do not have.
    pub(crate) fn keep_files_of(&mut self, records: &[&[u8]]) {
        let mut survey = self.empty();
        for records in records {
            survey.look(records);
        }
        self.files = survey.files;
    }

    /// Returns the layout of the event that records mappings.
    pub(crate) fn layout(&self) -> &SampleLayout {
        &self.layout
    }

    /// Returns a survey of no records, which counts the same facts.
    pub(crate) fn empty(&self) -> Self {
        let (files, programs) =
            (self.files.as_ref().map(|_| BuildIdCollector::new()), self.programs.as_ref());
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

    /// Reads the build ids of some of the files that were mapped since the last call.
    pub(crate) fn identify_files(&mut self) {
        /// Few, so that the rings are read again soon.
        const MOST: usize = 64;
        if let Some(files) = &mut self.files {
            files.identify(Path::new(ROOT), MOST);
        }
    }

    /// Adds the features that depend on the records: `SAMPLE_TIME`, `BUILD_ID`, `BPF_PROG_INFO` and `BPF_BTF`. Returns the
    /// number of files whose build ids are not known, because they could not be read.
    pub(crate) fn describe(&self, features: &mut FeaturePayloads) -> Result<u64, Error> {
        if let Some(programs) = &self.programs {
            programs.describe(features)?;
        }
        if let Some((first, last)) = self.times {
            features.set(&FeatureData::SampleTime(SampleTime { first, last }))?;
        }
        match &self.files {
            Some(files) => Ok(files.finish(Path::new(ROOT), features)?),
            None => Ok(0),
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

/// Returns the offset of a field of one word in the payload of a sample, if it is that of all events.
fn common(attrs: &[&Attr], field: SampleType) -> Option<usize> {
    const FIRST: [SampleType; 4] =
        [SampleType::IDENTIFIER, SampleType::IP, SampleType::TID, SampleType::TIME];
    let offset = |attr: &&Attr| {
        let before = FIRST.iter().take_while(|&&other| other != field);
        let words = before.filter(|other| attr.sample_type.contains(**other)).count();
        attr.sample_type.contains(field).then_some(words * 8)
    };
    let first = attrs.first().and_then(offset);
    first.filter(|_| attrs.iter().all(|attr| offset(attr) == first))
}
