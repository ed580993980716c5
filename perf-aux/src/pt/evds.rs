//! The data of a control flow event, as a part of the trace.

use super::packet::Packet;
use super::packets::Packets;
use super::trace_event::Evd;

/// The data of a control flow event, in the order of the trace. Borrows from the trace, whose packets it decodes again.
#[derive(Clone, Debug)]
pub struct Evds<'a>(Packets<'a>);

impl<'a> Evds<'a> {
    /// The EVD packets of a part of a trace.
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(Packets::as_perf(bytes))
    }
}

impl Iterator for Evds<'_> {
    type Item = Evd;

    fn next(&mut self) -> Option<Evd> {
        self.0.find_map(|packet| match packet.ok()?.packet {
            Packet::Evd(evd) => Some(evd),
            _ => None,
        })
    }
}
