//! `perfdata dump`: every record, decoded.

mod block;
mod capture;
mod filter;
mod formatter;
mod in_order;
mod origin;
mod reading;
mod tracepoints;

use core::num::NonZero;
use std::thread::available_parallelism;

use perf_abi::endian::Endian;
use perf_abi::feature::Feature;
use perf_abi::regs::Arch;
use perf_parse::file::{Reader, Source};

use crate::args::{DumpArgs, Format, Order, ShowArgs};
use crate::input::{Memory, Work};
use crate::output::{Diagnostics, Faults, Output, say};
use crate::{Failure, Outcome, advice};
use block::{Block, Fault};
use filter::Filter;
use formatter::Formatter;
use in_order::in_order;
pub(crate) use origin::{Origin, Origins, Written};
use reading::Reading;
use tracepoints::Formats;

pub(crate) fn run(args: &DumpArgs) -> Result<Outcome, Failure> {
    let (reported, diagnostics) = (Faults::default(), Diagnostics::new());
    let dump = Dump { args: &args.show, origins: &Origins::default(), reported, diagnostics };
    crate::input::read(&args.file, dump)
}

/// The operation that prints records, for a capture in either byte order, in memory or as a stream.
pub(crate) struct Dump<'a> {
    pub(crate) args: &'a ShowArgs,
    pub(crate) origins: &'a Origins,
    /// Errors that the reader does not find, which are already printed.
    pub(crate) reported: Faults,
    pub(crate) diagnostics: Diagnostics,
}

impl Work for Dump<'_> {
    fn run<O: Endian, S: Source>(
        self,
        mut reader: Reader<'_, O, S>,
        memory: Memory<'_>,
    ) -> Result<Outcome, Failure> {
        let Self { args, origins, reported, mut diagnostics } = self;
        let filter = Filter::new(&reader, args)?;
        let mut output = Output::new();
        if args.order == Some(Order::Time) {
            reader.in_time_order();
        }
        diagnostics.report_all(reader.account());
        reported.note(reader.account_mut());
        check_features(&mut reader, &mut diagnostics);
        // A copy, because the loop below needs the reader mutably.
        let tracing_data = reader.feature(Feature::TRACING_DATA).map(|it| it.bytes.to_vec());
        let formats = Formats::new(tracing_data.as_deref().unwrap_or_default());
        let mut formatter = Formatter::new(args, arch(&reader), &formats);
        if args.format == Format::Jsonl {
            capture::header(&reader, &mut output)?;
        }
        output.flush()?;

        let (mut noted, mut faults) = (reader.account().faults(), Faults::default());
        let mut reading = Reading::new(&mut reader, filter, origins, memory, &formats, args.limit);
        in_order(
            args.threads.or_else(|| available_parallelism().ok()).map_or(1, NonZero::get),
            &mut formatter,
            |block: &mut Block| {
                block.clear();
                reading.fill(block)
            },
            |formatter, block| block.format::<O>(formatter, memory.files, origins),
            |formatter, block| -> Result<bool, Failure> {
                while !block.is_done() {
                    if !output.write(&block.out)? {
                        return Ok(false);
                    }
                    block.format::<O>(formatter, memory.files, origins);
                }
                block.faults(&mut noted, |fault| match fault {
                    Fault::Unreadable(error) => diagnostics.report(&error),
                    Fault::Undecodable(error, noted) => {
                        diagnostics.report(&error);
                        faults.add(noted, error);
                    }
                });
                output.write(&block.out)
            },
            |formatter, other| formatter.merge(&other),
        )?;
        // The reader was ahead of the formatting and has not noted these errors.
        faults.note(reader.account_mut());
        // A stream may have features among its records.
        check_features(&mut reader, &mut diagnostics);
        drop(diagnostics);

        if args.format == Format::Jsonl {
            capture::account(reader.account(), &mut output.buffer);
        }
        if output.flush()? {
            formatter.report_unseen_fields();
        }
        let account = reader.account();
        if account.is_clean() {
            return Ok(Outcome::Clean);
        }
        let (walked, faults, skipped) = (account.records, account.faults(), account.bytes_skipped);
        let advice = advice(account);
        say!("perfdata: records read: {walked}, faults: {faults}, bytes skipped: {skipped}{advice}");
        Ok(Outcome::Partial)
    }
}

/// Returns the architecture of the recorded machine.
fn arch<O: Endian, S: Source>(reader: &Reader<'_, O, S>) -> Option<Arch> {
    Arch::from_machine(core::str::from_utf8(reader.features().arch()?.ok()?).ok()?)
}

/// Prints the errors in features, except those that were found before.
fn check_features<O: Endian, S: Source>(reader: &mut Reader<'_, O, S>, diagnostics: &mut Diagnostics) {
    let known = reader.account().diagnostics.clone();
    let faults = reader.check_features();
    faults
        .iter()
        .filter(|(_, fault)| !known.contains(fault))
        .for_each(|(_, fault)| diagnostics.report(fault));
}
