//! The packets of a trace.

use super::block::{BlockSize, BlockType};
use super::ip::CompressedIp;
use super::mode::{Cbr, ModeExec, ModeTsx, Pip, Vmcs};
use super::power::{Mwait, Pwre, Pwrx};
use super::trace_event::{Cfe, Evd};

/// A packet.
///
/// `Display` prints a packet as `perf script -D` of 6.1 and 7.2 does, and [`Trig`], which these do not know, in the same manner.
///
/// # Examples
///
/// ```
/// use perf_aux::pt::{Packet, Packets};
///
/// let packet = Packets::new(&[0x4d, 0xa2, 0x20, 0x74, 0xb9]).next().unwrap()?.packet;
/// assert!(matches!(packet, Packet::Tip(ip) if ip.payload == 0xb974_20a2));
/// assert_eq!(packet.to_string(), "TIP 0xb97420a2");
/// # Ok::<(), perf_aux::pt::PacketError>(())
/// ```
///
/// perf: `enum intel_pt_pkt_type`, `tools/perf/util/intel-pt-decoder/intel-pt-pkt-decoder.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Packet {
    /// Padding of one byte.
    #[doc(alias = "INTEL_PT_PAD")]
    Pad,
    /// Taken and not-taken conditional branches, and compressed returns.
    #[doc(alias = "INTEL_PT_TNT")]
    Tnt(Tnt),
    /// Target of an indirect branch, an exception or an interrupt.
    #[doc(alias = "INTEL_PT_TIP")]
    Tip(CompressedIp),
    /// Packets begin here: target at which the program enters what is traced.
    #[doc(alias = "INTEL_PT_TIP_PGE")]
    TipPge(CompressedIp),
    /// Packets end here: target at which the program leaves what is traced.
    #[doc(alias = "INTEL_PT_TIP_PGD")]
    TipPgd(CompressedIp),
    /// Flow update: address of an asynchronous event, or of the instruction that another packet is about.
    #[doc(alias = "INTEL_PT_FUP")]
    Fup(CompressedIp),
    /// Paging information: the page tables in use.
    #[doc(alias = "INTEL_PT_PIP")]
    Pip(Pip),
    /// Mode of execution: 16, 32 or 64 bits.
    #[doc(alias = "INTEL_PT_MODE_EXEC")]
    ModeExec(ModeExec),
    /// State of the hardware transaction.
    #[doc(alias = "INTEL_PT_MODE_TSX")]
    ModeTsx(ModeTsx),
    /// The program entered a region in which the tracing stops.
    #[doc(alias = "INTEL_PT_TRACESTOP")]
    TraceStop,
    /// Ratio of core to bus clock.
    #[doc(alias = "INTEL_PT_CBR")]
    Cbr(Cbr),
    /// The low 56 bits of the time stamp counter.
    #[doc(alias = "INTEL_PT_TSC")]
    Tsc(u64),
    /// Mini time counter: 8 bits of the core crystal clock, whose lowest bit the MTC period selects.
    #[doc(alias = "INTEL_PT_MTC")]
    Mtc(u8),
    /// Alignment of time stamp counter and core crystal clock; follows a [`Tsc`](Self::Tsc).
    #[doc(alias = "INTEL_PT_TMA")]
    Tma(Tma),
    /// Core clock cycles since the last packet of this type.
    #[doc(alias = "INTEL_PT_CYC")]
    Cyc(u64),
    /// The virtual machine whose code runs.
    #[doc(alias = "INTEL_PT_VMCS")]
    Vmcs(Vmcs),
    /// Packets were lost, because an internal buffer of the processor overflowed.
    #[doc(alias = "INTEL_PT_OVF")]
    Ovf,
    /// Stream boundary: a decoder can start here. The packets up to [`PsbEnd`](Self::PsbEnd) have the state of the processor.
    #[doc(alias = "INTEL_PT_PSB")]
    Psb,
    /// End of the packets that follow a [`Psb`](Self::Psb).
    #[doc(alias = "INTEL_PT_PSBEND")]
    PsbEnd,
    /// Maintenance: a value that depends on the processor's model.
    #[doc(alias = "INTEL_PT_MNT")]
    Mnt(u64),
    /// Operand of an instruction PTWRITE.
    #[doc(alias = "INTEL_PT_PTWRITE")]
    PtWrite(PtWrite),
    /// Execution stopped, for a C-state or a change of frequency.
    #[doc(alias = "INTEL_PT_EXSTOP")]
    ExStop {
        /// Whether a [`Fup`](Self::Fup) with the address of the instruction follows.
        ip: bool,
    },
    /// An instruction MWAIT or UMWAIT asked for a C-state.
    #[doc(alias = "INTEL_PT_MWAIT")]
    Mwait(Mwait),
    /// Entry to a C-state.
    #[doc(alias = "INTEL_PT_PWRE")]
    Pwre(Pwre),
    /// Exit from a C-state.
    #[doc(alias = "INTEL_PT_PWRX")]
    Pwrx(Pwrx),
    /// Begin of a block of [`Bip`](Self::Bip) packets, such as the registers of a PEBS record.
    #[doc(alias = "INTEL_PT_BBP")]
    Bbp {
        /// Bytes of the values that follow.
        size: BlockSize,
        /// Type of the values that follow.
        kind: BlockType,
    },
    /// Value of a block.
    #[doc(alias = "INTEL_PT_BIP")]
    Bip {
        /// Index of the value in blocks of this type, from 0 to 31.
        id: u8,
        /// The value, zero-extended.
        value: u64,
    },
    /// End of a block.
    #[doc(alias = "INTEL_PT_BEP")]
    Bep {
        /// Whether a [`Fup`](Self::Fup) with the address of the instruction follows.
        ip: bool,
    },
    /// Control flow event of Event Trace, such as an interrupt.
    #[doc(alias = "INTEL_PT_CFE")]
    Cfe(Cfe),
    /// Data of the next [`Cfe`](Self::Cfe).
    #[doc(alias = "INTEL_PT_EVD")]
    Evd(Evd),
    /// Triggers of Trigger Tracing fired.
    Trig(Trig),
}

/// Branches, from the oldest to the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tnt {
    /// The branches from the highest bit on; 1 means taken. The bits after [`count`](Self::count) are 0.
    pub bits: u64,
    /// Number of branches, at most 47.
    pub count: u8,
}

impl Tnt {
    /// Returns whether each branch was taken, from the oldest to the newest.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_aux::pt::Tnt;
    /// assert!(Tnt { bits: 0b101 << 61, count: 3 }.taken().eq([true, false, true]));
    /// ```
    pub fn taken(self) -> impl ExactSizeIterator<Item = bool> {
        (0..self.count).map(move |at| self.bits.checked_shl(at.into()).unwrap_or(0) >> 63 != 0)
    }
}

/// Core crystal clock (CTC) at the time of the last [`Packet::Tsc`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tma {
    /// The low 16 bits of the core crystal clock.
    pub ctc: u16,
    /// Ticks of the time stamp counter since the core crystal clock last changed, 9 bits. SDM: FastCounter.
    pub fast_counter: u16,
}

/// Operand of an instruction PTWRITE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PtWrite {
    /// The operand, zero-extended.
    pub payload: u64,
    /// Bytes of the operand: 4 or 8.
    pub size: u8,
    /// Whether a [`Packet::Fup`] with the address of the instruction follows.
    pub ip: bool,
}

/// Triggers that fired.
///
/// perf up to 7.2 does not know this packet; see [`Packets::as_perf`](super::Packets::as_perf).
///
/// libipt: `struct pt_packet_trig`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Trig {
    /// A bit for each trigger that fired. SDM: TRBV.
    pub triggers: u8,
    /// Whether a [`Packet::Fup`] with the address of the instruction follows.
    pub ip: bool,
    /// Whether a trigger fired more than once. SDM: MULT.
    pub multiple: bool,
    /// Instructions that retired after the last branch before the trigger; `None` if the packet does not count them. SDM: ICNT.
    pub instructions: Option<u16>,
}
