//! The time stamp counter, by facts of the Intel SDM that are computed by hand.

use perf_aux::pt::{Clock, Config, Info, Packets};

use crate::support::{CONFIG, changed, info};

/// The TSC after each packet of a trace.
fn times(info: &Info<'_>, config: Config, reference: u64, trace: &[u8]) -> Vec<Option<u64>> {
    let mut clock = Clock::new(info, config);
    clock.start(reference);
    let mut packets = Packets::new(trace);
    let mut times = Vec::new();
    while let Some(found) = packets.next() {
        clock.apply(&found.unwrap().packet, &packets);
        times.push(clock.tsc());
    }
    times
}

fn tsc(tsc: u64) -> Vec<u8> {
    [&[0x19], &tsc.to_le_bytes()[..7]].concat()
}

fn tma(ctc: u16, fast: u16) -> Vec<u8> {
    [&[0x02, 0x73][..], &ctc.to_le_bytes(), &[0], &fast.to_le_bytes()].concat()
}

#[test]
fn tsc_packets() {
    let of = |reference, tscs: &[u64]| -> Vec<u64> {
        let trace: Vec<u8> = tscs.iter().flat_map(|&low| tsc(low)).collect();
        times(&info(), CONFIG, reference, &trace).into_iter().flatten().collect()
    };
    const WRAP: u64 = 1 << 56;
    // Completed by the reference: the nearest time.
    assert_eq!(of(5 * WRAP + 10, &[20]), [5 * WRAP + 20]);
    assert_eq!(of(5 * WRAP + 10, &[WRAP - 1]), [5 * WRAP - 1]);
    assert_eq!(of(6 * WRAP - 10, &[20]), [6 * WRAP + 20]);
    // Without a reference, as it is.
    assert_eq!(of(0, &[20, 30]), [20, 30]);
    // A packet that slips is not earlier; one that is much earlier has wrapped, unless it would be after the reference.
    assert_eq!(of(0, &[0x2_0000, 0x1_0001, 0x1_0000]), [0x2_0000, 0x2_0000, WRAP + 0x1_0000]);
    assert_eq!(of(0x3_0000, &[0x2_0000, 0x1_0000, 0x2_8000]), [0x2_0000, 0x2_0000, 0x2_8000]);
}

/// 20 ticks of the TSC are one of the crystal clock, and MTC packets have its bits from bit 3 on: 160 ticks.
#[test]
fn mtc_packets() {
    let trace = [tsc(1_000_013), tma(0x1005, 13), vec![0x59, 0x01, 0x59, 0x03, 0x59, 0x02]].concat();
    // When the crystal clock was 0x1000, the TSC was 1000013 - 13 - 5 * 20.
    let start = 999_900;
    let found = times(&info(), CONFIG, 0, &trace);
    assert_eq!(found, [1_000_013, 1_000_013, start + 160, start + 3 * 160, start + 258 * 160].map(Some));
    // A ratio that is no whole number.
    let ratio = changed(|info| (info.tsc_ctc_n, info.tsc_ctc_d) = (7, 3));
    let trace = [tsc(1_000_000), tma(0x1000, 0), vec![0x59, 0x01]].concat();
    assert_eq!(times(&ratio, CONFIG, 0, &trace)[2], Some(1_000_000 + 8 * 7 / 3));
    // Without a TMA packet, a ratio, or after a stop, MTC packets say nothing.
    for (parameters, trace) in [
        (info(), [tsc(50), vec![0x59, 0x01]].concat()),
        (changed(|info| info.tsc_ctc_d = 0), [tsc(50), tma(0, 0), vec![0x59, 0x01]].concat()),
        (changed(|info| info.tsc_ctc_n = 0), [tsc(50), tma(0, 0), vec![0x59, 0x01]].concat()),
        (info(), [tsc(50), tma(0, 0), vec![0x02, 0x83, 0x59, 0x01]].concat()),
    ] {
        assert_eq!(times(&parameters, CONFIG, 0, &trace).last(), Some(&Some(50)));
    }
}

/// With a period above 8, the TMA packet lacks high bits of the first MTC packet.
#[test]
fn a_long_mtc_period() {
    let config = Config(10 << 14);
    // The crystal clock is at 0x?fc00: the low 6 bits of its MTC are 0x3f.
    let trace = |mtc| [tsc(1 << 30), tma(0xfc00, 0), vec![0x59, mtc]].concat();
    for (mtc, ticks) in [(0x40, 1), (0x80, 1), (0x00, 1), (0x41, 2), (0x3f, 64)] {
        let found = times(&info(), config, 0, &trace(mtc));
        assert_eq!(found[2], Some((1 << 30) + (ticks << 10) * 20), "{mtc:x}");
    }
}

/// A core at ratio 10 of 20 takes two ticks of the TSC for each cycle.
#[test]
fn cyc_packets() {
    let cbr = |ratio| vec![0x02, 0x03, ratio, 0];
    let trace = [tsc(1000), cbr(10), vec![0x2b, 0x2b], cbr(20), vec![0x2b]].concat();
    assert_eq!(times(&info(), CONFIG, 0, &trace), [1000, 1000, 1010, 1020, 1020, 1025].map(Some));
    // No ratio, and a ratio of 0.
    assert_eq!(times(&info(), CONFIG, 0, &[tsc(1000), vec![0x2b]].concat())[1], Some(1000));
    assert_eq!(times(&info(), CONFIG, 0, &[tsc(1000), cbr(0), vec![0x2b]].concat())[2], Some(1000));
    // No time to start from.
    assert_eq!(times(&info(), CONFIG, 0, &[cbr(10), vec![0x2b]].concat()), [None, None]);
}

/// Between two MTC packets after CYC packets, the cycles are those that were counted: here 100 in 160 ticks.
#[test]
fn cycles_between_mtc_packets() {
    let mut trace = [tsc(1_000_000), vec![0x02, 0x03, 12, 0], tma(0x1000, 0)].concat();
    let mut cycles = |count| {
        testdata::intel_pt::cycles(&mut trace, count);
    };
    cycles(90);
    trace.extend([0x59, 0x01]);
    for count in [40, 60] {
        testdata::intel_pt::cycles(&mut trace, count);
    }
    trace.extend([0x59, 0x02]);
    let found = times(&info(), CONFIG, 0, &trace);
    assert_eq!(found[4..], [1_000_160, 1_000_224, 1_000_320, 1_000_320].map(Some));
    // A TSC packet between them shows that the time may have stopped: the CBR packet counts.
    let at = trace.len() - 2;
    trace.splice(at..at, tsc(1_000_300));
    assert_eq!(times(&info(), CONFIG, 0, &trace)[5], Some(1_000_160 + 40 * 20 / 12));
}

#[test]
fn a_new_start() {
    let mut clock = Clock::new(&info(), CONFIG);
    let none = Packets::new(&[]);
    clock.start(1 << 60);
    for packet in Packets::new(&[tsc(5), tma(0, 0)].concat()) {
        clock.apply(&packet.unwrap().packet, &none);
    }
    assert_eq!((clock.tsc(), clock.last_tsc()), (Some((1 << 60) + 5), Some((1 << 60) + 5)));
    clock.start(1 << 61);
    let mtc = Packets::new(&[0x59, 1]).next().unwrap().unwrap().packet;
    clock.apply(&mtc, &none);
    assert_eq!(clock.tsc(), None);
    let packet = Packets::new(&tsc(7)).next().unwrap().unwrap().packet;
    clock.apply(&packet, &none);
    assert_eq!(clock.tsc(), Some((1 << 61) + 7));
}
