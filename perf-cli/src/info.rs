//! `perfdata info`: a summary of a capture.

use std::io::Write;

use perf_abi::endian::Endianness;
use perf_abi::feature::Feature;
use perf_abi::provisional::simd_regs::SimdRegsAttr;
use perf_abi::sample_type::SampleType;
use perf_parse::event::Event;
use perf_parse::file::{Account, EventRecords, Mode, RecordCheck};
use perf_parse::{Reader, SampleBatch};

use crate::args::{InfoArgs, InfoFormat};
use crate::build_ids;
use crate::escape::{Printable, Seconds, make_lines_safe, push_hex, shown};
use crate::input;
use crate::outcome::{Failure, Outcome};
use crate::output::{Diagnostics, Output};
use crate::progress::Progress;
use crate::render::feature::lines::{Lines, lines};
use crate::render::header::header;
use crate::render::{self, attr};
use serde_json::{Map, Value, json};

pub(crate) fn run(args: &InfoArgs) -> Result<Outcome, Failure> {
    if args.build_ids {
        return build_ids::run(&args.file, false);
    }
    input::read(&args.file, |reader, memory| {
        let size = memory.size;
        let mut records = reader.records();
        let survey = if args.header_only {
            records.check_features();
            None
        } else {
            Some(Survey::of(&mut records, size))
        };
        let mut output = Output::new();
        if args.format == InfoFormat::Json {
            show_json(&reader, &records, survey.as_ref(), &mut output)?;
            Diagnostics::in_words().report_all(records.account());
            return Ok(if records.account().is_clean() { Outcome::Clean } else { Outcome::Partial });
        }
        let out = &mut output.buffer;
        let (name, endian) = (shown(&*args.file), reader.endianness());
        match reader.mode() {
            Mode::File(header) => {
                writeln!(out, "{name}: perf.data, file mode, {endian}-endian, {size} bytes")?;
                writeln!(
                    out,
                    "header: {} bytes, magic version {}, attrs of {} bytes, data at {:#x} of {} bytes",
                    header.size, header.version, header.attr_size, header.data.offset, header.data.size
                )?;
            }
            mode => writeln!(out, "{name}: perf.data, {} mode, {endian}-endian", mode.name())?,
        }
        writeln!(out, "\nevents: {}", records.events().len())?;
        for (index, event) in records.events().iter().enumerate() {
            let start = output.buffer.len();
            show_event(index, event, endian, &mut output.buffer)?;
            make_lines_safe(&mut output.buffer, start);
            output.flush_full()?;
        }
        writeln!(output.buffer, "\nfeatures: {}", records.features().len())?;
        for section in records.features() {
            let start = output.buffer.len();
            match lines(&section) {
                Ok(lines) => show_feature(section.feature, &lines, &mut output.buffer)?,
                Err(_) => writeln!(output.buffer, "  {:<16} not decodable", section.feature)?,
            }
            make_lines_safe(&mut output.buffer, start);
            output.flush_full()?;
        }
        let start = output.buffer.len();
        if let Some(survey) = survey {
            survey.show(records.account(), &mut output.buffer)?;
        }
        make_lines_safe(&mut output.buffer, start);
        Diagnostics::in_words().report_all(records.account());
        output.flush()?;
        Ok(if records.account().is_clean() { Outcome::Clean } else { Outcome::Partial })
    })
}

/// Prints an object. `survey` is that of all records; without it, there is nothing of records.
fn show_json(
    reader: &Reader<'_>,
    records: &EventRecords<'_>,
    survey: Option<&Survey>,
    output: &mut Output,
) -> Result<(), Failure> {
    output.buffer.push(b'{');
    header(reader, records, output)?;
    let out = &mut output.buffer;
    if let Some(survey) = survey {
        let account = records.account();
        let types: Map<_, _> =
            account.by_type().map(|(kind, count)| (kind.to_string(), count.into())).collect();
        let time = survey.span().map(|(first, last)| json!({ "first": first, "last": last }));
        write!(out, ",\"records\":{},\"time\":{}", Value::from(types), json!(time))?;
        write!(out, ",\"account\":{}", render::account::value(account))?;
    }
    out.extend_from_slice(b"}\n");
    output.flush()?;
    Ok(())
}

/// The width of the text, in columns.
const WIDTH: usize = 110;

fn show_event(index: usize, event: &Event, endianness: Endianness, out: &mut Vec<u8>) -> std::io::Result<()> {
    write!(out, "  {index}")?;
    if let Some(name) = &event.name {
        write!(out, " {}", Printable(name))?;
    }
    let mut column = usize::MAX;
    for field in attr::summary(&event.attr) {
        // Flags that do not fit on the line go to a line of their own.
        if column.saturating_add(field.len()) > WIDTH {
            write!(out, "\n     ")?;
            column = 5;
        }
        write!(out, " {field}")?;
        column += 1 + field.len();
    }
    writeln!(out)?;
    show_unknown(event, endianness, out)?;
    if !event.ids.is_empty() {
        write!(out, "      ids:")?;
        event.ids.iter().try_for_each(|id| write!(out, " {id}"))?;
        writeln!(out)?;
    }
    Ok(())
}

/// Prints the bytes of the attr that no field of a released kernel has, if any is set.
fn show_unknown(event: &Event, endianness: Endianness, out: &mut Vec<u8>) -> std::io::Result<()> {
    if attr::unknown_bytes(&event.attr_tail).next().is_none() {
        return Ok(());
    }
    if event.layout.has_provisional_abi()
        && let Some(simd) = SimdRegsAttr::read(endianness, &event.attr_tail)
    {
        return writeln!(out, "      provisional: {}", attr::simd_regs_summary(&simd));
    }
    write!(out, "      unknown attr bytes:")?;
    for (offset, group) in attr::unknown_bytes(&event.attr_tail) {
        write!(out, " {offset}=")?;
        push_hex(out, group);
    }
    writeln!(out)
}

/// Prints a feature on one line, and its entries below it.
fn show_feature(feature: Feature, lines: &Lines, out: &mut Vec<u8>) -> std::io::Result<()> {
    writeln!(out, "  {feature:<16} {}", lines.value)?;
    lines.entries.iter().try_for_each(|entry| writeln!(out, "      {entry}"))
}

/// The result of a pass over all records, besides the account.
struct Survey {
    /// One less than the first time of any record, in nanoseconds; [`u64::MAX`] if there is none. Ignores 0, the time of
    /// records that perf synthesized: one less than that is the largest number.
    before: u64,
    /// The last time of any record; 0 if there is none.
    last: u64,
}

impl Survey {
    fn of(records: &mut EventRecords<'_>, size: u64) -> Self {
        let mut progress = Progress::new(size, true);
        records.check_features();
        // As in `dump`: with the features known before the first record.
        let tracing_data = records.feature(Feature::TRACING_DATA).map(|it| it.bytes.to_vec());
        let check = RecordCheck::new(tracing_data.as_deref().unwrap_or_default());
        let mut survey = Self { before: u64::MAX, last: 0 };
        let mut batch = SampleBatch::<256>::new(SampleType::TIME);
        loop {
            progress.at(EventRecords::reached(records).offset);
            // The samples of a batch are decoded to their last byte. With formats, their raw data is checked too.
            if tracing_data.is_none() {
                records.next_batch(&mut batch);
                survey.add(batch.time().unwrap_or_default());
                if batch.is_full() {
                    continue;
                }
            }
            match records.next() {
                None => {
                    // A stream may have features among its records.
                    records.check_features();
                    return survey;
                }
                // The walk has noted the error in the account.
                Some(Err(_)) => {}
                Some(Ok(record)) => match check.record(&record) {
                    Ok(()) => survey.add(record.time().as_slice()),
                    Err(error) => records.account_mut().note(error),
                },
            }
        }
    }

    /// Adds the times of records.
    fn add(&mut self, times: &[u64]) {
        for &time in times {
            self.before = self.before.min(time.wrapping_sub(1));
            self.last = self.last.max(time);
        }
    }

    /// Returns the first and the last time of any record.
    fn span(&self) -> Option<(u64, u64)> {
        (self.last != 0).then(|| (self.before.wrapping_add(1), self.last))
    }

    fn show(&self, account: &Account, out: &mut Vec<u8>) -> std::io::Result<()> {
        write!(out, "\nrecords: {}, {} bytes", account.records, account.bytes)?;
        let announced = account.announced;
        let after = "of AUX and tracing data after AUXTRACE and HEADER_TRACING_DATA";
        writeln!(
            out,
            "{}",
            if announced > 0 { format!(", {announced} of them {after}") } else { String::new() }
        )?;
        for (kind, count) in account.by_type() {
            writeln!(out, "  {kind:<20} {count:>10}")?;
        }
        let known: u64 = account.by_type().map(|(_, count)| count).sum();
        if known < account.records {
            writeln!(out, "  {:<20} {:>10}", "of unknown types", account.records - known)?;
        }
        if let Some((first, last)) = self.span() {
            writeln!(out, "\ntime: {} to {}, {} s", Seconds(first), Seconds(last), Seconds(last - first))?;
        }
        write!(out, "lost while recording: {} records, {} samples", account.lost, account.lost_samples)?;
        let at_end = ", and an unknown number at the end, because the recorder did not finish the file";
        writeln!(out, "{}", if account.unfinished { at_end } else { "" })?;
        let guesses = account.mmap2_guesses;
        for (count, layout) in [
            (guesses.current, "with protection and flags, as since Linux 3.16"),
            (guesses.old, "without protection and flags, as at the time of Linux 3.12"),
        ] {
            if count > 0 {
                writeln!(out, "guessed: {count} MMAP2 records fit two layouts and were read {layout}")?;
            }
        }
        if account.is_clean() {
            return writeln!(out, "account: clean, every byte was decoded");
        }
        let faults = account.faults();
        writeln!(
            out,
            "account: {} bytes skipped, faults: {faults} (see standard error)",
            account.bytes_skipped
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_span_is_that_of_the_times_that_are_not_0() {
        for (times, expected) in [
            (&[][..], None),
            (&[0, 0], None),
            (&[0, 7, 0], Some((7, 7))),
            (&[7, 3, 9, 0], Some((3, 9))),
            (&[1, u64::MAX], Some((1, u64::MAX))),
            (&[u64::MAX], Some((u64::MAX, u64::MAX))),
        ] {
            let mut survey = Survey { before: u64::MAX, last: 0 };
            times.iter().for_each(|time| survey.add(&[*time]));
            assert_eq!(survey.span(), expected, "{times:?}");
            let mut at_once = Survey { before: u64::MAX, last: 0 };
            at_once.add(times);
            assert_eq!(at_once.span(), expected, "{times:?}");
        }
    }
}
