//! `perfdata ring`: decodes dumps of rings, or writes them as a perf.data.

mod attr;
mod aux_area;
mod linear;
mod words;

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use perf_abi::attr::AttrFlags;
use perf_abi::endian::{BigEndian, Endianness, LittleEndian};
use perf_parse::file::write::WriteFileError;
use perf_parse::file::{FileError, Reader};
use perf_parse::rewrite::{self, EditSummary, RepairStep, repair};
use perf_parse::ring::Direction;

use crate::args::{Order, RingArgs};
use crate::dump::{RingOrigins, Rings, dump};
use crate::escape::shown;
use crate::input::{Input, Memory, of_wanted_abi};
use crate::outcome::{Failure, Outcome};
use crate::output::{BUFFER, Diagnostics, FileContent, OutputClaim, Outputs, say};
use crate::progress::Progress;
use aux_area::AuxSummary;
use linear::{Linear, Positions, has_control_page};

pub(crate) fn run(args: &RingArgs) -> Result<Outcome, Failure> {
    #[cfg(target_os = "linux")]
    crate::output::remove_unfinished_on_signals();
    positions_of_each(args)?;
    let attr = match words::of_argument(&args.attr) {
        Some(text) => Attr::Words(text),
        None => Attr::File(Input::open(&args.attr)?),
    };
    let [dumps, apart] = [&args.files, &args.aux]
        .map(|files| files.iter().map(|file| Input::open(file)).collect::<Result<Vec<_>, _>>());
    let (dumps, apart) = (dumps?, apart?);
    let of_attr = match &attr {
        Attr::File(input) => Some(input),
        Attr::Words(_) => None,
    };
    let inputs = dumps.iter().chain(&apart).chain(of_attr).filter_map(|input| input.file.clone());
    let mut outputs = Outputs::of(inputs);
    if args.output.is_none() {
        outputs.print();
    }
    let mut claim =
        |option, path: &Option<PathBuf>| path.as_ref().map(|path| outputs.claim(option, path)).transpose();
    let out = RingOutputs { aux: claim("--aux-output", &args.aux_output)?, data: claim("-o", &args.output)? };
    decode(args, &attr, &dumps, &apart, out)
}

/// What `--attr` names.
enum Attr<'a> {
    /// A perf.data, or the bytes of an attr.
    File(Input),
    Words(&'a str),
}

/// Refuses positions that are not one for each dump, in the order of the dumps.
fn positions_of_each(args: &RingArgs) -> Result<(), Failure> {
    if !args.tail.is_empty() && args.head.is_empty() {
        let advice =
            "give the data_head of a dump without a control page too; a dump with a control page has both";
        return Err(Failure(format!("--tail needs --head: {advice}")));
    }
    for (option, positions) in [("--head", &args.head), ("--tail", &args.tail)] {
        let (dumps, positions) = (args.files.len(), positions.len());
        if positions != 0 && positions != dumps {
            let advice = format!("give one for each dump, in their order: {option} N,N");
            return Err(Failure(format!("{option}: {positions} for {dumps} dumps; {advice}")));
        }
    }
    Ok(())
}

/// The files to write.
struct RingOutputs {
    aux: Option<OutputClaim>,
    data: Option<OutputClaim>,
}

/// Decodes the dumps, whose events are in `attr`.
fn decode(
    args: &RingArgs,
    attr: &Attr<'_>,
    dumps: &[Input],
    apart: &[Input],
    out: RingOutputs,
) -> Result<Outcome, Failure> {
    let (mut bytes, mut origins, mut areas, mut files) =
        (Vec::new(), RingOrigins::default(), Vec::new(), Vec::new());
    let reader = match attr {
        Attr::File(input) => attr::read(args, input.bytes())?,
        Attr::Words(text) => attr::in_words(args, text)?,
    };
    let direction = direction(&reader, args)?;
    let mut faults = Faults { reported: Vec::new(), unread: 0, diagnostics: Diagnostics::new() };
    for (number, (file, dump)) in args.files.iter().zip(dumps).enumerate() {
        let (mapping, aux) = (dump.bytes(), apart.get(number).map(Input::bytes));
        let positions = Positions::of(args, number);
        let ring = match reader.endianness() {
            Endianness::Little => Linear::new::<LittleEndian>(mapping, aux, direction, &positions),
            Endianness::Big => Linear::new::<BigEndian>(mapping, aux, direction, &positions),
        };
        let has_page = match reader.endianness() {
            Endianness::Little => has_control_page::<LittleEndian>(mapping, direction),
            Endianness::Big => has_control_page::<BigEndian>(mapping, direction),
        };
        if has_page && matches!(positions, Positions::Given { .. }) {
            say!(
                "{}: begins with a control page, which --head takes for records; without --head its own positions are used",
                shown(file)
            );
        }
        let ring = match ring {
            Ok(ring) => ring,
            Err(error) => {
                faults.add(file, error, mapping.len() as u64);
                continue;
            }
        };
        ring.remarks.iter().for_each(|remark| say!("{}: {remark}", shown(file)));
        ring.fault.into_iter().for_each(|fault| faults.add(file, fault, ring.unread));
        let area = ring.aux.map_err(|error| faults.add(file, error, 0));
        areas.push(area.ok().flatten());
        bytes.push(ring.bytes);
        origins.0.push(ring.origin);
        files.push(file);
    }
    let Some((first, others)) = bytes.split_first() else {
        let advice =
            "check that each file is a copy of a ring's mapping, and that --attr is from the same recorder";
        return Err(Failure(format!("no ring can be read; {advice}")));
    };
    let mut reader = of_wanted_abi(reader).with_records(first);
    others.iter().for_each(|bytes| reader.add_data(bytes));
    if let (Some(claim), Some(path)) = (out.aux, &args.aux_output) {
        let (file, unfinished) = claim.create(FileContent::Trace)?;
        let report = |ring: usize, fault| faults.add(files[ring], fault, 0);
        let extracted = aux_area::extract(&reader, &areas, &origins, file, report);
        let AuxSummary { records, bytes, lacks_area } =
            extracted.map_err(|error| Failure(format!("{}: {error}", shown(path))))?;
        unfinished.publish()?;
        if lacks_area {
            say!(
                "perfdata: the AUX area of a ring is missing; if it is in a separate file, name that file with --aux"
            );
        }
        say!("perfdata: {}: {bytes} bytes of {records} AUX records", shown(path));
    }
    let size = bytes.iter().map(|bytes| bytes.len() as u64).sum();
    let order = args.show.order.unwrap_or(Order::Time);
    let Faults { reported, unread, mut diagnostics } = faults;
    let rings = Rings { origins: &origins, faults: reported, unread };
    if let (Some(claim), Some(path)) = (out.data, &args.output) {
        let (file, unfinished) = claim.create(FileContent::Capture)?;
        let repaired = write(&reader, order, &origins, file, size, &mut diagnostics);
        drop(diagnostics);
        let failure = |error| Failure(format!("{}: {error}", shown(path)));
        let EditSummary { written, dropped, mut account, .. } = repaired.map_err(failure)?;
        unfinished.publish()?;
        say!("perfdata: {}: records written: {written}, dropped: {dropped}", shown(path));
        rings.note(&mut account);
        return Ok(if account.is_clean() { Outcome::Clean } else { Outcome::Partial });
    }
    dump(&reader, Memory { size, ..Memory::default() }, &args.show, order, rings, diagnostics)
}

/// Writes the records of the reader to `file`, as a perf.data.
fn write(
    reader: &Reader<'_>,
    order: Order,
    origins: &RingOrigins,
    file: File,
    size: u64,
    diagnostics: &mut Diagnostics,
) -> Result<EditSummary<BufWriter<File>>, WriteFileError> {
    let mut progress = Progress::new(size, true);
    let order = match order {
        Order::File => rewrite::RepairOrder::Capture,
        Order::Time => rewrite::RepairOrder::Time,
    };
    repair(reader, order, BufWriter::with_capacity(BUFFER, file), |step| match step {
        RepairStep::At(offset) => progress.at(offset),
        RepairStep::Capture { error } => diagnostics.report(&error),
        RepairStep::Unreadable { data_file, error } => {
            diagnostics.report(&FileError { offset: origins.offset(data_file, error.offset), ..error });
        }
        RepairStep::Unwritable { kind, error, .. } => {
            diagnostics.unwritable(&format_args!("{kind}: {error}"))
        }
        _ => {}
    })
}

/// The errors in rings as a whole.
#[derive(Debug)]
struct Faults {
    reported: Vec<FileError>,
    /// The number of bytes that cannot be read because of them.
    unread: u64,
    diagnostics: Diagnostics,
}

impl Faults {
    fn add(&mut self, file: &Path, fault: FileError, unread: u64) {
        self.diagnostics.report_in(file, &fault);
        self.reported.push(fault);
        self.unread += unread;
    }
}

/// Returns the direction in which the rings were written.
fn direction(reader: &Reader<'_>, args: &RingArgs) -> Result<Direction, Failure> {
    let backward =
        reader.events().iter().filter(|event| event.attr.flags.contains(AttrFlags::WRITE_BACKWARD));
    match backward.count() {
        _ if args.backward => Ok(Direction::Backward),
        _ if args.forward => Ok(Direction::Forward),
        0 => Ok(Direction::Forward),
        count if count == reader.events().len() => Ok(Direction::Backward),
        _ => {
            let what = "some of its events are written forward and some backward (write_backward)";
            let advice = "decode the rings of each direction separately, with --forward or --backward";
            Err(Failure(format!("{}: {what}; {advice}", shown(&args.attr))))
        }
    }
}
