//! Records of simpleperf: their payloads, and the pieces of long ones.

use alloc::vec::Vec;

use perf_abi::endian::{BigEndian, ByteOrder, Endian, Endianness, I32, LittleEndian, U32, U64};
use perf_abi::record::{self as wire, RecordType};

use super::{WriteError, copy, put, string, word};
use crate::list::List;
use crate::record::RawRecord;
use crate::record::user::{UnwindingResult, UserRecord};

impl<'a, O: ByteOrder> RawRecord<'a, O> {
    /// Appends the record to `out` as simpleperf stores it: a record of more than 65535 bytes as SPLIT records and a
    /// SPLIT_END, because the perf tool reads no longer records; any other record unchanged.
    /// [`SplitJoiner`](crate::record::SplitJoiner) joins the pieces.
    ///
    /// simpleperf: `RecordFileWriter::WriteRecord`, `system/extras/simpleperf/record_file_writer.cpp`.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::RawRecord;
    /// use perf_parse::abi::endian::LittleEndian;
    ///
    /// // A KERNEL_SYMBOL of 100,000 bytes: its type, and the halves of its size.
    /// let mut bytes = b"\x01\x80\0\0\x01\0\xa0\x86".to_vec();
    /// bytes.resize(100_000, 0);
    /// let (record, _) = RawRecord::<LittleEndian>::parse(&bytes)?;
    /// let mut pieces = Vec::new();
    /// record.write_split(&mut pieces);
    /// assert_eq!(pieces.len(), 100_000 + 2 * 8 + 8);
    /// # Ok::<(), perf_parse::Error>(())
    /// ```
    pub fn write_split(&self, out: &mut Vec<u8>) {
        let (bytes, order) = (self.as_bytes(), self.endianness());
        if bytes.len() <= LONGEST {
            out.extend_from_slice(bytes);
            return;
        }
        for piece in bytes.chunks(LONGEST - 8) {
            split_header(out, order, RecordType::SPLIT, piece);
            out.extend_from_slice(piece);
        }
        split_header(out, order, RecordType::SPLIT_END, &[]);
    }
}

/// Bytes of the longest record that is not split.
const LONGEST: usize = 65535;

fn split_header(out: &mut Vec<u8>, order: Endianness, kind: RecordType, piece: &[u8]) {
    // A piece has at most 65527 bytes.
    let size = u32::try_from(piece.len()).unwrap_or(u32::MAX).saturating_add(8);
    match order {
        Endianness::Little => put(out, &wire::SimpleperfHeader::<LittleEndian>::new(kind, size)),
        Endianness::Big => put(out, &wire::SimpleperfHeader::<BigEndian>::new(kind, size)),
    }
}

/// Appends the payload of a record of simpleperf, or the bytes of a record of unknown type. simpleperf's records have no
/// trailer. The bytes after the last known field are written as they are, including the padding.
///
/// simpleperf: the constructors of `system/extras/simpleperf/record.cpp`.
pub(super) fn payload<O: Endian>(
    out: &mut Vec<u8>,
    kind: RecordType,
    record: &UserRecord<'_>,
) -> Result<(), WriteError> {
    match (record, kind) {
        (UserRecord::KernelSymbol(it), RecordType::KERNEL_SYMBOL) => {
            let kallsyms_size = size::<O>("kallsyms", it.kallsyms)?;
            put(out, &wire::RawKernelSymbol::<O> { kallsyms_size });
            put(out, it.kallsyms);
            put(out, it.rest);
        }
        (UserRecord::Dso(it), RecordType::DSO) => {
            let (dso_type, dso_id) = (U64::new(it.dso_type), U64::new(it.dso_id));
            put(out, &wire::RawSimpleperfDso::<O> { dso_type, dso_id, min_vaddr: U64::new(it.min_vaddr) });
            string(out, "dso_name", it.dso_name)?;
        }
        (UserRecord::Symbol(it), RecordType::SYMBOL) => {
            let (addr, len) = (U64::new(it.addr), U64::new(it.len));
            put(out, &wire::RawSimpleperfSymbol::<O> { addr, len, dso_id: U64::new(it.dso_id) });
            string(out, "name", it.name)?;
        }
        (UserRecord::Split(piece), RecordType::SPLIT) => put(out, *piece),
        (UserRecord::SplitEnd, RecordType::SPLIT_END) => {}
        (UserRecord::EventId(it), RecordType::EVENT_ID) => {
            word::<O>(out, it.entries.len() as u64);
            for entry in it.entries {
                word::<O>(out, entry.attr_id);
                word::<O>(out, entry.event_id);
            }
            put(out, it.rest);
        }
        (UserRecord::Callchain(it), RecordType::CALLCHAIN) => {
            let (pid, tid) = (I32::new(it.pid), I32::new(it.tid));
            let (chain_type, time) = (U64::new(it.chain_type.0), U64::new(it.time));
            let ip_nr = U64::new(it.ips.len() as u64);
            put(out, &wire::RawSimpleperfCallchain::<O> { pid, tid, chain_type, time, ip_nr });
            chain::<O>(out, (it.ips, it.sps))?;
            put(out, it.rest);
        }
        (UserRecord::UnwindingResult(it), RecordType::UNWINDING_RESULT) => unwinding_result::<O>(out, it)?,
        (UserRecord::TracingData(it), RecordType::TRACING_DATA) => {
            put(out, &wire::RawSimpleperfTracingData::<O> { data_size: size::<O>("data", it.data)? });
            put(out, it.data);
            put(out, it.rest);
        }
        (UserRecord::Debug(it), RecordType::DEBUG) => {
            put(out, &wire::RawDebug::<O> { time: U64::new(it.time) });
            string(out, "s", it.message)?;
        }
        (UserRecord::Other(raw), _) if raw.kind() == kind => drop(copy::<O, _>(out, raw)?),
        _ => {
            let must = "that of the record, of the kernel or of simpleperf: copy perf's own records instead";
            return Err(WriteError::Invalid { field: "type", must });
        }
    }
    Ok(())
}

fn unwinding_result<O: Endian>(out: &mut Vec<u8>, it: &UnwindingResult<'_>) -> Result<(), WriteError> {
    let (time, used_time) = (U64::new(it.time), U64::new(it.used_time));
    let (error_code, error_addr) = (U64::new(it.error_code.0), U64::new(it.error_addr));
    let (stack_start, stack_end) = (U64::new(it.stack_start), U64::new(it.stack_end));
    let fixed =
        wire::RawUnwindingResult::<O> { time, used_time, error_code, error_addr, stack_start, stack_end };
    put(out, &fixed);
    let state = it.state();
    word::<O>(out, state.regs_abi.0);
    word::<O>(out, state.regs_mask);
    state.regs.iter().for_each(|value| word::<O>(out, value));
    word::<O>(out, state.stack.len() as u64);
    put(out, state.stack);
    if let Some(dyn_size) = state.dyn_size {
        word::<O>(out, dyn_size);
    }
    if let Some(both) = state.chain {
        word::<O>(out, both.0.len() as u64);
        chain::<O>(out, both)?;
    }
    put(out, state.rest);
    Ok(())
}

/// Appends the addresses of frames, then their stack pointers.
fn chain<O: Endian>(out: &mut Vec<u8>, (ips, sps): (List<'_, u64>, List<'_, u64>)) -> Result<(), WriteError> {
    if sps.len() != ips.len() {
        return Err(WriteError::Invalid { field: "sps", must: "as many as ips" });
    }
    ips.iter().chain(sps).for_each(|value| word::<O>(out, value));
    Ok(())
}

fn size<O: Endian>(field: &'static str, bytes: &[u8]) -> Result<U32<O>, WriteError> {
    let size = u32::try_from(bytes.len());
    size.map(U32::new).map_err(|_| WriteError::Invalid { field, must: "smaller than 4 GiB" })
}
