//! The packets of AUX data: as text what `perf script -D` prints, as JSON a member of the AUXTRACE record.

use std::borrow::Cow;

use perf_abi::aux_area::AuxFlags;
use perf_abi::auxtrace::AuxtraceType;
use perf_abi::record::RecordType;
use perf_aux::coresight::{CsFrames, CsPart, CsTraceId, has_frames};
use perf_aux::trace::AuxInfo;
use perf_aux::{pt, spe};
use perf_parse::EventRecord;
use perf_parse::Record;
use perf_parse::file::{Reader, Section};
use perf_parse::record::UserRecord;

use crate::args::{Format, ShowArgs};
use crate::batch::OUT;
use crate::render::json::{self, Json};
use crate::render::name::name;
use crate::render::{Scalars, given, print};

/// Finds the packets of a capture's AUXTRACE records.
#[derive(Debug)]
pub(super) struct PacketFinder<'r, 'd> {
    reader: &'r Reader<'d>,
    info: AuxInfo,
    format: Format,
}

/// The packets of an AUXTRACE record that are not printed yet.
#[derive(Debug)]
pub(super) struct AuxPackets<'r> {
    /// The data of the record, and the number of its bytes that were printed.
    trace: Cow<'r, [u8]>,
    printed: usize,
    tracer: Tracer,
    format: Format,
    /// Whether an item of the array was printed.
    has_items: bool,
}

/// The kind of a trace, with the state of its decoder after the printed bytes.
#[derive(Clone, Copy, Debug)]
enum Tracer {
    /// Arm SPE. Its packets align by offsets in the file; `start` is that of the trace.
    Spe { start: u64, text: spe::SpeText },
    /// Intel PT, and the block that is open.
    Pt(Option<pt::BlockSize>),
    /// CoreSight, and the source of the next bytes. The sources' packets are not decoded.
    CoreSight(Option<CsTraceId>),
}

impl<'r, 'd> PacketFinder<'r, 'd> {
    /// Returns a finder; `None` if no packets are printed: with `--fields`, of a stream, whose AUX data is gone when its record
    /// is read, and of a trace that is not decoded.
    pub(super) fn of(reader: &'r Reader<'d>, args: &ShowArgs) -> Option<Self> {
        if !args.fields.is_empty() {
            return None;
        }
        let (info, format) = (AuxInfo::find(reader)?, args.format);
        let is_printed = match info.kind {
            AuxtraceType::ARM_SPE | AuxtraceType::INTEL_PT => true,
            // perf's text has the packets of the sources.
            AuxtraceType::CS_ETM => {
                format == Format::Jsonl && first_aux_flags(reader).is_some_and(has_frames)
            }
            _ => false,
        };
        is_printed.then_some(Self { reader, info, format })
    }

    /// Prints what precedes the packets of a record that was just printed, and returns the packets; `None` for a record without.
    pub(super) fn begin(&self, record: &EventRecord<'_>, out: &mut Vec<u8>) -> Option<AuxPackets<'r>> {
        if record.kind() != RecordType::AUXTRACE {
            return None;
        }
        let offset = record.offset().saturating_add(u64::from(record.raw().size()));
        let data = Section { offset, size: record.trailing_size() };
        // The walk reports data that is not there.
        let trace = self.reader.aux_data_at(record.position().data_file, data).ok()?;
        match self.format {
            Format::Text => {
                let is_spe = self.info.kind == AuxtraceType::ARM_SPE;
                let tracer = if is_spe { "ARM SPE" } else { "Intel Processor Trace" };
                print(out, format_args!(".\n. ... {tracer} data: size {:#x} bytes\n", trace.len()));
            }
            Format::Jsonl => {
                json::reopen_line(out);
                Json::members(out).member(name!("packets")).push(b'[');
            }
        }
        let tracer = match self.info.kind {
            AuxtraceType::INTEL_PT => Tracer::Pt(None),
            AuxtraceType::CS_ETM => Tracer::CoreSight(None),
            _ => {
                let text = spe::SpeText::V7_2(self.midr(record).unwrap_or_default());
                Tracer::Spe { start: offset, text }
            }
        };
        Some(AuxPackets { trace, printed: 0, tracer, format: self.format, has_items: false })
    }

    /// Returns the id of the CPU whose data a record has.
    fn midr(&self, record: &EventRecord<'_>) -> Option<spe::Midr> {
        let Ok(Record::User(UserRecord::Auxtrace(piece), _)) = record.decode() else { return None };
        let info = spe::SpeInfo::new(&self.info.record()).ok()?;
        let cpuid = self.reader.features().cpu_id().ok().flatten();
        info.cpu(piece.cpu, cpuid.map(|it| it.as_bytes())).midr
    }
}

/// Returns the flags of the first AUX record; `None` if there is none. They state whether the trace has frames.
fn first_aux_flags(reader: &Reader<'_>) -> Option<AuxFlags> {
    let mut records = reader.records().only(&[RecordType::AUX]);
    records.find_map(|record| match record.ok()?.decode() {
        Ok(Record::Aux(it)) => Some(it.flags),
        _ => None,
    })
}

impl AuxPackets<'_> {
    /// Prints the next packets; returns whether these were the last ones.
    pub(super) fn print_some(&mut self, out: &mut Vec<u8>) -> bool {
        let rest = self.trace.get(self.printed..).unwrap_or_default();
        let mut printer = PacketPrinter { out, format: self.format, has_items: self.has_items };
        match &mut self.tracer {
            Tracer::Spe { start, text } => {
                let mut packets = spe::Packets::new(start.wrapping_add(self.printed as u64), rest);
                while let Some(packet) = printer.has_room().then(|| packets.next()).flatten() {
                    self.printed += packet.bytes.len();
                    let offset = packet.offset.wrapping_sub(*start);
                    printer.spe(spe::PacketAt { offset, ..packet }, *text);
                }
            }
            Tracer::Pt(block) => {
                let packets = pt::Packets::as_perf(&self.trace).continued(self.printed, *block);
                let mut lines = packets.lines();
                while let Some(line) = printer.has_room().then(|| lines.next()).flatten() {
                    printer.pt(&line);
                }
                (self.printed, *block) = (lines.packets().offset(), lines.packets().block());
            }
            Tracer::CoreSight(id) => {
                for frame in rest.chunks(FRAME) {
                    if !printer.has_room() {
                        break;
                    }
                    let mut parts = CsFrames::new(frame).after(*id);
                    for part in &mut parts {
                        printer.coresight(self.printed, frame, part);
                    }
                    *id = parts.id();
                    self.printed += frame.len();
                }
            }
        }
        self.has_items = printer.has_items;
        let is_end = self.printed >= self.trace.len();
        if is_end {
            printer.end();
        }
        is_end
    }
}

/// Bytes of a frame of CoreSight.
const FRAME: usize = 16;

/// Prints packets as lines, or as the items of an array.
struct PacketPrinter<'o> {
    out: &'o mut Vec<u8>,
    format: Format,
    has_items: bool,
}

impl PacketPrinter<'_> {
    fn has_room(&self) -> bool {
        self.out.len() < OUT
    }

    fn spe(&mut self, packet: spe::PacketAt<'_>, text: spe::SpeText) {
        match self.format {
            Format::Text => print(self.out, format_args!("{}\n", packet.line(text))),
            Format::Jsonl => {
                self.item(packet.offset, packet.bytes, |json| match packet.packet {
                    Ok(packet) => json.text(name!("text"), &packet.text(text)),
                    Err(fault) => error(json, fault == spe::PacketFault::Truncated),
                });
            }
        }
    }

    fn pt(&mut self, line: &pt::Line<'_>) {
        match self.format {
            Format::Text => print(self.out, format_args!("{line}\n")),
            Format::Jsonl => self.item(line.offset as u64, line.bytes, |json| match line.packet {
                Ok(packet) => json.text(name!("text"), &packet),
                Err(fault) => error(json, fault.kind == pt::PacketErrorKind::Truncated),
            }),
        }
    }

    /// Prints a part of a frame that starts at an offset.
    fn coresight(&mut self, start: usize, frame: &[u8], part: CsPart) {
        let at = |offset: usize| start.saturating_add(offset) as u64;
        match part {
            CsPart::Slice(slice) => self.item(at(slice.offset), slice.bytes(), |json| {
                given(slice.id, |id| json.number(name!("trace_id"), id.0.into()));
            }),
            CsPart::Barrier { offset } => {
                self.item(at(offset), frame, |json| json.string(name!("text"), b"barrier"));
            }
            CsPart::Incomplete { offset, .. } => self.item(at(offset), frame, |json| error(json, true)),
            // A kind of part that a newer perf-aux has.
            _ => {}
        }
    }

    fn item(&mut self, offset: u64, bytes: &[u8], members: impl FnOnce(&mut Json<'_>)) {
        if self.has_items {
            self.out.push(b',');
        }
        self.has_items = true;
        Json::object(self.out, |json| {
            json.number(name!("offset"), offset);
            json.blob(name!("bytes"), bytes);
            members(json);
        });
    }

    /// Ends the array, and the record that it is in.
    fn end(&mut self) {
        if self.format == Format::Jsonl {
            self.out.push(b']');
            json::close_line(self.out);
        }
    }
}

/// Appends why bytes are no packet.
fn error(json: &mut Json<'_>, is_truncated: bool) {
    let reason = if is_truncated { "truncated" } else { "bad packet" };
    json.string(name!("error"), reason.as_bytes());
}
