//! The parts of a capture around the kernel's records, and the recording of one.

use std::path::Path;

use perf_abi::endian::NativeEndian;
use perf_abi::feature::Feature;
use perf_abi::record::{Misc, RecordType};
use perf_open::abi::read_format::ReadFormat;
use perf_open::{EventGroup, Ring};
use perf_parse::feature::{Entries, FeatureData, GroupDesc, SampleTime};
use perf_parse::file::write::{EventFields, FeaturePayloads, Options, Zstd};
use perf_parse::record::LostSamples;
use perf_parse::write::{self, SampleIdFields};
use perf_parse::{Reader, Record, SampleLayout};

use super::build_ids::Collector;
use super::output::{InFile, Output};
use super::session::Session;
use super::synthesize::{Synthesizer, Wanted};
use super::{ROOT, Until, dump, host, start, tracing};
use crate::Failure;
use crate::args::live::record::RecordArgs;
use crate::input::Input;
use crate::live::observed::Observed;
use crate::output::{Unfinished, say};

/// The parts of a capture that are known before its first record.
pub(super) struct Capture<'a> {
    pub(super) args: &'a RecordArgs,
    observed: &'a Observed,
    pub(super) events: Vec<EventFields>,
    pub(super) features: FeaturePayloads<NativeEndian>,
    /// The layout of the first event, which synthesized records have.
    layout: SampleLayout,
    options: Options,
}

impl<'a> Capture<'a> {
    pub(super) fn new(
        args: &'a RecordArgs,
        groups: &[EventGroup],
        session: &Session,
        observed: &'a Observed,
    ) -> Result<Self, Failure> {
        let events = session.events.clone();
        let mut features = FeaturePayloads::new();
        let words: Vec<_> = std::env::args_os().map(std::os::unix::ffi::OsStringExt::into_vec).collect();
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        host::describe(Path::new(ROOT), &words, &mut features)?;
        // In a recording that overwrites, the event for mappings, names and tasks precedes those of the groups.
        let in_groups: usize = groups.iter().map(|group| group.events.len()).sum();
        let mut first = events.len() - in_groups;
        let mut descriptions = Vec::new();
        for group in groups {
            if group.events.len() > 1 {
                descriptions.push(GroupDesc {
                    name: group.name.as_deref().unwrap_or("{anon_group}").as_bytes(),
                    leader_idx: u32::try_from(first).unwrap_or(u32::MAX),
                    nr_members: u32::try_from(group.events.len()).unwrap_or(u32::MAX),
                });
            }
            first += group.events.len();
        }
        if !descriptions.is_empty() {
            features.set(&FeatureData::GroupDesc(Entries::from(&descriptions)))?;
        }
        if let Some(payload) = tracing::data(groups)? {
            features.raw(Feature::TRACING_DATA, &payload)?;
        }
        let zstd = args.compression_level.map(|level| Zstd { level, ..Zstd::default() });
        let options = Options { zstd, ..Options::default() };
        let Some(first) = events.first() else {
            return Err(Failure("there are no events to record".to_owned()));
        };
        let layout = SampleLayout::new(&first.attr).map_err(|error| error.to_string())?;
        Ok(Self { args, observed, events, features, layout, options })
    }

    /// Creates a capture for `path`, without records.
    pub(super) fn create(&self, path: &Path) -> Result<Output, Failure> {
        let features = self.features.clone();
        match path == Path::new("-") {
            true => Output::stream(&self.events, features, &self.options),
            false => Output::file(path, &self.events, features, &self.options),
        }
    }

    /// Writes copies of rings to a folder.
    pub(super) fn dump_rings(
        &self,
        folder: &Path,
        rings: impl Iterator<Item = Vec<u8>>,
    ) -> Result<(), Failure> {
        dump::rings(folder, (&self.events, &self.features), rings, self.args.quiet)
    }

    /// Starts the capture that the command line names, and writes the synthesized records.
    fn begin(&self) -> Result<Output, Failure> {
        let mut out = self.create(&self.args.output)?;
        self.synthesize(&mut |record| out.record(record))?;
        out.mark(RecordType::FINISHED_INIT)?;
        out.flush()?;
        Ok(out)
    }

    /// Synthesizes the records of the tasks and mappings that already exist.
    pub(super) fn synthesize(
        &self,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let wanted = Wanted { data: self.args.data, namespaces: self.args.namespaces };
        let mut made_up = Synthesizer::new(Path::new(ROOT), &self.layout, wanted, sink);
        if !made_up.kernel()? && !self.args.quiet {
            say!(
                "perfdata: the kernel hides its addresses (kptr_restrict), so its symbols cannot be resolved"
            );
        }
        let thread = |tid: &u32| i32::try_from(*tid).ok();
        match self.observed {
            Observed::Cpus(_) => made_up.all(),
            Observed::Threads(tids) => made_up.threads(&tids.iter().filter_map(thread).collect::<Vec<_>>()),
            // The exec starts the recording, and the kernel records it.
            Observed::Command => Ok(()),
        }?;
        if made_up.unreadable() > 0 {
            say!("perfdata: cannot parse {} lines of /proc/PID/maps", made_up.unreadable());
        }
        Ok(())
    }

    /// Finishes the capture at `path`: adds the features that depend on its records, and gives it its name.
    pub(super) fn finish(&self, mut out: Output, path: &Path) -> Result<(), Failure> {
        out.flush()?;
        let InFile { name, mut writer, unfinished } = match out {
            Output::Stream(stream) => return stream.finish(),
            Output::File(file) => *file,
        };
        let at = unfinished.as_ref().and_then(Unfinished::temporary).unwrap_or(path);
        // A file that is not regular, such as /dev/null, cannot be read back.
        let survey = if at.is_file() { Some(self.survey(at)?) } else { None };
        let samples = survey.as_ref().map(|survey| survey.samples);
        if let Some(survey) = survey {
            if let Some((first, last)) = survey.times {
                let span = FeatureData::SampleTime(SampleTime { first, last });
                writer.features().set(&span)?;
            }
            if !self.args.no_buildid {
                survey.files.finish(Path::new(ROOT), writer.features())?;
            }
        }
        writer.finish().map_err(|error| format!("{name}: {error}"))?;
        unfinished.map_or(Ok(()), Unfinished::publish)?;
        if let (Some(samples), false) = (samples, self.args.quiet) {
            let size = std::fs::metadata(path).map_or(0, |file| file.len());
            say!("perfdata: {name}: {samples} samples, {size} bytes");
        }
        Ok(())
    }

    /// Reads back the records of a capture that is not finished yet.
    fn survey(&self, path: &Path) -> Result<Survey, Failure> {
        let input = Input::open(path)?;
        match Reader::new(input.bytes()) {
            Ok(reader) => Ok(Survey::of(&reader, self.args)),
            Err(error) => Err(crate::not_readable(path, &error)),
        }
    }
}

/// Facts about all records of a capture.
struct Survey {
    files: Collector,
    samples: u64,
    /// The times of the first and the last sample.
    times: Option<(u64, u64)>,
}

impl Survey {
    fn of(reader: &Reader<'_>, args: &RecordArgs) -> Self {
        let mut survey = Self { files: Collector::new(args.buildid_all), samples: 0, times: None };
        // Whoever reads the capture later gets the errors of records that cannot be read.
        for record in reader.records().in_time_order().flatten() {
            if record.kind() == RecordType::SAMPLE {
                survey.samples += 1;
                if let Some(time) = record.time() {
                    let (first, last) = survey.times.unwrap_or((time, time));
                    survey.times = Some((first.min(time), last.max(time)));
                }
            }
            if let (false, Ok(decoded)) = (args.no_buildid, record.decode()) {
                survey.files.record(record.misc(), &decoded);
            }
        }
        survey
    }
}

/// Records until the end, writing the records as the rings fill.
pub(super) fn run(
    session: &mut Session,
    capture: &Capture<'_>,
    until: &mut Until<'_>,
) -> Result<(), Failure> {
    let mut out = capture.begin()?;
    // If the start fails, existing files remain unchanged.
    start(session, capture.args, until)?;
    out.publish()?;
    loop {
        let is_over = until.is_over()?;
        if is_over {
            session.disable()?;
        }
        if until.signals.takes_snapshot() {
            match &capture.args.dump_rings {
                Some(folder) => capture.dump_rings(folder, session.rings.iter().map(Ring::dump))?,
                None => say!("perfdata: SIGUSR2 is ignored without --overwrite or --dump-rings"),
            }
        }
        drain(&mut session.rings, &mut out)?;
        if out.is_closed() {
            return session.disable();
        }
        if is_over {
            break;
        }
        session.wait()?;
    }
    let samples = lost(session, capture, &mut out)?;
    capture.finish(out, &capture.args.output)?;
    // A ring reports losses when it has room again, which may be never. It also counts lost records that are not
    // samples.
    let records: u64 = session.rings.iter().map(|ring| ring.account().lost).sum();
    let lost = samples.max(records);
    if lost > 0 {
        say!("perfdata: {lost} records lost, because the rings were full; try a larger --mmap-pages");
    }
    Ok(())
}

/// Writes the records that are in the rings now, as one round. A recorder that is killed loses only later records.
fn drain(rings: &mut [Ring], out: &mut Output) -> Result<(), Failure> {
    let mut records = 0_u64;
    for ring in rings {
        let mut unread = match ring.read() {
            Ok(unread) => unread,
            Err(error) => {
                say!("perfdata: a ring cannot be read: {error}");
                continue;
            }
        };
        while let Some(record) = unread.next_record() {
            match record {
                Ok(record) => {
                    out.raw(&record)?;
                    records += 1;
                }
                Err(error) => say!("perfdata: a ring cannot be read: {error}"),
            }
        }
    }
    if records > 0 {
        out.mark(RecordType::FINISHED_ROUND)?;
        out.flush()?;
    }
    Ok(())
}

/// Writes a LOST_SAMPLES record for each event that lost samples because its ring was full, by the kernel's count.
/// Returns the number for all events.
///
/// perf: `record__read_lost_samples`.
fn lost(session: &Session, capture: &Capture<'_>, out: &mut Output) -> Result<u64, Failure> {
    let mut sum = 0_u64;
    for (_, counter) in &session.counters {
        let format = counter.attr().read_format;
        if !format.contains(ReadFormat::LOST) || format.contains(ReadFormat::GROUP) {
            continue;
        }
        let lost = counter.read()?.lost.unwrap_or(0);
        if lost > 0 {
            sum += lost;
            let mut record = Vec::new();
            let trailer = SampleIdFields { id: counter.id()?, ..SampleIdFields::default() };
            let lost = Record::LostSamples(LostSamples { lost });
            write::record::<NativeEndian>(&mut record, &capture.layout, Misc(0), &lost, &trailer)?;
            out.record(&record)?;
        }
    }
    Ok(sum)
}
