//! The packets of AUX data, as `perf script -D` prints them.

use std::borrow::Cow;

use perf_abi::auxtrace::AuxtraceType;
use perf_abi::record::RecordType;
use perf_aux::trace::AuxInfo;
use perf_aux::{pt, spe};
use perf_parse::EventRecord;
use perf_parse::Record;
use perf_parse::file::{Reader, Section};
use perf_parse::record::UserRecord;

use crate::args::{Format, ShowArgs};
use crate::batch::OUT;
use crate::render::print;

/// Finds the packets of a capture's AUXTRACE records.
#[derive(Debug)]
pub(super) struct PacketFinder<'r, 'd> {
    reader: &'r Reader<'d>,
    info: AuxInfo,
}

/// The packets of an AUXTRACE record that are not printed yet.
#[derive(Debug)]
pub(super) enum AuxPackets<'r> {
    /// Of Arm SPE. Its packets align by offsets in the file, and are printed with those in the record.
    Spe { packets: spe::Packets<'r>, start: u64, text: spe::SpeText },
    /// Of Intel PT.
    Pt(pt::Lines<'r>),
}

impl<'r, 'd> PacketFinder<'r, 'd> {
    /// Returns a finder for a dump as text; `None` if no packets are printed: of another format, of a stream, whose AUX data is
    /// gone when its record is read, and of a trace that is not decoded.
    pub(super) fn of(reader: &'r Reader<'d>, args: &ShowArgs) -> Option<Self> {
        if args.format != Format::Text || !args.fields.is_empty() {
            return None;
        }
        let info = AuxInfo::find(reader)?;
        [AuxtraceType::ARM_SPE, AuxtraceType::INTEL_PT].contains(&info.kind).then_some(Self { reader, info })
    }

    /// Prints the head of the packets of a record, and returns them; `None` for a record without.
    pub(super) fn begin(&self, record: &EventRecord<'_>, out: &mut Vec<u8>) -> Option<AuxPackets<'r>> {
        if record.kind() != RecordType::AUXTRACE {
            return None;
        }
        let offset = record.offset().saturating_add(u64::from(record.raw().size()));
        let data = Section { offset, size: record.trailing_size() };
        // The walk reports data that is not there.
        let bytes = self.reader.aux_data_at(record.position().data_file, data).ok()?;
        let tracer =
            if self.info.kind == AuxtraceType::ARM_SPE { "ARM SPE" } else { "Intel Processor Trace" };
        print(out, format_args!(".\n. ... {tracer} data: size {:#x} bytes\n", bytes.len()));
        match bytes {
            Cow::Borrowed(bytes) => Some(self.packets_of(record, offset, bytes)),
            // Not in memory as it was recorded.
            Cow::Owned(bytes) => {
                let mut packets = self.packets_of(record, offset, &bytes);
                while !packets.print(usize::MAX, out) {}
                None
            }
        }
    }

    fn packets_of<'b>(&self, record: &EventRecord<'_>, start: u64, bytes: &'b [u8]) -> AuxPackets<'b> {
        if self.info.kind == AuxtraceType::INTEL_PT {
            return AuxPackets::Pt(pt::Packets::as_perf(bytes).lines());
        }
        let text = spe::SpeText::V7_2(self.midr(record).unwrap_or_default());
        AuxPackets::Spe { packets: spe::Packets::new(start, bytes), start, text }
    }

    /// Returns the id of the CPU whose data a record has.
    fn midr(&self, record: &EventRecord<'_>) -> Option<spe::Midr> {
        let Ok(Record::User(UserRecord::Auxtrace(piece), _)) = record.decode() else { return None };
        let info = spe::SpeInfo::new(&self.info.record()).ok()?;
        let cpuid = self.reader.features().cpu_id().ok().flatten();
        info.cpu(piece.cpu, cpuid.map(|it| it.as_bytes())).midr
    }
}

impl AuxPackets<'_> {
    /// Prints the next packets; returns whether these were the last ones.
    pub(super) fn print_some(&mut self, out: &mut Vec<u8>) -> bool {
        self.print(OUT, out)
    }

    fn print(&mut self, most: usize, out: &mut Vec<u8>) -> bool {
        while out.len() < most {
            match self {
                Self::Spe { packets, start, text } => {
                    let Some(mut packet) = packets.next() else { return true };
                    packet.offset = packet.offset.wrapping_sub(*start);
                    print(out, format_args!("{}\n", packet.line(*text)));
                }
                Self::Pt(lines) => {
                    let Some(line) = lines.next() else { return true };
                    print(out, format_args!("{line}\n"));
                }
            }
        }
        false
    }
}
