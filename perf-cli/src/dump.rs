//! `perfdata dump`: every record, decoded.

mod block;
mod capture;
mod filter;
mod formatter;
mod labels;
mod origin;
mod packets;
mod raw_formats;
mod reading;
pub(crate) mod tracepoints;

use core::num::NonZero;
use std::thread::{self, Scope, available_parallelism};

use perf_abi::feature::Feature;
use perf_abi::regs::Arch;
use perf_parse::file::{Account, Blocks, EventRecords, FileError, Mode, Reader};
use perf_profile::work::batch::take_account;
use perf_profile::work::in_order::in_order;

use crate::args::{DumpArgs, Format, Order, ShowArgs};
use crate::batch::deliver;
use crate::input::Memory;
use crate::outcome::{Failure, Outcome, advice};
use crate::output::{Diagnostics, Output, say};
use crate::progress::Progress;
use block::Block;
use filter::Filter;
use formatter::Formatter;
pub(crate) use origin::{RingOrigin, RingOrigins, WriteDirection};
use packets::PacketFinder;
use raw_formats::RawFormats;
use reading::{Reading, Source, Walk};

/// The number of bytes of a capture that one thread decodes at a time.
const PART: u64 = 256 << 10;

pub(crate) fn run(args: &DumpArgs) -> Result<Outcome, Failure> {
    crate::input::read(&args.file, |reader, memory| {
        let order = args.show.order.unwrap_or(Order::File);
        let rings = Rings { origins: &RingOrigins::default(), faults: Vec::new(), unread: 0 };
        dump(&reader, memory, &args.show, order, rings, Diagnostics::new())
    })
}

/// What is known of the rings whose dumps are the input; nothing for a capture.
#[derive(Debug)]
pub(crate) struct Rings<'a> {
    pub(crate) origins: &'a RingOrigins,
    /// The faults in rings as a whole, which are already printed.
    pub(crate) faults: Vec<FileError>,
    /// The number of bytes that cannot be read because of them.
    pub(crate) unread: u64,
}

impl Rings<'_> {
    /// Adds the faults to the front of an account.
    pub(crate) fn note(self, account: &mut Account) {
        account.note_among(self.faults.into_iter().map(|fault| (0, fault)));
        account.bytes_skipped += self.unread;
    }
}

/// Prints the records of a capture, or of the dumps of rings.
pub(crate) fn dump(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    args: &ShowArgs,
    order: Order,
    rings: Rings<'_>,
    diagnostics: Diagnostics,
) -> Result<Outcome, Failure> {
    thread::scope(|scope| dump_in(scope, reader, memory, args, order, rings, diagnostics))
}

/// Does what [`dump`] does. The thread that orders records ahead runs in `scope`.
#[allow(clippy::too_many_arguments, reason = "as above, and the scope")]
fn dump_in<'scope, 'r: 'scope>(
    scope: &'scope Scope<'scope, '_>,
    reader: &'r Reader<'_>,
    memory: Memory<'_>,
    args: &ShowArgs,
    order: Order,
    rings: Rings<'_>,
    mut diagnostics: Diagnostics,
) -> Result<Outcome, Failure> {
    let filter = Filter::new(reader, args)?;
    let mut output = Output::new();
    let origins = rings.origins;
    let threads = args.threads.or_else(|| available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN);
    let (mut first, parts) = begin(reader, memory, &filter, args, order);
    if threads.get() > 1 {
        first = first.decompress_ahead().order_ahead(scope);
    }
    rings.note(first.account_mut());
    let known_faults = first.check_features();
    let mut total = take_account(first.account_mut());
    diagnostics.report_new(&total);
    let arch = arch(reader);
    let formats = RawFormats::new(reader, arch);
    let finder = PacketFinder::of(reader, args);
    let finder = finder.as_ref();
    let mut formatter = Formatter::new(args, arch, &formats);
    if args.format == Format::Jsonl {
        capture::header(reader, &first, &mut output)?;
    }
    output.flush()?;

    let first = filter.select(first);
    let source = match parts {
        Some(parts) => Source::Parts(Some(first), parts),
        None => Source::Walk(Walk {
            records: first,
            left: args.limit.unwrap_or(u64::MAX),
            is_stream: !reader.can_walk_again(),
            in_time_order: order == Order::Time,
        }),
    };
    let mut reading =
        Reading { source, filter: &filter, origins, progress: Progress::new(memory.size, true) };
    let mut last = None;
    in_order(
        threads,
        &mut formatter,
        |block: &mut Block<'r>| reading.fill(block),
        |formatter, block| block.format(formatter, &filter, origins, finder),
        |formatter, block| {
            let format_more = |block: &mut Block<'r>| block.format(formatter, &filter, origins, finder);
            let is_open = deliver(block, format_more, &mut output, &mut total, &mut diagnostics)?;
            last = block.take_walk();
            Ok::<_, Failure>(is_open)
        },
        |formatter, other| formatter.merge(&other),
    )?;
    if let Source::Walk(Walk { records, .. }) = reading.source {
        total.add(records.account());
        last = Some(records);
    }
    if let (Some(mut last), Mode::Pipe) = (last, reader.mode()) {
        // A stream may have features among its records.
        for (feature, fault) in last.check_features() {
            if !known_faults.contains(&(feature, fault)) {
                total.note_once(fault);
            }
        }
    }
    diagnostics.report_all(&total);
    drop(diagnostics);

    if args.format == Format::Jsonl {
        capture::account(&total, &mut output.buffer);
    }
    if output.flush()? {
        formatter.report_unseen_fields();
    }
    if total.is_clean() {
        return Ok(Outcome::Clean);
    }
    let (walked, faults, skipped) = (total.records, total.faults(), total.bytes_skipped);
    let advice = advice(&total);
    say!("perfdata: records read: {walked}, faults: {faults}, bytes skipped: {skipped}{advice}");
    Ok(Outcome::Partial)
}

/// Returns the walk over the records, or over those of the first part of the capture and the parts after it.
///
/// A capture is cut into parts if all of it is in memory as it was recorded, and if its order is that of the output.
fn begin<'r>(
    reader: &'r Reader<'_>,
    memory: Memory<'_>,
    filter: &Filter,
    args: &ShowArgs,
    order: Order,
) -> (EventRecords<'r>, Option<Blocks<'r>>) {
    if let Some(records) = filter.indexed(reader, memory) {
        return (if order == Order::Time { records.in_time_order() } else { records }, None);
    }
    if order == Order::Time {
        return (reader.records().in_time_order(), None);
    }
    if args.limit.is_none() && reader.can_walk_again() && reader.feature(Feature::COMPRESSED).is_none() {
        let mut parts = reader.blocks(usize::try_from(memory.size.div_ceil(PART)).unwrap_or(usize::MAX));
        if let Some(first) = parts.next() {
            return (first, Some(parts));
        }
    }
    (reader.records(), None)
}

/// Returns the architecture of the recorded machine.
fn arch(reader: &Reader<'_>) -> Option<Arch> {
    Arch::from_machine(reader.features().arch().ok()??.to_str().ok()?)
}
