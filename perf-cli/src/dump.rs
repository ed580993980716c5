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
use perf_parse::file::{Account, FeatureSection, FileError, Reader, Source};

use crate::args::{DumpArgs, Order, ShowArgs};
use crate::input::{Memory, Work};
use crate::output::Output;
use crate::{Failure, Outcome, advice, diagnose};
use batch::{Batch, Fault};
use filter::Filter;
use format::Formatter;
use in_order::in_order;
pub(crate) use places::{Place, Places, Written};
use reading::Reading;
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
    fn run<O: Endian, S: Source>(
        self,
        mut reader: Reader<'_, O, S>,
        memory: Memory<'_>,
    ) -> Result<Outcome, Failure> {
        let Self { args, places, told } = self;
        let filter = Filter::new(&reader, args)?;
        let mut output = Output::new();
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
        let formats = formats.unwrap_or_default();
        let mut formatter = Formatter::new(&reader, args, &formats);
        formatter.header(&mut reader, &mut output)?;
        output.flush()?;

        let mut faults = Faults { told: reader.account().faults(), ..Faults::default() };
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
                faults.tell(batch);
                output.write(&batch.out)
            },
            |formatter, other| formatter.join(&other),
        )?;
        faults.note(reader.account_mut());

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
        eprintln!("perfdata: records walked: {walked}, faults: {faults}, bytes skipped: {skipped}{advice}");
        Ok(Outcome::Partial)
    }
}

/// What of the records could not be decoded. The reader, which is ahead, has not noted it.
#[derive(Debug, Default)]
struct Faults {
    /// Things that the reader has noted before what is told now.
    told: u64,
    /// Each behind so many that the reader has noted; no more than an account keeps.
    kept: Vec<(u64, FileError)>,
    omitted: u64,
}

impl Faults {
    /// Says what is wrong in a batch.
    fn tell(&mut self, batch: &Batch) {
        let Self { told, kept, omitted } = self;
        batch.faults(told, |fault| match fault {
            Fault::Unreadable(error) => diagnose(&error),
            Fault::Undecodable(error, behind) => {
                diagnose(&error);
                if kept.len() < Account::MAX_DIAGNOSTICS {
                    kept.push((behind, error));
                } else {
                    *omitted += 1;
                }
            }
        });
    }

    /// Puts them into the account, each where it was told.
    fn note(self, account: &mut Account) {
        if self.kept.is_empty() {
            return;
        }
        let noted = core::mem::take(&mut account.diagnostics);
        let mut noted = (0_u64..).zip(noted).peekable();
        for (behind, error) in self.kept {
            while let Some((_, noted)) = noted.next_if(|&(index, _)| index < behind) {
                account.note(noted);
            }
            account.note(error);
        }
        noted.for_each(|(_, noted)| account.note(noted));
        account.diagnostics_omitted += self.omitted;
    }
}
