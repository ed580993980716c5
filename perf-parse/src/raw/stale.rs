//! Bytes at the end of a record that the kernel reserved and did not write.

use perf_abi::endian::{ByteOrder, LittleEndian};
use perf_abi::record::{self as wire, RecordType};

use super::RawRecord;
use crate::layout::SampleLayout;

impl<'a, O: ByteOrder> RawRecord<'a, O> {
    /// Returns the number of bytes after the trailer that the kernel reserved and did not write: whatever the ring held
    /// there before. The trailer is in front of them.
    ///
    /// 0 except for some KSYMBOL and BPF_EVENT records. The kernel writes such a record for each event that wants it, and
    /// lengthens it each time by the `sample_id` of the event, but does not shorten it again. So if other recorders of the
    /// machine want these records, ours are too long. Takes constant time, for KSYMBOL as long as its name.
    ///
    /// Kernel: `perf_event_ksymbol_output` and `perf_event_bpf_output`, `kernel/events/core.c`; Linux 5.1 to at least 6.18.
    #[must_use]
    pub fn stale_bytes(&self, layout: &SampleLayout) -> usize {
        self.payload().len().saturating_sub(self.written(layout.sample_id_size()).len())
    }

    /// Returns the payload without [`stale_bytes`](Self::stale_bytes). `trailer` is the size of the trailer.
    #[inline]
    pub(crate) fn written(&self, trailer: usize) -> &'a [u8] {
        match self.kind() {
            RecordType::KSYMBOL | RecordType::BPF_EVENT => self.written_by_fields(trailer),
            _ => self.payload(),
        }
    }

    /// Finds the end of the trailer by the fields before it.
    #[cold]
    fn written_by_fields(&self, trailer: usize) -> &'a [u8] {
        let payload = self.payload();
        let fields = if self.kind() == RecordType::BPF_EVENT {
            Some(size_of::<wire::RawBpfEvent<LittleEndian>>())
        } else {
            let name = size_of::<wire::RawKsymbol<LittleEndian>>();
            let nul = payload.get(name..).and_then(|rest| rest.iter().position(|&byte| byte == 0));
            nul.and_then(|nul| name.checked_add(nul)?.checked_add(1)?.checked_next_multiple_of(8))
        };
        let written = fields.and_then(|fields| payload.get(..fields.checked_add(trailer)?));
        // Each sample_id has whole words. Other bytes are no sample_id's.
        written
            .filter(|written| payload.len().saturating_sub(written.len()).is_multiple_of(8))
            .unwrap_or(payload)
    }
}
