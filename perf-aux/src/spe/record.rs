//! A record: what the packets of one operation say.

use super::address::{AddressIndex, AddressPacket};
use super::events::EventFlags;
use super::operation::Operation;
use super::packet::{CounterIndex, Packet};

/// What ended a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RecordEnd {
    /// An END packet.
    #[default]
    End,
    /// A TIMESTAMP packet.
    Timestamp,
    /// A byte that is no packet. The record is damaged: the rest of it may follow as another one.
    BadPacket,
    /// An operation type packet of the reserved class. The record is damaged, as above.
    BadOperation,
}

/// A sampled operation.
///
/// A field whose packet is not in the record is 0, as in perf; `context_id` and `exception_level` are `None`. Of two
/// packets of one kind, the last counts, except that operations are added up.
///
/// perf: `struct arm_spe_record`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SpeRecord {
    /// Position of the record's first packet, in the buffers of the decoder.
    pub offset: u64,
    /// What ended the record.
    pub end: RecordEnd,
    /// Address of the instruction.
    pub from_ip: u64,
    /// Target of the branch.
    pub to_ip: u64,
    /// Target of the last branch that was taken before the instruction.
    pub prev_br_tgt: u64,
    /// Virtual address of the data, without the tag in its highest byte.
    pub virt_addr: u64,
    /// Physical address of the data.
    pub phys_addr: u64,
    /// Time in ticks of the generic timer: `TimeConv::tsc_to_perf_time` of perf-parse converts it to nanoseconds.
    pub timestamp: u64,
    /// The events.
    pub events: EventFlags,
    /// The operation.
    pub op: Operation,
    /// Source of the data, defined by the implementer. As in perf, the low 16 bits of the packet.
    pub source: u16,
    /// Cycles from the dispatch of the operation to its completion.
    pub latency: u16,
    /// Cycles from the dispatch of the operation to its issue.
    pub issue_latency: u16,
    /// Cycles of the translation of the data's address.
    pub translation_latency: u16,
    /// The context that ran: with Linux, a thread id.
    pub context_id: Option<u32>,
    /// Exception level of the instruction: 0 is user space, 1 a kernel, 2 a hypervisor or its kernel.
    pub exception_level: Option<u8>,
}

impl SpeRecord {
    /// Returns whether the record was ended by a fault. It may lack packets, and its packets may be of two records.
    #[must_use]
    pub const fn is_damaged(&self) -> bool {
        matches!(self.end, RecordEnd::BadPacket | RecordEnd::BadOperation)
    }

    /// Adds a packet; returns what it ends the record with, if it does.
    #[inline]
    pub(super) fn add(&mut self, packet: Packet) -> Option<RecordEnd> {
        match packet {
            Packet::Padding | Packet::Alignment => {}
            Packet::End => return Some(RecordEnd::End),
            Packet::Timestamp(ticks) => {
                self.timestamp = ticks;
                return Some(RecordEnd::Timestamp);
            }
            Packet::Address(address) => self.add_address(address),
            Packet::Counter { index, cycles } => match index {
                CounterIndex::TOTAL_LATENCY => self.latency = cycles,
                CounterIndex::ISSUE_LATENCY => self.issue_latency = cycles,
                CounterIndex::TRANSLATION_LATENCY => self.translation_latency = cycles,
                _ => {}
            },
            Packet::Context { id, .. } => self.context_id = Some(id),
            Packet::Operation(operation) => match operation.operation() {
                Some(operation) => self.op |= operation,
                None => return Some(RecordEnd::BadOperation),
            },
            Packet::Events(events) => self.events = events,
            Packet::DataSource(source) => self.source = (source & 0xffff) as u16,
        }
        None
    }

    #[inline]
    fn add_address(&mut self, packet: AddressPacket) {
        let address = packet.address();
        match packet.index {
            AddressIndex::INSTRUCTION => {
                self.from_ip = address;
                self.exception_level = Some(packet.exception_level());
            }
            AddressIndex::BRANCH_TARGET => self.to_ip = address,
            AddressIndex::DATA_VIRTUAL => self.virt_addr = address,
            AddressIndex::DATA_PHYSICAL => self.phys_addr = address,
            AddressIndex::PREVIOUS_TARGET => self.prev_br_tgt = address,
            _ => {}
        }
    }
}
