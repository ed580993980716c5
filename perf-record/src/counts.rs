//! Counts in a capture, as `perf stat record` writes them and `perf stat report` reads them.

use std::path::Path;

use perf_abi::record::{RecordType, StatConfigTerm, StatRoundType};
use perf_parse::feature::FeatureData;
use perf_parse::file::write::{EventFields, FeaturePayloads};
use perf_parse::record::user::Stat;

use crate::host::ROOT;
use crate::sink::{Head, Sink};
use crate::user_records::{cpu_map, put, thread_map, word};
use crate::{Error, host};

/// What is counted, and how the counts are to be shown.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a capture of counts needs each of these")]
pub struct Counted<'a> {
    /// The events, with the ids of their counts. One that could not be opened has none.
    pub events: &'a [EventFields],
    /// The threads that are counted; empty for all. [`Stat::thread`] is an index into them.
    pub threads: &'a [u32],
    /// The cpus that are counted; `None` for any.
    pub cpus: &'a [Option<u32>],
    /// How readers add up the counts. perf: `enum aggr_mode`, `tools/perf/util/stat.h`; 1 for one sum.
    pub aggr_mode: u64,
    /// Milliseconds between two rounds; 0 for one round.
    pub interval: u64,
    /// Words of the command line, for the feature `CMDLINE`.
    pub command_line: &'a [Vec<u8>],
    /// Name and version of the program that counts, for the feature `VERSION`.
    pub version: &'a str,
}

/// A capture of counts.
///
/// # Examples
///
/// ```
/// use std::io::Cursor;
///
/// use perf_record::open::abi::record::StatRoundType;
/// use perf_record::parse::Reader;
/// use perf_record::parse::file::write::EventFields;
/// use perf_record::parse::record::user::Stat;
/// use perf_record::{Counted, Counts, FileSink};
///
/// let event = EventFields { ids: vec![7], name: Some(b"page-faults".to_vec()), ..EventFields::default() };
/// let counted = Counted {
///     events: &[event],
///     threads: &[],
///     cpus: &[Some(0)],
///     aggr_mode: 1,
///     interval: 0,
///     command_line: &[],
///     version: "example",
/// };
/// let mut counts = Counts::begin(FileSink::new(Cursor::new(Vec::new())), &counted)?;
/// counts.count(&Stat { id: 7, cpu: 0, thread: 0, val: 42, ena: 1000, run: 1000, rest: &[] })?;
/// counts.round(StatRoundType::FINAL, 1_000_000)?;
/// let file = counts.finish()?.into_inner().unwrap().into_inner();
/// assert!(Reader::new(&file).unwrap().records().count() > 4);
/// # Ok::<(), perf_record::Error>(())
/// ```
///
/// perf: `tools/perf/builtin-stat.c`.
#[derive(Debug)]
pub struct Counts<S> {
    sink: S,
    features: FeaturePayloads<perf_abi::endian::NativeEndian>,
}

impl<S: Sink> Counts<S> {
    /// Begins a capture: the features of the machine, and the records THREAD_MAP, CPU_MAP and STAT_CONFIG.
    ///
    /// # Errors
    ///
    /// Those of the sink.
    pub fn begin(mut sink: S, counted: &Counted<'_>) -> Result<Self, Error> {
        let mut features = FeaturePayloads::new();
        let words: Vec<&[u8]> = counted.command_line.iter().map(Vec::as_slice).collect();
        host::describe(Path::new(ROOT), counted.version, &words, &mut features)?;
        features.set(&FeatureData::Stat)?;
        sink.begin(&Head { events: counted.events, features: &features })?;
        let mut write = |record: &[u8]| sink.records(record);
        thread_map(counted.threads, &mut write)?;
        cpu_map(counted.cpus.to_vec(), &mut write)?;
        let config = [
            (StatConfigTerm::AGGR_MODE, counted.aggr_mode),
            (StatConfigTerm::INTERVAL, counted.interval),
            (StatConfigTerm::SCALE, 1),
        ];
        let mut body = Vec::new();
        word(&mut body, config.len() as u64);
        for (term, value) in config {
            word(&mut body, term.0);
            word(&mut body, value);
        }
        put(RecordType::STAT_CONFIG, &body, &mut write)?;
        sink.flush()?;
        Ok(Self { sink, features })
    }

    /// Returns the sink.
    pub fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Adds a count: the sum since the start.
    ///
    /// # Errors
    ///
    /// Those of the sink.
    pub fn count(&mut self, count: &Stat<'_>) -> Result<(), Error> {
        let Stat { id, cpu, thread, val, ena, run, .. } = *count;
        let mut body = Vec::new();
        word(&mut body, id);
        body.extend(cpu.to_ne_bytes());
        body.extend(thread.to_ne_bytes());
        [val, ena, run].into_iter().for_each(|value| word(&mut body, value));
        put(RecordType::STAT, &body, &mut |record| self.sink.records(record))
    }

    /// Ends a round of counts, `time` nanoseconds after the start.
    ///
    /// # Errors
    ///
    /// Those of the sink.
    pub fn round(&mut self, kind: StatRoundType, time: u64) -> Result<(), Error> {
        let mut body = Vec::new();
        word(&mut body, kind.0);
        word(&mut body, time);
        put(RecordType::STAT_ROUND, &body, &mut |record| self.sink.records(record))?;
        self.sink.flush()
    }

    /// Ends the capture. Returns the sink.
    ///
    /// # Errors
    ///
    /// Those of the sink.
    pub fn finish(mut self) -> Result<S, Error> {
        self.sink.finish(&self.features)?;
        Ok(self.sink)
    }
}
