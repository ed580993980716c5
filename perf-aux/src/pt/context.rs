//! The state of the processor that packets announce when it changes.

use super::ip::LastIp;
use super::mode::{Cbr, ModeExec, ModeTsx, Pip, Vmcs};
use super::packet::Packet;

/// The state of the processor after the packets so far.
///
/// What is `None` has not been announced yet. A [`Packet::Psb`] and the packets after it announce all of it again.
///
/// # Examples
///
/// ```
/// use perf_aux::pt::{Context, Packets};
///
/// let mut context = Context::default();
/// let mut trace = vec![0x02, 0x82].repeat(8);
/// trace.extend([0x99, 0x01, 0x7d, 0, 0xd3, 0x60, 0xb9, 0xff, 0xff, 0x02, 0x23]);
/// for packet in Packets::new(&trace) {
///     context.apply(&packet?.packet);
/// }
/// assert_eq!(context.exec.map(|mode| mode.bits()), Some(64));
/// assert_eq!(context.last_ip.get(), Some(0xffff_ffff_b960_d300));
/// # Ok::<(), perf_aux::pt::PacketError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Context {
    /// The last address, which completes the next one.
    pub last_ip: LastIp,
    /// Mode of execution.
    pub exec: Option<ModeExec>,
    /// State of the hardware transaction.
    pub transaction: Option<ModeTsx>,
    /// Page tables.
    pub pip: Option<Pip>,
    /// Virtual machine.
    pub vmcs: Option<Vmcs>,
    /// Ratio of core to bus clock.
    pub cbr: Option<Cbr>,
    /// Whether the packets so far end between a PSB and its PSBEND. These packets repeat the state; nothing happened there.
    pub in_psb: bool,
    /// Whether the code that runs is traced. SDM: PacketEn.
    pub enabled: bool,
}

impl Context {
    /// Takes a packet into account. Returns its address; `None` if it has none, or if it cannot be completed.
    pub fn apply(&mut self, packet: &Packet) -> Option<u64> {
        match *packet {
            Packet::Psb => {
                self.last_ip.reset();
                self.in_psb = true;
                // A FUP before the PSBEND shows that it is.
                self.enabled = false;
            }
            Packet::PsbEnd => self.in_psb = false,
            Packet::Ovf => {
                self.in_psb = false;
                self.enabled = false;
            }
            Packet::ModeExec(mode) => self.exec = Some(mode),
            Packet::ModeTsx(mode) => self.transaction = Some(mode),
            Packet::Pip(pip) => self.pip = Some(pip),
            Packet::Vmcs(vmcs) => self.vmcs = Some(vmcs),
            Packet::Cbr(cbr) => self.cbr = Some(cbr),
            Packet::TraceStop => self.enabled = false,
            Packet::Fup(ip) => {
                // The processor sends it only while packets are enabled.
                self.enabled = true;
                return self.last_ip.apply(ip);
            }
            Packet::Tip(ip) | Packet::TipPge(ip) => {
                self.enabled = true;
                return self.last_ip.apply(ip);
            }
            Packet::TipPgd(ip) => {
                self.enabled = false;
                return self.last_ip.apply(ip);
            }
            _ => {}
        }
        None
    }
}
