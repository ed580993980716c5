//! Writes samples, and the marks by which readers order them.

use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian, U64};
use perf_abi::record::{AuxtraceErrorType, Header, Misc, RawAuxtraceError, RecordType};
use perf_abi::zerocopy::IntoBytes;
use perf_parse::write::{RecordEncoder, SampleFields};

use super::area::Owner;
use super::made_event::MadeEvent;
use super::pt_sample::PtError;

/// Number of samples between two marks for readers that order records: they hold as many.
const ROUND: u64 = 16384;

/// Writes samples, and counts them.
#[derive(Debug)]
pub(super) struct SampleWriter {
    endianness: Endianness,
    is_timed: bool,
    pub(super) samples: u64,
}

impl SampleWriter {
    pub(super) const fn new(endianness: Endianness, is_timed: bool) -> Self {
        Self { endianness, is_timed, samples: 0 }
    }

    pub(super) const fn endianness(&self) -> Endianness {
        self.endianness
    }

    pub(super) fn push(&mut self, out: &mut Vec<u8>, event: &MadeEvent, misc: Misc, fields: &SampleFields) {
        let encoder = RecordEncoder::new_in(self.endianness, &event.layout);
        if encoder.sample(out, misc, fields).is_ok() {
            self.samples = self.samples.saturating_add(1);
            if self.is_timed && self.samples.is_multiple_of(ROUND) {
                self.end_round(out);
            }
        }
    }

    /// Appends an AUXTRACE_ERROR record, after the samples before it: readers do not order it by its time.
    pub(super) fn push_error(&self, out: &mut Vec<u8>, error: PtError, owner: Owner, time: u64) {
        if self.is_timed {
            // At the end of a round, readers give what is before the round.
            self.end_round(out);
            self.end_round(out);
        }
        match self.endianness {
            Endianness::Little => push_error::<LittleEndian>(out, error, owner, time),
            Endianness::Big => push_error::<BigEndian>(out, error, owner, time),
        }
    }

    /// Appends FINISHED_ROUND.
    fn end_round(&self, out: &mut Vec<u8>) {
        let (kind, misc) = (RecordType::FINISHED_ROUND, Misc(0));
        match self.endianness {
            Endianness::Little => {
                out.extend_from_slice(Header::<LittleEndian>::new(kind, misc, 8).as_bytes())
            }
            Endianness::Big => out.extend_from_slice(Header::<BigEndian>::new(kind, misc, 8).as_bytes()),
        }
    }
}

/// Number of bytes of a record of format 1 before its message.
const BEFORE_MESSAGE: usize = 48;

/// perf: `auxtrace_synth_error`, `tools/perf/util/auxtrace.c`.
fn push_error<O: Endian>(out: &mut Vec<u8>, error: PtError, owner: Owner, time: u64) {
    let Owner { pid, tid, cpu, .. } = owner;
    let message = error.message();
    // With a NUL.
    let padded = message.len().saturating_add(1).next_multiple_of(8);
    let size = u16::try_from(BEFORE_MESSAGE.saturating_add(padded)).unwrap_or(u16::MAX);
    let record = RawAuxtraceError::<O> {
        kind: AuxtraceErrorType::ITRACE.0.into(),
        code: error.code().into(),
        cpu: cpu.into(),
        pid: pid.into(),
        tid: tid.into(),
        fmt: 1.into(),
        ip: 0.into(),
    };
    out.extend_from_slice(Header::<O>::new(RecordType::AUXTRACE_ERROR, Misc(0), size).as_bytes());
    out.extend_from_slice(record.as_bytes());
    out.extend_from_slice(U64::<O>::new(time).as_bytes());
    out.extend_from_slice(message);
    out.resize(out.len().saturating_add(padded.saturating_sub(message.len())), 0);
}
