//! `perfdata dump`: every record, decoded.

mod filter;
mod format;
mod places;
mod tracepoints;

use perf_abi::endian::Endian;
use perf_abi::feature::Feature;
use perf_parse::file::{FeatureSection, FileError, Reader, Source};

use crate::args::{DumpArgs, Order, ShowArgs};
use crate::input::Work;
use crate::output::Output;
use crate::progress::Progress;
use crate::{Failure, Outcome, advice, diagnose};
use filter::Filter;
use format::Formatter;
pub(crate) use places::{Place, Places, Written};
use tracepoints::Formats;

pub(crate) fn run(args: &DumpArgs) -> Result<Outcome, Failure> {
    crate::input::read(&args.file, Dump { args: &args.show, places: &Places::default(), told: Vec::new() })
}

/// The printing of records, for a capture of either byte order, in memory or as a stream.
pub(crate) struct Dump<'a> {
    pub(crate) args: &'a ShowArgs,
    /// Where what is read stands in the files that it comes from.
    pub(crate) places: &'a Places,
    /// What is wrong besides what the reader finds, and was said already.
    pub(crate) told: Vec<FileError>,
}

impl Work for Dump<'_> {
    fn run<O: Endian, S: Source>(self, mut reader: Reader<'_, O, S>, size: u64) -> Result<Outcome, Failure> {
        let Self { args, places, told } = self;
        let filter = Filter::new(&reader, args)?;
        let mut output = Output::new();
        let mut progress = Progress::new(size);
        let mut left = args.limit.unwrap_or(u64::MAX);
        if args.order == Some(Order::Time) {
            reader.in_time_order();
        }
        reader.account().diagnostics.iter().for_each(diagnose);
        told.into_iter().for_each(|fault| reader.account_mut().note(fault));
        // A copy, as the reader is asked for records meanwhile.
        let tracing_data = reader.feature(Feature::TRACING_DATA).map(|it| (it.offset, it.bytes.to_vec()));
        let formats = tracing_data.as_ref().map(|(offset, bytes)| {
            let section = FeatureSection::new(Feature::TRACING_DATA, *offset, bytes);
            Formats::new(&section, |fault| {
                diagnose(&fault);
                reader.account_mut().note(fault);
            })
        });
        let mut formatter = Formatter::new(&reader, args, formats.unwrap_or_default());
        formatter.header(&mut reader, &mut output.buffer);
        let mut has_reader = true;
        while has_reader && left > 0 {
            progress.at(reader.offset());
            let mut fault = None;
            match reader.next() {
                Ok(None) => break,
                // The reader has noted it in the account.
                Err(error) => {
                    let offset = places.of(reader.data_file(), error.offset);
                    diagnose(&FileError { offset, ..error });
                    let noted = reader.account_mut().diagnostics.last_mut();
                    if let Some(noted) = noted.filter(|noted| **noted == error) {
                        noted.offset = offset;
                    }
                }
                Ok(Some(mut record)) => {
                    record.offset = places.of(record.data_file, record.offset);
                    if filter.wants(&record) {
                        left -= 1;
                        fault = formatter.record(&record, &mut output.buffer).map(|error| {
                            let inside = error.offset.saturating_sub(record.offset);
                            let offset = places.in_record(record.data_file, record.offset, inside);
                            FileError { offset, ..error }
                        });
                    }
                }
            }
            if let Some(error) = fault {
                diagnose(&error);
                reader.account_mut().note(error);
            }
            has_reader = output.flush_full()?;
        }
        formatter.account(reader.account(), &mut output.buffer);
        if output.flush()? {
            formatter.complain();
        }
        let account = reader.account();
        if account.is_clean() {
            return Ok(Outcome::Clean);
        }
        let faults = account.diagnostics.len() as u64 + account.diagnostics_omitted;
        let (walked, skipped) = (account.records, account.bytes_skipped);
        let advice = advice(account);
        eprintln!("perfdata: records walked: {walked}, faults: {faults}, bytes skipped: {skipped}{advice}");
        Ok(Outcome::Partial)
    }
}
