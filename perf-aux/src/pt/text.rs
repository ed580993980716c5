//! Packets as text.

use core::fmt;

use super::ip::CompressedIp;
use super::packet::{Packet, Tnt, Trig};

/// perf: `intel_pt_pkt_desc`.
impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Pad => f.write_str("PAD"),
            Self::Tnt(tnt) => branches(f, tnt),
            Self::Tip(ip) => address(f, "TIP", ip),
            Self::TipPge(ip) => address(f, "TIP.PGE", ip),
            Self::TipPgd(ip) => address(f, "TIP.PGD", ip),
            Self::Fup(ip) => address(f, "FUP", ip),
            Self::Pip(pip) => write!(f, "PIP {:#x} (NR={})", pip.0 >> 1, u8::from(pip.is_guest())),
            Self::ModeExec(mode) => write!(f, "MODE.Exec IF:{} {}", u8::from(mode.interrupts()), mode.bits()),
            Self::ModeTsx(mode) => {
                write!(
                    f,
                    "MODE.TSX TXAbort:{} InTX:{}",
                    u8::from(mode.aborted()),
                    u8::from(mode.in_transaction())
                )
            }
            Self::TraceStop => f.write_str("TraceSTOP"),
            Self::Cbr(cbr) => write!(f, "CBR {:#x}", cbr.0),
            Self::Tsc(tsc) => write!(f, "TSC {tsc:#x}"),
            Self::Mtc(mtc) => write!(f, "MTC {mtc:#x}"),
            Self::Tma(tma) => write!(f, "TMA CTC {:#x} FC {:#x}", tma.ctc, tma.fast_counter),
            Self::Cyc(cycles) => write!(f, "CYC {cycles:#x}"),
            Self::Vmcs(vmcs) => write!(f, "VMCS {:#x}", vmcs.0),
            Self::Ovf => f.write_str("OVF"),
            Self::Psb => f.write_str("PSB"),
            Self::PsbEnd => f.write_str("PSBEND"),
            Self::Mnt(payload) => write!(f, "MNT {payload:#x}"),
            Self::PtWrite(write) => write!(f, "PTWRITE {:#x} IP:{}", write.payload, u8::from(write.ip)),
            Self::ExStop { ip } => write!(f, "EXSTOP IP:{}", u8::from(ip)),
            Self::Mwait(mwait) => {
                write!(
                    f,
                    "MWAIT {:#x} Hints {:#x} Extensions {:#x}",
                    mwait.0,
                    mwait.hints(),
                    mwait.extensions()
                )
            }
            Self::Pwre(pwre) => {
                let (hardware, state, sub) =
                    (u8::from(pwre.by_hardware()), pwre.c_state(), pwre.sub_c_state());
                write!(f, "PWRE {:#x} HW:{hardware} CState:{state} Sub-CState:{sub}", pwre.0)
            }
            Self::Pwrx(pwrx) => {
                let (last, deepest, reason) =
                    (pwrx.last_c_state(), pwrx.deepest_c_state(), pwrx.wake_reason());
                write!(
                    f,
                    "PWRX {:#x} Last CState:{last} Deepest CState:{deepest} Wake Reason {reason:#x}",
                    pwrx.0
                )
            }
            Self::Bbp { size, kind } => write!(f, "BBP SZ {}-byte Type {:#x}", size.bytes(), kind.0),
            Self::Bip { id, value } => write!(f, "BIP ID {id:#04x} Value {value:#x}"),
            Self::Bep { ip } => write!(f, "BEP IP:{}", u8::from(ip)),
            Self::Cfe(cfe) => {
                write!(f, "CFE IP:{} Type {:#04x} Vector {:#x}", u8::from(cfe.ip), cfe.kind.0, cfe.vector)
            }
            Self::Evd(evd) => write!(f, "EVD Type {:#04x} Payload {:#x}", evd.kind.0, evd.payload),
            Self::Trig(trig) => triggers(f, trig),
        }
    }
}

fn branches(f: &mut fmt::Formatter<'_>, tnt: Tnt) -> fmt::Result {
    f.write_str("TNT ")?;
    for taken in tnt.taken() {
        f.write_str(if taken { "T" } else { "N" })?;
    }
    write!(f, " ({})", tnt.count)
}

fn address(f: &mut fmt::Formatter<'_>, name: &str, ip: CompressedIp) -> fmt::Result {
    match ip.compression.size() {
        Some(0) => write!(f, "{name} no ip"),
        _ => write!(f, "{name} {:#x}", ip.payload),
    }
}

fn triggers(f: &mut fmt::Formatter<'_>, trig: Trig) -> fmt::Result {
    write!(f, "TRIG {:#x} IP:{} MULT:{}", trig.triggers, u8::from(trig.ip), u8::from(trig.multiple))?;
    match trig.instructions {
        Some(count) => write!(f, " ICNT {count:#x}"),
        None => Ok(()),
    }
}
