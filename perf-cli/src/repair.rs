//! `perfdata repair`: a well-formed perf.data from what can be read of a capture.

use std::fs::File;
use std::io::BufWriter;

use perf_abi::endian::Endian;
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;
use perf_parse::Record;
use perf_parse::file::write::{EventFields, FileWriter, Options, WriteFileError};
use perf_parse::file::{FileError, FileRecord, Reader, Source};
use serde_json::json;

use crate::args::RepairArgs;
use crate::input::{self, Work};
use crate::progress::Progress;
use crate::render::account;
use crate::render::feature::feature;
use crate::{Failure, Outcome, diagnose};

pub(crate) fn run(args: &RepairArgs) -> Result<Outcome, Failure> {
    input::read_whole(&args.file, Repair { args })
}

/// The work of the verb.
struct Repair<'a> {
    args: &'a RepairArgs,
}

type Writer<O> = FileWriter<O, BufWriter<File>>;

impl Work for Repair<'_> {
    fn run<O: Endian, S: Source>(self, mut reader: Reader<'_, O, S>, size: u64) -> Result<Outcome, Failure> {
        let (input, output) = (&self.args.file, &self.args.output);
        let is_same = |a: &std::path::Path, b: &std::path::Path| {
            a.canonicalize().ok().is_some_and(|a| b.canonicalize().is_ok_and(|b| a == b))
        };
        if is_same(input, output) {
            return Err(Failure(format!(
                "{}: is the capture itself; give -o another name",
                output.display()
            )));
        }
        // Events and features of a stream are known when its end is.
        while !matches!(reader.next(), Ok(None)) {}
        reader.rewind();
        let named = |error: &dyn core::fmt::Display| Failure(format!("{}: {error}", output.display()));
        let file = File::create(output).map_err(|error| named(&error))?;
        let mut writer = Writer::<O>::new(BufWriter::new(file), &events(&reader), &Options::default())
            .map_err(|error| named(&error))?;
        let features_dropped = copy_features(&mut reader, &mut writer).map_err(|error| named(&error))?;
        let mut progress = Progress::new(size);
        let (mut written, mut dropped) = (0_u64, 0_u64);
        loop {
            progress.at(reader.offset());
            let fault = match reader.next() {
                Ok(None) => break,
                // The reader has noted it.
                Err(error) => {
                    diagnose(&error);
                    continue;
                }
                Ok(Some(record)) if is_section(record.raw.kind()) => continue,
                Ok(Some(record)) => match check(&record) {
                    Ok(()) => match writer.raw(&record.raw, record.behind) {
                        Ok(()) => None,
                        Err(error @ WriteFileError::Record { .. }) => {
                            eprintln!("{:#x}: {}: {error}", record.offset, record.raw.kind());
                            dropped += 1;
                            continue;
                        }
                        Err(error) => return Err(named(&error)),
                    },
                    Err(error) => Some(error),
                },
            };
            match fault {
                None => written += 1,
                Some(error) => {
                    dropped += 1;
                    diagnose(&error);
                    reader.account_mut().note(error);
                }
            }
        }
        writer.finish().map_err(|error| named(&error))?;
        let account = reader.account();
        if let Some(path) = &self.args.report {
            let report = json!({
                "account": account::value(account),
                "written": written,
                "dropped": dropped,
                "features_dropped": features_dropped,
            });
            std::fs::write(path, format!("{report:#}\n"))
                .map_err(|error| Failure(format!("{}: {error}", path.display())))?;
        }
        let skipped = account.bytes_skipped;
        eprintln!("perfdata: records written: {written}, dropped: {dropped}, bytes skipped: {skipped}");
        Ok(if account.is_clean() && dropped == 0 { Outcome::Clean } else { Outcome::Partial })
    }
}

/// The events to be written. perf wants a name for each or for none.
fn events<O: Endian, S: Source>(reader: &Reader<'_, O, S>) -> Vec<EventFields> {
    let has_names = reader.events().iter().any(|event| event.name.is_some());
    let fields = |(index, event): (usize, _)| {
        // The EVENT_UPDATE records that gave units and scales are copied as they are.
        let mut fields = EventFields { unit: None, scale: None, ..EventFields::from(event) };
        if has_names {
            fields.name.get_or_insert_with(|| format!("event-{index}").into_bytes());
        }
        fields
    };
    reader.events().iter().enumerate().map(fields).collect()
}

/// Copies the features that can be decoded; the names of the others.
fn copy_features<O: Endian, S: Source>(
    reader: &mut Reader<'_, O, S>,
    writer: &mut Writer<O>,
) -> Result<Vec<String>, WriteFileError> {
    // Of the container and not of what it holds: these are made anew, or are no longer so.
    let made_anew = [Feature::EVENT_DESC, Feature::AUXTRACE, Feature::COMPRESSED, Feature::DIR_FORMAT];
    let mut faults = Vec::new();
    let mut dropped = Vec::new();
    for section in reader.features().filter(|section| !made_anew.contains(&section.feature)) {
        match feature(reader, &section) {
            Ok(_) => writer.features().raw(section.feature, section.bytes)?,
            Err(error) => {
                dropped.push(section.feature.to_string());
                faults.push(error);
            }
        }
    }
    for fault in faults {
        if reader.account_mut().note_once(fault) {
            diagnose(&fault);
        }
    }
    Ok(dropped)
}

/// Whether a record stands in a stream for what a file has a section for, or is its own container.
fn is_section(kind: RecordType) -> bool {
    let sections = [RecordType::HEADER_ATTR, RecordType::HEADER_FEATURE, RecordType::HEADER_TRACING_DATA];
    sections.contains(&kind)
}

/// Whether all of a record can be decoded.
fn check<O: Endian>(record: &FileRecord<'_, O>) -> Result<(), FileError> {
    if let Record::Sample(sample) = record.decode()? {
        sample.tail().map_err(|error| record.error(error))?;
    }
    record.sample_id().map(|_| ())
}
