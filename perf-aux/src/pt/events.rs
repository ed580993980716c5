//! The events of a buffer.

mod pending;
mod position;

pub use position::EventPosition;

use pending::{Awaited, Pending, Ready};
use position::{JoinedPacket, SplitPacket};

use super::clock::Clock;
use super::context::Context;
use super::error::{PacketError, PacketErrorKind};
use super::evds::Evds;
use super::event::{Event, EventKind};
use super::info::{Config, Info};
use super::mode::Cbr;
use super::packet::Packet;
use super::packets::Packets;

/// What is kept from one buffer of a CPU or thread to the next.
///
/// # Examples
///
/// ```
/// use perf_aux::pt::EventState;
/// # use perf_aux::pt::{Config, Info};
/// # fn example(info: &Info<'_>, config: Config, reference: u64, trace: &[u8]) {
/// let mut state = EventState::new(info, config);
/// state.start(reference);
/// for event in state.events(trace) {
///     println!("{:?} {:?} {}", event.tsc.and_then(|tsc| info.time(tsc)), event.kind.name(), event.kind);
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct EventState {
    clock: Clock,
    context: Context,
    pending: Pending,
    split: SplitPacket,
    is_synchronised: bool,
    /// The last ratio for which there was an event.
    reported_cbr: Option<u8>,
    /// Bytes of all buffers so far.
    position: u64,
    /// TSC of the last event.
    last_event: Option<u64>,
    max_ratio: u32,
    bus_khz: u64,
}

/// The events of a buffer, in the order of the trace. Borrows from the buffer.
///
/// They are what `perf script --itrace=pweI` makes, but for changes of the interrupt flag:
///
/// - A PTWRITE, EXSTOP or CFE packet that announces an address is an event when the FUP packet with the address comes. Without
///   that packet it is none.
/// - MWAIT, and PWRE after it, are events at the next FUP.
/// - A CBR packet is an event if the ratio differs from the last one.
/// - Event data belong to the next CFE event.
///
/// perf walks the instructions between branches, and loses events where it cannot. This iterator does not need them, so that it may
/// have more events. For a PWRE without MWAIT, perf 6.1 and 7.2 print the payload of the last one with MWAIT; this iterator returns
/// its own.
///
/// A packet whose start is at the end of one buffer and whose rest is in the next one is taken with the latter. Event data that are
/// in the buffer before their CFE packet are lost.
///
/// Allocates nothing. If it is dropped early, the rest of the buffer is skipped, unless [`EventState::events_from`] goes on at its
/// [position](Self::position).
#[derive(Debug)]
pub struct Events<'s, 'a> {
    state: &'s mut EventState,
    packets: Packets<'a>,
    /// The packet that began in the buffer before.
    joined: Option<JoinedPacket>,
    /// Bytes of the buffers before this one.
    base: u64,
    /// Offset of the first EVD packet for the next CFE event.
    data: Option<usize>,
    ready: Ready<'a>,
}

impl EventState {
    /// Returns the state before the first buffer of a trace.
    #[must_use]
    pub fn new(info: &Info<'_>, config: Config) -> Self {
        Self {
            clock: Clock::new(info, config),
            context: Context::default(),
            pending: Pending::default(),
            split: SplitPacket::default(),
            is_synchronised: false,
            reported_cbr: None,
            position: 0,
            last_event: None,
            max_ratio: info.max_ratio().unwrap_or(0),
            bus_khz: info.bus_khz().unwrap_or(0),
        }
    }

    /// Starts with a buffer that does not continue the last one: the first one, and each snapshot. The packets before its first PSB
    /// are skipped.
    ///
    /// `reference` is the field of its AUXTRACE record.
    pub fn start(&mut self, reference: u64) {
        self.clock.start(reference);
        self.context = Context { cbr: self.context.cbr, ..Context::default() };
        self.pending = Pending::default();
        self.split = SplitPacket::default();
        self.is_synchronised = false;
    }

    /// The TSC, which does not go back when another trace starts.
    fn now(&self) -> Option<u64> {
        self.clock.tsc().max(self.last_event)
    }

    /// Returns the events of the next buffer.
    pub fn events<'a>(&mut self, trace: &'a [u8]) -> Events<'_, 'a> {
        let base = self.position;
        self.position = base.wrapping_add(trace.len() as u64);
        let (mut packets, joined) = self.split.join(trace);
        if !self.is_synchronised {
            self.is_synchronised = packets.sync();
        }
        Events { state: self, packets, joined, base, data: None, ready: Ready::default() }
    }

    /// Returns the other events of the last buffer from a position on, which its [`Events`] returned before they were dropped.
    pub fn events_from<'a>(&mut self, trace: &'a [u8], position: EventPosition) -> Events<'_, 'a> {
        let EventPosition { offset, block, data } = position;
        let base = self.position.wrapping_sub(trace.len() as u64);
        let packets = Packets::as_perf_at(trace, offset, block);
        Events { state: self, packets, joined: None, base, data, ready: Ready::default() }
    }
}

impl<'a> Iterator for Events<'_, 'a> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        loop {
            if let Some(kind) = self.ready.pop() {
                let Ready { offset, tsc, ip, .. } = self.ready;
                self.state.last_event = tsc.max(self.state.last_event);
                return Some(Event { offset, tsc, ip, kind });
            }
            if let Some(JoinedPacket { packet, before }) = self.joined.take() {
                match packet {
                    Ok(packet) => self.packet(0, before, &packet),
                    Err(error) => self.bad(error),
                }
                continue;
            }
            let Some(found) = self.packets.next() else {
                self.state.split.go_on_in(self.packets.block());
                return None;
            };
            match found {
                Ok(located) if located.packet == Packet::Pad => {}
                Ok(located) => self.packet(located.offset, 0, &located.packet),
                Err(error) if error.kind == PacketErrorKind::Truncated => {
                    let block = self.packets.block();
                    self.state.split = SplitPacket::new(self.packets.skip_from(error.offset), block);
                }
                Err(error) => self.bad(error),
            }
        }
    }
}

impl<'a> Events<'_, 'a> {
    /// Returns the position after the last event; `None` if more events are at the same packet.
    #[must_use]
    pub fn position(&self) -> Option<EventPosition> {
        let is_between = self.joined.is_none() && self.ready.is_empty();
        is_between.then_some(EventPosition {
            offset: self.packets.offset(),
            block: self.packets.block(),
            data: self.data,
        })
    }

    fn bad(&mut self, error: PacketError) {
        self.state.clock.bad_packet();
        self.state.context.in_psb = false;
        self.set_error(error.offset, EventKind::Bad(error));
    }

    /// Takes a packet into account, of which some bytes are in the buffers before.
    fn packet(&mut self, offset: usize, before: usize, packet: &Packet) {
        let was_in_psb = self.state.context.in_psb;
        let was_enabled = self.state.pending.enabled;
        self.state.clock.apply(packet, &self.packets);
        let ip = self.state.context.apply(packet);
        let awaited = self.state.pending.awaited.take();
        match *packet {
            Packet::Psb => {
                let position = self.base.wrapping_add(offset as u64).wrapping_sub(before as u64);
                self.state.pending.psb = Some((position, None));
            }
            Packet::PsbEnd if was_in_psb => self.psb(offset),
            Packet::Fup(_) if was_in_psb => {
                self.state.pending.enabled = true;
                if let Some((_, address)) = &mut self.state.pending.psb {
                    *address = ip;
                }
            }
            Packet::Fup(_) => {
                self.state.pending.bind(awaited);
                if ip.is_some() {
                    self.flow_update(offset, ip);
                }
            }
            Packet::Ovf => {
                self.state.pending = Pending { is_overflow: true, ..Pending::default() };
                self.data = None;
                self.set_error(offset, EventKind::Overflow);
            }
            // Another ratio there is an event at the PSBEND.
            Packet::Cbr(_) if was_in_psb => {}
            Packet::Cbr(_) => {
                self.set_ready(offset, None);
            }
            _ => self.other(offset, packet, was_enabled),
        }
    }

    /// The packets that end the state after a PSB, if they come before its end.
    fn other(&mut self, offset: usize, packet: &Packet, was_enabled: bool) {
        let pending = &mut self.state.pending;
        match *packet {
            Packet::PtWrite(write) if write.ip => pending.awaited = Some(Awaited::PtWrite(write)),
            Packet::ExStop { ip: true } => pending.awaited = Some(Awaited::ExStop),
            Packet::Cfe(cfe) if cfe.ip => pending.awaited = Some(Awaited::Cfe(cfe)),
            Packet::PtWrite(write) => self.set_ready(offset, None).write = Some(write),
            Packet::ExStop { ip: false } => self.set_ready(offset, None).stop = Some(false),
            Packet::Cfe(cfe) => {
                pending.cfe = Some(cfe);
                if !was_enabled {
                    self.flow_update(offset, None);
                }
            }
            Packet::Evd(_) => self.data = self.data.or(Some(offset)),
            Packet::Mwait(mwait) => pending.mwait = Some(mwait),
            Packet::Pwre(pwre) if pending.mwait.is_some() => pending.pwre = Some(pwre),
            Packet::Pwre(pwre) => self.set_ready(offset, None).pwre = Some(pwre),
            Packet::Pwrx(pwrx) => self.set_ready(offset, None).pwrx = Some(pwrx),
            Packet::TipPge(_) | Packet::Tip(_) => {
                pending.enabled = true;
                pending.is_overflow = false;
            }
            Packet::TipPgd(_) | Packet::TraceStop => pending.enabled = false,
            _ => return,
        }
        self.state.context.in_psb = false;
    }

    /// A FUP packet, or a CFE packet without one: what is pending happens here.
    fn flow_update(&mut self, offset: usize, ip: Option<u64>) {
        let end = self.packets.offset();
        let data = match self.state.pending.cfe {
            Some(_) => self.data.take().unwrap_or(end),
            None => end,
        };
        let evds = Evds::new(self.packets.bytes(data, end));
        let pending = &mut self.state.pending;
        // After an overflow, an address without an event is that at which the trace goes on.
        let enabled = pending.enabled || pending.is_overflow && !pending.has_event();
        let pending = core::mem::replace(pending, Pending { enabled, ..Pending::default() });
        let has_ip = ip.is_some();
        let ready = self.set_ready(offset, ip);
        ready.event = pending.cfe.map(|cfe| {
            let ip = has_ip && (cfe.ip || pending.enabled);
            EventKind::Evt { cfe, ip, data: evds }
        });
        ready.mwait = pending.mwait;
        ready.pwre = pending.pwre;
        ready.stop = pending.stop.then_some(true);
        ready.write = pending.write;
    }

    /// The end of the state after a PSB.
    fn psb(&mut self, offset: usize) {
        let Some((position, ip)) = self.state.pending.psb.take() else {
            return;
        };
        // Not what CYC packets after the TSC packet estimate, but not before the last event.
        let tsc = self.state.clock.last_tsc().max(self.state.last_event);
        let ready = self.set_ready(offset, ip);
        ready.psb = Some(position);
        ready.tsc = tsc;
    }

    /// Reports an error, and nothing else.
    fn set_error(&mut self, offset: usize, error: EventKind<'a>) {
        self.ready = Ready { offset, tsc: self.state.now(), error: Some(error), ..Ready::default() };
    }

    /// Starts with the events at a packet: the first is another ratio of core to bus clock, if there is one.
    fn set_ready(&mut self, offset: usize, ip: Option<u64>) -> &mut Ready<'a> {
        let state = &mut *self.state;
        let cbr = state.context.cbr.filter(|cbr: &Cbr| state.reported_cbr != Some(cbr.ratio()));
        state.reported_cbr = cbr.map_or(state.reported_cbr, |cbr| Some(cbr.ratio()));
        let cbr = cbr.map(|cbr| EventKind::Cbr {
            cbr,
            khz: state.bus_khz.saturating_mul(cbr.ratio().into()),
            max_ratio: state.max_ratio,
        });
        self.ready = Ready { offset, tsc: state.now(), ip, cbr, ..Ready::default() };
        &mut self.ready
    }
}
