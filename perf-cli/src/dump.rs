//! `perfdata dump`: every record, decoded.

mod batch;
mod filter;
mod format;
mod in_order;
mod places;
mod reading;
mod tracepoints;
mod view;

use core::num::NonZero;
use std::thread::available_parallelism;

use perf_abi::endian::Endian;
use perf_abi::feature::Feature;
use perf_parse::file::{Reader, Source};

use crate::args::{DumpArgs, Order, ShowArgs};
use crate::input::{Memory, Work};
use crate::output::{Diagnostics, Faults, Output, say};
use crate::{Failure, Outcome, advice};
use batch::{Batch, Fault};
use filter::Filter;
use format::Formatter;
use in_order::in_order;
pub(crate) use places::{Place, Places, Written};
use reading::Reading;
use tracepoints::Formats;

pub(crate) fn run(args: &DumpArgs) -> Result<Outcome, Failure> {
    let (told, diagnostics) = (Faults::default(), Diagnostics::new());
    let dump = Dump { args: &args.show, places: &Places::default(), told, diagnostics };
    crate::input::read(&args.file, dump)
}

/// The operation that prints records, for a capture in either byte order, in memory or as a stream.
pub(crate) struct Dump<'a> {
    pub(crate) args: &'a ShowArgs,
    /// Maps positions in the input to positions in the files that it comes from.
    pub(crate) places: &'a Places,
    /// Errors that the reader does not find, which are already printed.
    pub(crate) told: Faults,
    pub(crate) diagnostics: Diagnostics,
}

impl Work for Dump<'_> {
    fn run<O: Endian, S: Source>(
        self,
        mut reader: Reader<'_, O, S>,
        memory: Memory<'_>,
    ) -> Result<Outcome, Failure> {
        let Self { args, places, told, mut diagnostics } = self;
        let filter = Filter::new(&reader, args)?;
        let mut output = Output::new();
        if args.order == Some(Order::Time) {
            reader.in_time_order();
        }
        diagnostics.tell_all(reader.account());
        told.note(reader.account_mut());
        check_features(&mut reader, &mut diagnostics);
        // A copy, because the loop below needs the reader mutably.
        let tracing_data = reader.feature(Feature::TRACING_DATA).map(|it| it.bytes.to_vec());
        let formats = Formats::new(tracing_data.as_deref().unwrap_or_default());
        let mut formatter = Formatter::new(&reader, args, &formats);
        formatter.header(&reader, &mut output)?;
        output.flush()?;

        let (mut noted, mut faults) = (reader.account().faults(), Faults::default());
        let mut reading = Reading::new(&mut reader, filter, places, memory, &formats, args.limit);
        in_order(
            args.threads.or_else(|| available_parallelism().ok()).map_or(1, NonZero::get),
            &mut formatter,
            |batch: &mut Batch| {
                batch.clear();
                reading.fill(batch)
            },
            |formatter, batch| batch.format::<O>(formatter, memory.files, places),
            |formatter, batch| -> Result<bool, Failure> {
                while !batch.is_done() {
                    if !output.write(&batch.out)? {
                        return Ok(false);
                    }
                    batch.format::<O>(formatter, memory.files, places);
                }
                batch.faults(&mut noted, |fault| match fault {
                    Fault::Unreadable(error) => diagnostics.tell(&error),
                    Fault::Undecodable(error, noted) => {
                        diagnostics.tell(&error);
                        faults.add(noted, error);
                    }
                });
                output.write(&batch.out)
            },
            |formatter, other| formatter.join(&other),
        )?;
        // The reader was ahead of the formatting and has not noted these errors.
        faults.note(reader.account_mut());
        // A stream may have features among its records.
        check_features(&mut reader, &mut diagnostics);
        drop(diagnostics);

        formatter.account(reader.account(), &mut output.buffer);
        if output.flush()? {
            formatter.complain();
        }
        let account = reader.account();
        if account.is_clean() {
            return Ok(Outcome::Clean);
        }
        let (walked, faults, skipped) = (account.records, account.faults(), account.bytes_skipped);
        let advice = advice(account);
        say!("perfdata: records walked: {walked}, faults: {faults}, bytes skipped: {skipped}{advice}");
        Ok(Outcome::Partial)
    }
}

/// Prints the errors in features, except those that were found before.
fn check_features<O: Endian, S: Source>(reader: &mut Reader<'_, O, S>, diagnostics: &mut Diagnostics) {
    let known = reader.account().diagnostics.clone();
    let faults = reader.check_features();
    faults.iter().filter(|(_, fault)| !known.contains(fault)).for_each(|(_, fault)| diagnostics.tell(fault));
}
