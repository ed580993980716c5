//! Events of hand-made traces.

use perf_aux::pt::{Event, EventKind, EventState};
use testdata::intel_pt::{PSB, REFERENCE};

use crate::support::{CONFIG, info};

/// The events after a PSB without a state, as names, addresses and texts. The PSB itself is left out.
fn events(parts: &[&[u8]]) -> Vec<String> {
    let trace = [&PSB[..], &[0x02, 0x23], &parts.concat()].concat();
    let mut state = EventState::new(&info(), CONFIG);
    state.start(REFERENCE);
    let found: Vec<_> = state.events(&trace).collect();
    assert!(matches!(found[0].kind, EventKind::Psb { position: 0 }));
    assert!(found.windows(2).all(|pair| pair[0].offset <= pair[1].offset));
    let text = |event: &Event<'_>| {
        let ip = event.ip.map_or(String::new(), |ip| format!(" at {ip:x}"));
        format!("{}{ip}: {}", event.kind.name().unwrap_or("error"), event.kind)
    };
    found[1..].iter().map(text).collect()
}

const FUP: &[u8] = &[0x1d | 2 << 5, 0x44, 0x33, 0x22, 0x11];
const PTWRITE: &[u8] = &[0x02, 0x12, b'a', b'b', 0, 0];
const PTWRITE_IP: &[u8] = &[0x02, 0x92, 1, 0, 0, 0];
const MWAIT: &[u8] = &[0x02, 0xc2, 0x20, 0, 0, 0, 1, 0, 0, 0];
const PWRE: &[u8] = &[0x02, 0x22, 0x80, 0x62];
const EXSTOP_IP: &[u8] = &[0x02, 0xe2];
const CFE: &[u8] = &[0x02, 0x13, 0x01, 0x0e];
const CFE_IP: &[u8] = &[0x02, 0x13, 0x9f, 0x20];
const OVF: &[u8] = &[0x02, 0xf3];

#[test]
fn writes() {
    assert_eq!(events(&[PTWRITE]), ["ptwrite: IP: 0 payload: 0x6261 ab"]);
    assert_eq!(events(&[PTWRITE_IP, FUP]), ["ptwrite at 11223344: IP: 1 payload: 0x1"]);
    // Padding may come between them.
    assert_eq!(events(&[PTWRITE_IP, &[0], FUP]), ["ptwrite at 11223344: IP: 1 payload: 0x1"]);
    // Without its address there is no event; another packet in between parts them.
    assert_eq!(events(&[PTWRITE_IP]), [""; 0]);
    assert_eq!(events(&[PTWRITE_IP, PTWRITE, FUP]), ["ptwrite: IP: 0 payload: 0x6261 ab"]);
    // A FUP without an address is not yet it.
    assert_eq!(events(&[PTWRITE_IP, &[0x1d], FUP]), ["ptwrite at 11223344: IP: 1 payload: 0x1"]);
    assert_eq!(events(&[&[0x02, 0x12, 0, 0, 0, 0]]), ["ptwrite: IP: 0 payload: 0"]);
}

#[test]
fn power() {
    let entry =
        ["mwait at 11223344: hints: 0x20 extensions: 0x1", "pwre at 11223344: hw: 1 cstate: 6 sub-cstate: 2"];
    assert_eq!(events(&[MWAIT, PWRE, FUP]), entry);
    assert_eq!(events(&[MWAIT, PWRE, EXSTOP_IP, FUP])[..2], entry);
    assert_eq!(events(&[MWAIT, PWRE, EXSTOP_IP, FUP])[2], "exstop at 11223344: IP: 1");
    assert_eq!(events(&[MWAIT, FUP]), entry[..1]);
    assert_eq!(events(&[MWAIT]), [""; 0]);
    // perf 6.1 and 7.2 print the payload of an earlier one here.
    assert_eq!(events(&[PWRE]), ["pwre: hw: 1 cstate: 6 sub-cstate: 2"]);
    assert_eq!(events(&[&[0x02, 0x62]]), ["exstop: IP: 0"]);
    assert_eq!(events(&[EXSTOP_IP, PTWRITE]), ["ptwrite: IP: 0 payload: 0x6261 ab"]);
    assert_eq!(
        events(&[&[0x02, 0xa2, 0x62, 0x01, 0, 0, 0]]),
        ["pwrx: deepest cstate: 2 last cstate: 6 wake reason: 0x1"]
    );
}

#[test]
fn ratios() {
    let cbr = |ratio| [0x02, 0x03, ratio, 0];
    let found = events(&[&cbr(20), &cbr(20), PTWRITE, &cbr(9)]);
    assert_eq!(found[0], "cbr: cbr: 20 freq: 2000 MHz (100%)");
    assert_eq!((found.len(), &*found[2]), (3, "cbr: cbr:  9 freq:  900 MHz ( 45%)"));
    // In the state after a PSB, it is an event at the end.
    let found = events(&[&PSB, &cbr(7), FUP, &[0x02, 0x23]]);
    assert_eq!(found, ["psb at 11223344: psb offs: 0x12", "cbr at 11223344: cbr:  7 freq:  700 MHz ( 35%)"]);
}

#[test]
fn event_trace() {
    let evd: &[u8] = &[0x02, 0x53, 0x00, 0xef, 0xbe, 0, 0, 0, 0, 0, 0];
    let other: &[u8] = &[0x02, 0x53, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0];
    // No packets are enabled: the event is complete.
    assert_eq!(events(&[CFE]), ["evt: cfe: INTR IP: 0 vector: 14"]);
    let enabled: &[u8] = &[0x11];
    assert_eq!(events(&[enabled, CFE, FUP]), ["evt at 11223344: cfe: INTR IP: 1 vector: 14"]);
    assert_eq!(events(&[enabled, CFE]), [""; 0]);
    for disabled in [&[0x01][..], &[0x02, 0x83]] {
        assert_eq!(events(&[enabled, disabled, CFE]), ["evt: cfe: INTR IP: 0 vector: 14"]);
    }
    let found = events(&[evd, &[0x59, 0], other, CFE_IP, FUP, CFE_IP, FUP]);
    assert_eq!(found[0], "evt at 11223344: cfe: 31 IP: 1 vector: 32 PFA: 0xbeef EVD_63: 0");
    assert_eq!(found[1], "evt at 11223344: cfe: 31 IP: 1 vector: 32");
    // An overflow loses the data before it.
    let found = events(&[evd, OVF, CFE_IP, FUP]);
    assert_eq!(found, ["error: Overflow packet", "evt at 11223344: cfe: 31 IP: 1 vector: 32"]);
}

#[test]
fn errors() {
    assert_eq!(events(&[MWAIT, OVF, FUP]), ["error: Overflow packet"]);
    // The address after an overflow enables packets.
    assert_eq!(events(&[OVF, FUP, CFE])[1..], [""; 0]);
    assert_eq!(events(&[OVF, PTWRITE_IP, FUP, CFE])[2], "evt: cfe: INTR IP: 0 vector: 14");
    assert_eq!(events(&[&[0xc9], PTWRITE]), ["error: Bad packet", "ptwrite: IP: 0 payload: 0x6261 ab"]);
    // A state after a PSB that does not end.
    assert_eq!(events(&[&PSB, PTWRITE]), ["ptwrite: IP: 0 payload: 0x6261 ab"]);
    assert_eq!(events(&[&PSB, OVF]), ["error: Overflow packet"]);
    assert_eq!(events(&[&PSB, &[0xc9], &[0x02, 0x23]]), ["error: Bad packet"]);
}

#[test]
fn several_buffers() {
    let mut state = EventState::new(&info(), CONFIG);
    state.start(REFERENCE);
    let first = [PTWRITE, &PSB, &[0x02, 0x23], PTWRITE_IP].concat();
    // What is before the first PSB is skipped.
    assert_eq!(state.events(PTWRITE).count(), 0);
    assert_eq!(state.events(&first).count(), 1);
    // The address is in the next buffer.
    let found: Vec<_> =
        state.events(&[FUP, &PSB, &[0x02, 0x23]].concat()).map(|event| event.kind.to_string()).collect();
    let position = PTWRITE.len() + first.len() + FUP.len();
    assert_eq!(found, ["IP: 1 payload: 0x1".to_owned(), format!("psb offs: {position:#x}")]);
    // Another trace.
    state.events(PTWRITE_IP).for_each(drop);
    state.start(REFERENCE);
    assert_eq!(state.events(&[FUP, PTWRITE].concat()).count(), 0);
}

/// Time, address and text of an event. Event data that are in the buffer before are lost.
fn shown(event: &Event<'_>) -> (Option<u64>, Option<u64>, String) {
    let text = event.kind.to_string();
    let (start, _) = text.split_once(" vector").unwrap_or((&text, ""));
    (event.tsc, event.ip, format!("{:?} {start}", event.kind.name()))
}

#[test]
fn packets_in_two_buffers() {
    let trace = testdata::intel_pt::events(7, 40);
    let of_buffers = |parts: &[&[u8]]| {
        let mut state = EventState::new(&info(), CONFIG);
        state.start(REFERENCE);
        let mut all = Vec::new();
        for part in parts {
            // The time between two CYC packets is estimated with the packets after them, if they are in the buffer.
            all.extend(state.events(part).map(|event| shown(&event)).map(|(_, ip, text)| (ip, text)));
        }
        all
    };
    let whole = of_buffers(&[&trace]);
    assert!(whole.len() > 40);
    // The first PSB is found in one buffer.
    for cut in PSB.len()..trace.len() {
        let (first, second) = trace.split_at(cut);
        assert_eq!(of_buffers(&[first, second]), whole, "{cut}");
    }
    let (psb, rest) = trace.split_at(PSB.len());
    let bytes: Vec<_> = core::iter::once(psb).chain(rest.chunks(1)).collect();
    assert_eq!(of_buffers(&bytes), whole);
}

#[test]
fn the_other_events_of_a_buffer() {
    let trace = testdata::intel_pt::events(8, 60);
    let mut state = EventState::new(&info(), CONFIG);
    state.start(REFERENCE);
    let whole: Vec<_> = state.events(&trace).map(|event| (event.offset, shown(&event))).collect();
    let mut state = EventState::new(&info(), CONFIG);
    state.start(REFERENCE);
    let mut events = state.events(&trace);
    let mut all = Vec::new();
    let mut breaks = 0;
    while let Some(event) = events.next() {
        all.push((event.offset, shown(&event)));
        if let Some(position) = events.position() {
            breaks += 1;
            events = state.events_from(&trace, position);
        }
    }
    assert_eq!(all, whole);
    // Some packets have several events.
    assert!(breaks > 50 && breaks < all.len(), "{breaks}");
}

/// A byte that no packet starts with is an error when the byte after it is known.
#[test]
fn a_packet_that_is_none_in_two_buffers() {
    let mut state = EventState::new(&info(), CONFIG);
    state.start(REFERENCE);
    assert_eq!(state.events(&[&PSB, &[0x02, 0x23, 0x02][..]].concat()).count(), 1);
    let found: Vec<_> =
        state.events(&[&[0x01], PTWRITE].concat()).map(|event| event.kind.to_string()).collect();
    assert_eq!(found[0], "Bad packet");
    assert_eq!(found.last().map(String::as_str), Some("IP: 0 payload: 0x6261 ab"));
}
