//! Packets as `perf script -D` prints them.

use core::fmt::{self, Display, Formatter};

use super::address::{AddressIndex, AddressPacket};
use super::events::EventFlags;
use super::midr::Midr;
use super::operation::{LoadStore, OperationClass, OperationPacket, Other};
use super::packet::{CounterIndex, Packet};
use super::packets::PacketAt;

/// The perf whose text a packet is printed in.
///
/// perf 7.2 knows more events, more operations, and the target of the previous branch. It prints the numbers of the events
/// that it does not know. All other texts are the same.
///
/// For reserved subclasses of the class [`OperationClass::OTHER`], perf 7.2 prints the text of the packet before, by mistake.
/// Their text here is that of perf for the reserved class: `OP-TYPE`, the payload, and the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpeText {
    /// perf 6.1.
    V6_1,
    /// perf 7.2, of a CPU with this id, which has names for its own events. Without one, [`Midr::default`].
    V7_2(Midr),
}

impl Default for SpeText {
    /// Returns the newest text, without the events of a particular CPU.
    fn default() -> Self {
        Self::V7_2(Midr::default())
    }
}

/// The text of a packet, such as `PC 0x400000 el0 ns=1`.
#[derive(Clone, Copy, Debug)]
pub struct PacketText {
    packet: Packet,
    perf: SpeText,
}

/// The line of a packet in `perf script -D`: its offset, its bytes and its text.
#[derive(Clone, Copy, Debug)]
pub struct DumpLine<'a> {
    packet: PacketAt<'a>,
    perf: SpeText,
}

impl Packet {
    /// Returns the packet's text as this perf prints it.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_aux::spe::{EventFlags, Packet, SpeText};
    /// let packet = Packet::Events(EventFlags(1 << 1 | 1 << 16 | 1 << 40));
    /// assert_eq!(packet.text(SpeText::V6_1).to_string(), "EV RETIRED");
    /// assert_eq!(packet.text(SpeText::default()).to_string(), "EV RETIRED TXN IMPDEF:40");
    /// ```
    #[must_use]
    pub const fn text(self, perf: SpeText) -> PacketText {
        PacketText { packet: self, perf }
    }
}

impl Display for Packet {
    /// The newest [text](Packet::text).
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.text(SpeText::default()).fmt(f)
    }
}

impl<'a> PacketAt<'a> {
    /// Returns the packet's line of `perf script -D`, without the line break.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_aux::spe::{Packets, SpeText};
    /// let mut packets = Packets::new(0, &[0x98, 0x0a, 0x00, 0xff]);
    /// let mut line = || packets.next().unwrap().line(SpeText::default()).to_string();
    /// assert_eq!(line(), ".  00000000:  98 0a 00                                        LAT 10 TOT");
    /// assert_eq!(line(), ".  00000003:  ff                                              Bad packet!");
    /// ```
    #[must_use]
    pub const fn line(self, perf: SpeText) -> DumpLine<'a> {
        DumpLine { packet: self, perf }
    }
}

impl Display for DumpLine<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let PacketAt { offset, bytes, packet } = self.packet;
        write!(f, ".  {offset:08x}: ")?;
        for index in 0..16 {
            match bytes.get(index) {
                Some(byte) => write!(f, " {byte:02x}")?,
                None => f.write_str("   ")?,
            }
        }
        match packet {
            Ok(packet) => write!(f, " {}", packet.text(self.perf)),
            Err(_) => f.write_str(" Bad packet!"),
        }
    }
}

impl Display for PacketText {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.packet {
            Packet::Padding | Packet::Alignment => f.write_str("PAD"),
            Packet::End => f.write_str("END"),
            Packet::Timestamp(ticks) => write!(f, "TS {}", ticks.cast_signed()),
            Packet::DataSource(source) => write!(f, "DATA-SOURCE {}", source.cast_signed()),
            Packet::Context { index, id } => write!(f, "CONTEXT 0x{id:x} el{}", index.saturating_add(1)),
            Packet::Counter { index, cycles } => {
                let name = match index {
                    CounterIndex::TOTAL_LATENCY => "TOT",
                    CounterIndex::ISSUE_LATENCY => "ISSUE",
                    CounterIndex::TRANSLATION_LATENCY => "XLAT",
                    _ => "",
                };
                write!(f, "LAT {cycles} {name}")
            }
            Packet::Address(address) => write_address(f, address, self.perf),
            Packet::Events(events) => write_events(f, events, self.perf),
            Packet::Operation(operation) => match self.perf {
                SpeText::V6_1 => write_old_operation(f, operation),
                SpeText::V7_2(_) => write_operation(f, operation),
            },
        }
    }
}

fn write_address(f: &mut Formatter<'_>, address: AddressPacket, perf: SpeText) -> fmt::Result {
    let (low, ns) = (address.low_bits(), u8::from(address.is_non_secure()));
    let name = match address.index {
        AddressIndex::INSTRUCTION => "PC",
        AddressIndex::BRANCH_TARGET => "TGT",
        AddressIndex::PREVIOUS_TARGET if perf != SpeText::V6_1 => "PBT",
        AddressIndex::DATA_VIRTUAL => return write!(f, "VA 0x{:x}", address.payload),
        AddressIndex::DATA_PHYSICAL => {
            let ch = u8::from(address.is_checked());
            return write!(f, "PA 0x{low:x} ns={ns} ch={ch} pat={:x}", address.pattern());
        }
        AddressIndex(index) => return write!(f, "ADDR 0x{:x} ({index})", address.payload),
    };
    write!(f, "{name} 0x{low:x} el{} ns={ns}", address.exception_level())
}

/// The events that both versions print, in the order in which they do.
const EVENTS: [(EventFlags, &str); 12] = [
    (EventFlags::EXCEPTION_GEN, "EXCEPTION-GEN"),
    (EventFlags::RETIRED, "RETIRED"),
    (EventFlags::L1D_ACCESS, "L1D-ACCESS"),
    (EventFlags::L1D_REFILL, "L1D-REFILL"),
    (EventFlags::TLB_ACCESS, "TLB-ACCESS"),
    (EventFlags::TLB_WALK, "TLB-REFILL"),
    (EventFlags::NOT_TAKEN, "NOT-TAKEN"),
    (EventFlags::MISPRED, "MISPRED"),
    (EventFlags::LLC_ACCESS, "LLC-ACCESS"),
    (EventFlags::LLC_MISS, "LLC-REFILL"),
    (EventFlags::REMOTE_ACCESS, "REMOTE-ACCESS"),
    (EventFlags::ALIGNMENT, "ALIGNMENT"),
];
/// The events after those above.
const OLD_EVENTS: [(EventFlags, &str); 2] = [VECTOR_EVENTS.0, VECTOR_EVENTS.1];
const VECTOR_EVENTS: ((EventFlags, &str), (EventFlags, &str)) =
    ((EventFlags::PARTIAL_PREDICATE, "SVE-PARTIAL-PRED"), (EventFlags::EMPTY_PREDICATE, "SVE-EMPTY-PRED"));
/// The events after those above, in perf 7.2.
const NEW_EVENTS: [(EventFlags, &str); 10] = [
    (EventFlags::TRANSACTIONAL, "TXN"),
    VECTOR_EVENTS.0,
    VECTOR_EVENTS.1,
    (EventFlags::L2D_ACCESS, "L2D-ACCESS"),
    (EventFlags::L2D_MISS, "L2D-MISS"),
    (EventFlags::CACHE_DATA_MODIFIED, "HITM"),
    (EventFlags::RECENTLY_FETCHED, "LFB"),
    (EventFlags::DATA_SNOOPED, "SNOOPED"),
    (EventFlags::STREAMING_SVE_MODE, "STREAMING-SVE"),
    (EventFlags::SMCU, "SMCU"),
];

/// Writes the names of events, and returns the events that have none.
fn write_names(
    f: &mut Formatter<'_>,
    events: EventFlags,
    names: &[(EventFlags, &str)],
) -> Result<u64, fmt::Error> {
    let mut rest = events.0;
    for &(event, name) in names {
        if events.contains(event) {
            write!(f, " {name}")?;
            rest &= !event.0;
        }
    }
    Ok(rest)
}

fn write_events(f: &mut Formatter<'_>, events: EventFlags, perf: SpeText) -> fmt::Result {
    f.write_str("EV")?;
    let rest = write_names(f, events, &EVENTS)?;
    let SpeText::V7_2(midr) = perf else {
        return write_names(f, events, &OLD_EVENTS).map(|_| ());
    };
    let rest = write_names(f, EventFlags(rest), &NEW_EVENTS)?;
    let mut rest = write_names(f, EventFlags(rest), midr.event_names())?;
    let mut separator = " IMPDEF:";
    while rest != 0 {
        write!(f, "{separator}{}", rest.trailing_zeros())?;
        rest &= rest.wrapping_sub(1);
        separator = ",";
    }
    Ok(())
}

/// Writes the words whose bit is set in the payload.
fn write_bits(f: &mut Formatter<'_>, payload: u8, words: &[(u8, &str)]) -> fmt::Result {
    words.iter().filter(|&&(bit, _)| payload & bit != 0).try_for_each(|(_, word)| f.write_str(word))
}

const EXTENDED: [(u8, &str); 3] = [(4, " AT"), (8, " EXCL"), (0x10, " AR")];
const GATHER: [(u8, &str); 2] = [(4, " PRED"), (0x80, " SG")];
const VECTOR: [(u8, &str); 2] = [(2, " FP"), (4, " PRED")];
const SCALAR: [(u8, &str); 2] = [(4, " ASE"), (2, " FP")];
const BRANCH: [(u8, &str); 3] = [(1, " COND"), (2, " IND"), (4, " GCS")];

const fn direction(payload: u8) -> &'static str {
    if payload & 1 != 0 { "ST" } else { "LD" }
}

const fn scalar(payload: u8) -> &'static str {
    if payload & 1 != 0 { " COND-SELECT" } else { " INSN-OTHER" }
}

/// Writes an operation for which there is no name.
fn write_unnamed(f: &mut Formatter<'_>, operation: OperationPacket) -> fmt::Result {
    write!(f, "OP-TYPE 0x{:x} ({})", operation.payload, operation.class.0)
}

fn write_operation(f: &mut Formatter<'_>, operation: OperationPacket) -> fmt::Result {
    let payload = operation.payload;
    match operation.class {
        OperationClass::OTHER => match Other::of(payload) {
            Some(Other::Sve) => {
                write!(f, "SVE-OTHER EVLEN {}", operation.vector_length())?;
                write_bits(f, payload, &VECTOR)
            }
            Some(Other::Sme) => {
                write!(f, "SME-OTHER ETS {}", operation.tile_size())?;
                write_bits(f, payload, &VECTOR[..1])
            }
            Some(Other::Scalar) => {
                f.write_str("OTHER")?;
                write_bits(f, payload, &SCALAR)?;
                f.write_str(scalar(payload))
            }
            None => write_unnamed(f, operation),
        },
        OperationClass::LOAD_STORE => {
            f.write_str(direction(payload))?;
            match LoadStore::of(payload) {
                Some(LoadStore::Extended) => write_bits(f, payload, &EXTENDED),
                Some(LoadStore::SimdFp) => f.write_str(" SIMD-FP"),
                Some(LoadStore::GpReg) => f.write_str(" GP-REG"),
                Some(LoadStore::UnspecReg) => f.write_str(" UNSPEC-REG"),
                Some(LoadStore::NvSysreg) => f.write_str(" NV-SYSREG"),
                Some(LoadStore::MteTag) => f.write_str(" MTE-TAG"),
                Some(LoadStore::Memcpy) => f.write_str(" MEMCPY"),
                Some(LoadStore::Memset) => f.write_str(" MEMSET"),
                Some(LoadStore::Sve) => {
                    write!(f, " SVE-SME-REG EVLEN {}", operation.vector_length())?;
                    write_bits(f, payload, &GATHER)
                }
                Some(LoadStore::Gcs) => {
                    f.write_str(" GCS")?;
                    write_bits(f, payload, &[(4, " COMM")])
                }
                None => Ok(()),
            }
        }
        OperationClass::BRANCH => {
            f.write_str("B")?;
            write_bits(f, payload, &BRANCH)?;
            f.write_str(match payload >> 3 & 3 {
                1 => " CR-BL",
                2 => " CR-RET",
                3 => " CR-NON-BL-RET",
                _ => "",
            })
        }
        _ => write_unnamed(f, operation),
    }
}

/// Writes an operation as perf 6.1 does, which knows fewer subclasses and prints some of them together.
fn write_old_operation(f: &mut Formatter<'_>, operation: OperationPacket) -> fmt::Result {
    let payload = operation.payload;
    match operation.class {
        OperationClass::OTHER => {
            if payload & 0x89 == 0x08 {
                write!(f, "SVE-OTHER EVLEN {}", operation.vector_length())?;
                write_bits(f, payload, &VECTOR)
            } else {
                write!(f, "OTHER{}", scalar(payload))
            }
        }
        OperationClass::LOAD_STORE => {
            f.write_str(direction(payload))?;
            if payload & 0xe2 == 0x02 {
                write_bits(f, payload, &EXTENDED)?;
            }
            f.write_str(match payload & 0xfe {
                0x00 => " GP-REG",
                0x04 => " SIMD-FP",
                0x10 => " UNSPEC-REG",
                0x30 => " NV-SYSREG",
                _ => "",
            })?;
            if payload & 0x0a == 0x08 {
                write!(f, " EVLEN {}", operation.vector_length())?;
                write_bits(f, payload, &GATHER)?;
            }
            Ok(())
        }
        OperationClass::BRANCH => {
            let indirect = if payload & 0xfe == 2 { " IND" } else { "" };
            let conditional = if payload & 1 != 0 { " COND" } else { "" };
            write!(f, "B{conditional}{indirect}")
        }
        _ => write_unnamed(f, operation),
    }
}
