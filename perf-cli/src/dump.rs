//! `perfdata dump`: every record, decoded.

mod filter;
mod format;
mod tracepoints;

use perf_abi::endian::Endian;
use perf_parse::file::{AnyFile, File};

use crate::args::DumpArgs;
use crate::input::Input;
use crate::output::Output;
use crate::progress::Progress;
use crate::{Failure, Outcome, diagnose, not_readable};
use filter::Filter;
use format::Formatter;
use tracepoints::Formats;

pub(crate) fn run(args: &DumpArgs) -> Result<Outcome, Failure> {
    let input = Input::open(&args.file)?;
    match AnyFile::open(input.bytes()).map_err(|error| not_readable(&args.file, &error))? {
        AnyFile::Little(file) => dump(&file, args),
        AnyFile::Big(file) => dump(&file, args),
    }
}

fn dump<'a, O: Endian>(file: &File<'a, O>, args: &'a DumpArgs) -> Result<Outcome, Failure> {
    let filter = Filter::new(file, args)?;
    let mut output = Output::new();
    let mut progress = Progress::new(file.bytes().len() as u64);
    let mut left = args.limit.unwrap_or(u64::MAX);
    file.diagnostics().iter().for_each(diagnose);
    let mut records = file.records();
    let mut fault = |error| {
        diagnose(&error);
        records.account_mut().note(error);
    };
    let formats = Formats::new(file, &mut fault);
    let mut formatter = Formatter::new(file, args, formats);
    formatter.header(file, &mut output.buffer, &mut fault);
    let mut has_reader = true;
    while has_reader && left > 0 {
        let Some(next) = records.next() else { break };
        let record = match next {
            Ok(record) => record,
            // The walk has noted it in the account, and ends.
            Err(error) => {
                diagnose(&error);
                break;
            }
        };
        progress.at(record.offset);
        if !filter.wants(&record) {
            continue;
        }
        left -= 1;
        if let Some(error) = formatter.record(&record, &mut output.buffer) {
            diagnose(&error);
            records.account_mut().note(error);
        }
        has_reader = output.flush_full()?;
    }
    formatter.account(records.account(), &mut output.buffer);
    if output.flush()? {
        formatter.complain();
    }
    let account = records.account();
    if account.is_clean() {
        return Ok(Outcome::Clean);
    }
    let faults = account.diagnostics.len() as u64 + account.diagnostics_omitted;
    let (walked, skipped) = (account.records, account.bytes_skipped);
    eprintln!("perfdata: {walked} records walked, {faults} faults, {skipped} bytes skipped");
    Ok(Outcome::Partial)
}
