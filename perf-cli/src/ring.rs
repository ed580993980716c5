//! `perfdata ring`: what recorded rings hold, decoded or as a perf.data.

mod attr;
mod aux;
mod linear;

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use perf_abi::attr::AttrFlags;
use perf_abi::endian::Endian;
use perf_parse::file::repair::{Repaired, Step, repair};
use perf_parse::file::{AnyReader, FileError, Reader};
use perf_parse::ring::Direction;

use crate::args::RingArgs;
use crate::dump::{Dump, Places};
use crate::input::{Input, Memory, Work};
use crate::progress::Progress;
use crate::{Failure, Outcome, diagnose};
use linear::Linear;

pub(crate) fn run(args: &RingArgs) -> Result<Outcome, Failure> {
    let attr = Input::open(&args.attr)?;
    let dumps = args.files.iter().map(|file| Input::open(file)).collect::<Result<Vec<_>, _>>()?;
    match attr::read(args, attr.bytes())? {
        AnyReader::Little(reader) => decode(reader, args, &dumps),
        AnyReader::Big(reader) => decode(reader, args, &dumps),
    }
}

/// Decodes the dumps, of whose events `reader` knows.
fn decode<O: Endian>(reader: Reader<'_, O>, args: &RingArgs, dumps: &[Input]) -> Result<Outcome, Failure> {
    let direction = direction(&reader, args)?;
    let apart = args.aux.iter().map(|file| Input::open(file)).collect::<Result<Vec<_>, _>>()?;
    let mut faults = Faults::default();
    let (mut bytes, mut places, mut areas, mut files) =
        (Vec::new(), Places::default(), Vec::new(), Vec::new());
    for (number, (file, dump)) in args.files.iter().zip(dumps).enumerate() {
        let ring = match Linear::<O>::new(dump.bytes(), direction, args) {
            Ok(ring) => ring,
            Err(error) => {
                faults.add(file, error, dump.bytes().len() as u64);
                continue;
            }
        };
        ring.remarks.iter().for_each(|remark| eprintln!("{}: {remark}", file.display()));
        ring.fault.into_iter().for_each(|fault| faults.add(file, fault, ring.unread));
        let area = match apart.get(number) {
            Some(area) => ring.dump.aux_apart(area.bytes()),
            None => ring.dump.aux(),
        };
        let area = area.map_err(|error| faults.add(file, linear::fault(error, error.position), 0));
        areas.push(area.ok().flatten());
        bytes.push(ring.bytes);
        places.0.push(ring.place);
        files.push(file);
    }
    let Some((first, others)) = bytes.split_first() else {
        let advice = "is each file the mapping of a ring, and --attr of its recorder?";
        return Err(Failure(format!("no ring can be read: {advice}")));
    };
    let mut reader = reader.with_records(first);
    others.iter().for_each(|bytes| reader.add_data(bytes));
    if let Some(out) = &args.aux_output {
        for (ring, fault) in aux::extract(&mut reader, &areas, &places, out)? {
            faults.add(files[ring], fault, 0);
        }
        reader.rewind();
    }
    if args.show.order.is_none() {
        reader.in_time_order();
    }
    let files: Vec<&[u8]> = bytes.iter().map(|bytes| &**bytes).collect();
    let memory = Memory { files: &files };
    if let Some(out) = &args.output {
        write(&mut reader, &places, out, memory.size())?;
        for fault in faults.list {
            reader.account_mut().note(fault);
        }
        reader.account_mut().bytes_skipped += faults.unread;
        return Ok(if reader.account().is_clean() { Outcome::Clean } else { Outcome::Partial });
    }
    reader.account_mut().bytes_skipped += faults.unread;
    Dump { args: &args.show, places: &places, told: faults.list }.run(reader, memory)
}

/// Writes the records of the reader to `out`, as a perf.data.
fn write<O: Endian>(
    reader: &mut Reader<'_, O>,
    places: &Places,
    out: &Path,
    size: u64,
) -> Result<(), Failure> {
    let named = |error: &dyn core::fmt::Display| Failure(format!("{}: {error}", out.display()));
    let file = File::create(out).map_err(|error| named(&error))?;
    let mut progress = Progress::new(size);
    let repaired = repair(reader, BufWriter::new(file), |step| match step {
        Step::At(offset) => progress.at(offset),
        Step::Capture { error } => diagnose(&error),
        Step::Unreadable { data_file, error } => {
            diagnose(&FileError { offset: places.of(data_file, error.offset), ..error });
        }
        Step::Unwritable { kind, error, .. } => eprintln!("{kind}: {error}"),
        _ => {}
    });
    let Repaired { written, dropped, .. } = repaired.map_err(|error| named(&error))?;
    eprintln!("perfdata: {}: records written: {written}, dropped: {dropped}", out.display());
    Ok(())
}

/// What is wrong with rings as a whole.
#[derive(Debug, Default)]
struct Faults {
    list: Vec<FileError>,
    /// Bytes that cannot be read for it.
    unread: u64,
}

impl Faults {
    fn add(&mut self, file: &Path, fault: FileError, unread: u64) {
        eprintln!("{}: {fault}", file.display());
        self.list.push(fault);
        self.unread += unread;
    }
}

/// Which way the rings were written.
fn direction<O: Endian>(reader: &Reader<'_, O>, args: &RingArgs) -> Result<Direction, Failure> {
    let backward =
        reader.events().iter().filter(|event| event.attr.flags.contains(AttrFlags::WRITE_BACKWARD));
    match backward.count() {
        _ if args.backward => Ok(Direction::Backward),
        _ if args.forward => Ok(Direction::Forward),
        0 => Ok(Direction::Forward),
        count if count == reader.events().len() => Ok(Direction::Backward),
        _ => {
            let what = "some of its events are written forward and some backward (write_backward)";
            let advice = "give the rings of each apart, with --forward or --backward";
            Err(Failure(format!("{}: {what}: {advice}", args.attr.display())))
        }
    }
}
