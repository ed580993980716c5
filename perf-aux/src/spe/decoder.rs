//! Records of packets.

use super::packet::{Packet, PacketFault};
use super::record::{RecordEnd, SpeRecord};

/// What a decoder read, and what it could not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Account {
    /// Number of records, including damaged ones.
    pub records: u64,
    /// Number of records that a fault ended: bad bytes, or operations of the reserved class.
    pub damaged: u64,
    /// Number of bytes at which there is no packet. Each of them ends a record, as in perf.
    pub bad_bytes: u64,
    /// Number of operation type packets of the reserved class. Each of them ends a record.
    pub bad_operations: u64,
    /// Number of buffers that end within a packet. The bytes of such a packet are read as bad bytes or as other packets.
    pub truncated: u64,
    /// Number of bytes of all buffers so far.
    pub bytes: u64,
    /// Whether packets follow the last record: a record that is not complete. Its packets are kept for the next buffer.
    pub is_unfinished: bool,
}

/// Makes records of the packets of one AUX area, buffer by buffer.
///
/// A record may begin in one buffer and end in the next. A packet may not: the recorder cuts between packets. After a
/// gap, [`start_over`](Self::start_over) drops the record that was begun before it.
///
/// # Examples
///
/// ```
/// use perf_aux::spe::{Decoder, RecordEnd};
/// let mut decoder = Decoder::new();
/// assert_eq!(decoder.records(0, &[0x98, 10, 0]).count(), 0);
/// assert!(decoder.account().is_unfinished);
/// let records: Vec<_> = decoder.records(3, &[0x99, 4, 0, 0x01, 0xff]).collect();
/// assert_eq!((records[0].offset, records[0].latency, records[0].issue_latency), (0, 10, 4));
/// assert_eq!((records[1].offset, records[1].end), (7, RecordEnd::BadPacket));
/// assert_eq!(decoder.account().damaged, 1);
/// ```
///
/// perf: `arm_spe_decode`.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    /// What the packets since the last record say.
    pending: SpeRecord,
    account: Account,
}

impl Decoder {
    /// Returns a decoder that has read nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns what was read so far. It is exact when the iterator of a buffer is at its end.
    #[must_use]
    pub const fn account(&self) -> &Account {
        &self.account
    }

    /// Drops the record whose end is not read yet: the next buffer does not go on where the last one ended.
    pub fn start_over(&mut self) {
        self.account.is_unfinished = false;
        self.pending = SpeRecord::default();
    }

    /// Iterates over the records that end in `bytes`, whose position in the AUX area is `offset`. See
    /// [`Packets::new`](super::Packets::new) for what the position matters to.
    ///
    /// Bytes that are left when the iterator is dropped are not read.
    pub const fn records<'d, 'a>(&'d mut self, offset: u64, bytes: &'a [u8]) -> Records<'d, 'a> {
        Records { decoder: self, offset, rest: bytes, is_truncated: false }
    }
}

/// Iterates over the records of a buffer: [`Decoder::records`].
#[derive(Debug)]
pub struct Records<'d, 'a> {
    decoder: &'d mut Decoder,
    offset: u64,
    rest: &'a [u8],
    /// Whether the account has counted this buffer as truncated.
    is_truncated: bool,
}

impl Records<'_, '_> {
    /// Passes `size` bytes, of which there are as many.
    #[inline]
    fn pass(&mut self, size: usize) {
        self.rest = self.rest.get(size..).unwrap_or_default();
        self.offset = self.offset.wrapping_add(size as u64);
        let account = &mut self.decoder.account;
        account.bytes = account.bytes.saturating_add(size as u64);
    }

    /// Passes a byte at which there is no packet.
    #[cold]
    fn pass_bad_byte(&mut self, fault: PacketFault) -> RecordEnd {
        self.begin();
        self.pass(1);
        let account = &mut self.decoder.account;
        account.bad_bytes = account.bad_bytes.saturating_add(1);
        if fault == PacketFault::Truncated && !self.is_truncated {
            self.is_truncated = true;
            account.truncated = account.truncated.saturating_add(1);
        }
        RecordEnd::BadPacket
    }

    /// Notes that a packet is of the pending record.
    #[inline]
    fn begin(&mut self) {
        if !self.decoder.account.is_unfinished {
            self.decoder.account.is_unfinished = true;
            self.decoder.pending.offset = self.offset;
        }
    }

    /// Returns the pending record.
    #[inline]
    fn complete(&mut self, end: RecordEnd) -> SpeRecord {
        let account = &mut self.decoder.account;
        account.is_unfinished = false;
        account.records = account.records.saturating_add(1);
        let record = SpeRecord { end, ..core::mem::take(&mut self.decoder.pending) };
        if record.is_damaged() {
            account.damaged = account.damaged.saturating_add(1);
        }
        if end == RecordEnd::BadOperation {
            account.bad_operations = account.bad_operations.saturating_add(1);
        }
        record
    }
}

impl Iterator for Records<'_, '_> {
    type Item = SpeRecord;

    #[inline]
    fn next(&mut self) -> Option<SpeRecord> {
        while !self.rest.is_empty() {
            let end = match Packet::decode(self.offset, self.rest) {
                Ok((Packet::Padding | Packet::Alignment, size)) => {
                    self.pass(size);
                    None
                }
                Ok((packet, size)) => {
                    self.begin();
                    self.pass(size);
                    self.decoder.pending.add(packet)
                }
                Err(fault) => Some(self.pass_bad_byte(fault)),
            };
            if let Some(end) = end {
                return Some(self.complete(end));
            }
        }
        None
    }
}

impl core::iter::FusedIterator for Records<'_, '_> {}
