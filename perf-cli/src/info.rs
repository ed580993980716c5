//! `perfdata info`: what a capture is.

use std::io::Write;

use perf_abi::endian::Endian;
use perf_abi::feature::Feature;
use perf_parse::Record;
use perf_parse::file::{Account, AnyFile, Event, File, FileError, FileRecord};

use crate::args::InfoArgs;
use crate::input::Input;
use crate::output::Output;
use crate::progress::Progress;
use crate::render::attr;
use crate::render::escape::{Printable, Seconds};
use crate::render::feature::lines::{Lines, lines};
use crate::{Failure, Outcome, diagnose, not_readable};

pub(crate) fn run(args: &InfoArgs) -> Result<Outcome, Failure> {
    let input = Input::open(&args.file)?;
    match AnyFile::open(input.bytes()).map_err(|error| not_readable(&args.file, &error))? {
        AnyFile::Little(file) => info(&file, args),
        AnyFile::Big(file) => info(&file, args),
    }
}

fn info<O: Endian>(file: &File<'_, O>, args: &InfoArgs) -> Result<Outcome, Failure> {
    let mut output = Output::new();
    let out = &mut output.buffer;
    let endian = file.endianness();
    let header = file.header();
    writeln!(
        out,
        "{}: perf.data, file mode, {endian}-endian, {} bytes",
        args.file.display(),
        file.bytes().len()
    )?;
    writeln!(
        out,
        "header: {} bytes, magic version {}, attrs of {} bytes, data at {:#x} of {} bytes",
        header.size, header.version, header.attr_size, header.data.offset, header.data.size
    )?;
    writeln!(out, "\nevents: {}", file.events().len())?;
    for (index, event) in file.events().iter().enumerate() {
        show_event(index, event, out)?;
    }
    let mut faults = file.diagnostics().to_vec();
    writeln!(out, "\nfeatures: {}", file.features().len())?;
    for section in file.features() {
        match lines(file, section) {
            Ok(lines) => show_feature(section.feature, &lines, out)?,
            Err(error) => {
                writeln!(out, "  {:<16} not decodable", section.feature)?;
                // Opening the file reads some sections too, and one section's fault may be why another is not decoded.
                if !faults.contains(&error) {
                    faults.push(error);
                }
            }
        }
    }
    let survey = Survey::of(file, &faults[file.diagnostics().len()..]);
    survey.show(out)?;
    survey.account.diagnostics.iter().for_each(diagnose);
    output.flush()?;
    Ok(if survey.account.is_clean() { Outcome::Clean } else { Outcome::Partial })
}

fn show_event<O: Endian>(index: usize, event: &Event<'_, O>, out: &mut Vec<u8>) -> std::io::Result<()> {
    write!(out, "  {index}")?;
    if let Some(name) = event.name {
        write!(out, " {}", Printable(name))?;
    }
    writeln!(out, "\n      {}", attr::summary(&event.attr))?;
    if !event.ids.is_empty() {
        write!(out, "      ids:")?;
        event.ids.iter().try_for_each(|id| write!(out, " {}", id.get()))?;
        writeln!(out)?;
    }
    Ok(())
}

/// A feature on a line, what it lists below it.
fn show_feature(feature: Feature, lines: &Lines, out: &mut Vec<u8>) -> std::io::Result<()> {
    writeln!(out, "  {feature:<16} {}", lines.value)?;
    lines.entries.iter().try_for_each(|entry| writeln!(out, "      {entry}"))
}

/// What a pass over all records found.
struct Survey {
    account: Account,
    /// The first and the last nanosecond that a record tells, but for the zeros of records that perf made up.
    span: Option<(u64, u64)>,
}

impl Survey {
    fn of<O: Endian>(file: &File<'_, O>, faults: &[FileError]) -> Self {
        let mut progress = Progress::new(file.bytes().len() as u64);
        let mut span: Option<(u64, u64)> = None;
        let mut records = file.records();
        faults.iter().for_each(|&fault| records.account_mut().note(fault));
        while let Some(Ok(record)) = records.next() {
            progress.at(record.offset);
            match time(&record) {
                Ok(None | Some(0)) => {}
                Ok(Some(time)) => {
                    let (first, last) = span.unwrap_or((time, time));
                    span = Some((first.min(time), last.max(time)));
                }
                Err(error) => records.account_mut().note(error),
            }
        }
        Self { account: records.account().clone(), span }
    }

    fn show(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        let account = &self.account;
        writeln!(out, "\nrecords: {}, {} bytes", account.records, account.bytes)?;
        for (kind, count) in account.by_type() {
            writeln!(out, "  {kind:<20} {count:>10}")?;
        }
        let known: u64 = account.by_type().map(|(_, count)| count).sum();
        if known < account.records {
            writeln!(out, "  {:<20} {:>10}", "of unknown types", account.records - known)?;
        }
        if let Some((first, last)) = self.span {
            writeln!(out, "\ntime: {} to {}, {} s", Seconds(first), Seconds(last), Seconds(last - first))?;
        }
        writeln!(out, "lost while recording: {} records, {} samples", account.lost, account.lost_samples)?;
        if account.is_clean() {
            return writeln!(out, "account: clean, every byte was decoded");
        }
        let faults = account.diagnostics.len() as u64 + account.diagnostics_omitted;
        writeln!(
            out,
            "account: {} bytes skipped, {faults} faults (see standard error)",
            account.bytes_skipped
        )
    }
}

/// When a record was made, after all of it was decoded.
fn time<O: Endian>(record: &FileRecord<'_, O>) -> Result<Option<u64>, FileError> {
    if let Record::Sample(sample) = record.decode()? {
        sample.tail().map_err(|error| record.error(error))?;
        return Ok(sample.time());
    }
    Ok(record.sample_id()?.and_then(|trailer| trailer.time()))
}
