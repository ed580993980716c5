//! Events that wait for their address, and those that have all.

use crate::pt::event::EventKind;
use crate::pt::packet::PtWrite;
use crate::pt::power::{Mwait, Pwre, Pwrx};
use crate::pt::trace_event::Cfe;

/// What waits for the next FUP packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pending {
    /// The packet that announced a FUP as the next one.
    pub(super) awaited: Option<Awaited>,
    pub(super) write: Option<PtWrite>,
    pub(super) stop: bool,
    pub(super) cfe: Option<Cfe>,
    pub(super) mwait: Option<Mwait>,
    pub(super) pwre: Option<Pwre>,
    /// Offset in all buffers of a PSB packet whose PSBEND has not come yet, and the address after it.
    pub(super) psb: Option<(u64, Option<u64>)>,
    /// Whether the code that runs is traced, as perf keeps it: a PSB does not change it.
    pub(super) enabled: bool,
    /// Whether an overflow has not been resolved by an address yet.
    pub(super) is_overflow: bool,
}

/// A packet that announces a FUP packet as the next one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Awaited {
    PtWrite(PtWrite),
    ExStop,
    Cfe(Cfe),
}

impl Pending {
    /// Whether there is an event at the next FUP.
    pub(super) const fn has_event(&self) -> bool {
        self.stop || self.write.is_some() || self.cfe.is_some() || self.mwait.is_some()
    }

    /// The FUP came.
    pub(super) const fn bind(&mut self, awaited: Option<Awaited>) {
        match awaited {
            Some(Awaited::PtWrite(write)) => self.write = Some(write),
            Some(Awaited::ExStop) => self.stop = true,
            Some(Awaited::Cfe(cfe)) => self.cfe = Some(cfe),
            None => {}
        }
    }
}

/// The events at one packet, which are returned one by one in perf's order: that of the fields.
#[derive(Clone, Debug, Default)]
pub(super) struct Ready<'a> {
    pub(super) offset: usize,
    pub(super) tsc: Option<u64>,
    pub(super) ip: Option<u64>,
    pub(super) error: Option<EventKind<'a>>,
    pub(super) event: Option<EventKind<'a>>,
    pub(super) psb: Option<u64>,
    pub(super) cbr: Option<EventKind<'a>>,
    pub(super) mwait: Option<Mwait>,
    pub(super) pwre: Option<Pwre>,
    pub(super) stop: Option<bool>,
    pub(super) pwrx: Option<Pwrx>,
    pub(super) write: Option<PtWrite>,
}

impl<'a> Ready<'a> {
    /// Whether no event is left.
    pub(super) const fn is_empty(&self) -> bool {
        let Self { error, event, psb, cbr, mwait, pwre, stop, pwrx, write, .. } = self;
        let has_own = error.is_some() || event.is_some() || psb.is_some() || cbr.is_some();
        !(has_own || mwait.is_some() || pwre.is_some() || stop.is_some() || pwrx.is_some() || write.is_some())
    }

    /// Takes the next event.
    pub(super) fn pop(&mut self) -> Option<EventKind<'a>> {
        let Self { error, event, psb, cbr, mwait, pwre, stop, pwrx, write, .. } = self;
        (error.take())
            .or_else(|| event.take())
            .or_else(|| psb.take().map(|position| EventKind::Psb { position }))
            .or_else(|| cbr.take())
            .or_else(|| mwait.take().map(EventKind::Mwait))
            .or_else(|| pwre.take().map(EventKind::Pwre))
            .or_else(|| stop.take().map(|ip| EventKind::ExStop { ip }))
            .or_else(|| pwrx.take().map(EventKind::Pwrx))
            .or_else(|| write.take().map(EventKind::PtWrite))
    }
}
