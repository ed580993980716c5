//! The AUXTRACE_INFO record.

use perf_aux::pt::{Config, Info, InfoError};
use perf_parse::abi::auxtrace::AuxtraceType;
use perf_parse::record::user::AuxtraceInfo;
use testdata::intel_pt;

use crate::support::{changed, info, record};

#[test]
fn all_parameters() {
    let mut words: Vec<u64> = (100..116).collect();
    words[4] = 1;
    words[8..10].copy_from_slice(&[0, 1]);
    words.push(9);
    words.extend([u64::from_le_bytes(*b"filter 0"), u64::from(b'x'), 7]);
    let info = Info::new(&record(&words)).unwrap();
    assert_eq!((info.pmu_type, info.time_shift, info.time_mult, info.time_zero), (100, 101, 102, 103));
    assert_eq!((info.cap_user_time_zero, info.snapshot_mode, info.per_cpu_mmaps), (true, false, true));
    assert_eq!((info.tsc_bit, info.noretcomp_bit, info.have_sched_switch), (105, 106, 107));
    assert_eq!((info.mtc_bit, info.mtc_freq_bits, info.cyc_bit), (110, 111, 114));
    assert_eq!((info.tsc_ctc_n, info.tsc_ctc_d, info.max_nonturbo_ratio), (112, 113, 115));
    assert_eq!((info.filter, info.cap_event_trace), (&b"filter 0x"[..], true));
}

#[test]
fn words_that_are_missing() {
    let words = intel_pt::info();
    let of = |count: usize| Info::new(&record(&words[..count]));
    let too_few = |words, required| Err(InfoError::TooFewWords { words, required });
    assert_eq!(of(0), too_few(0, 10));
    assert_eq!(of(9), too_few(9, 10));
    assert!(of(10).is_ok_and(|info| info.per_cpu_mmaps));
    // The clocks come together.
    assert!(of(14).is_ok_and(|info| (info.mtc_bit, info.tsc_ctc_n, info.cyc_bit) == (0, 0, 0)));
    assert!(
        of(15).is_ok_and(|info| (info.mtc_bit, info.tsc_ctc_n, info.cyc_bit) == (words[10], 20, words[14]))
    );
    assert!(of(16).is_ok_and(|info| info.max_nonturbo_ratio == 20 && !info.cap_event_trace));
    assert!(of(17).is_ok_and(|info| !info.cap_event_trace));
    assert!(of(18).is_ok_and(|info| info.cap_event_trace));
    // A filter of 7 bytes takes one word with its NUL, one of 8 takes two.
    for (len, required) in [(1, 18), (7, 18), (8, 19), (16, 20)] {
        let mut words = vec![0; required - 1];
        words[16] = len;
        assert_eq!(Info::new(&record(&words)).err(), too_few(required - 1, required).err());
        words.push(u64::MAX);
        assert_eq!(Info::new(&record(&words)).unwrap().filter.len() as u64, len);
    }
    let mut words = [0; 20];
    words[16] = u64::MAX;
    assert!(Info::new(&record(&words)).is_err());
}

#[test]
fn another_tracer() {
    let of_spe = AuxtraceInfo { kind: AuxtraceType::ARM_SPE, ..record(&intel_pt::info()) };
    let error = Info::new(&of_spe).unwrap_err();
    assert_eq!(error, InfoError::Tracer(AuxtraceType::ARM_SPE));
    assert_eq!(error.to_string(), "AUXTRACE_INFO: the tracer is ARM_SPE, not INTEL_PT");
}

#[test]
fn clocks() {
    let info = info();
    assert_eq!(info.time(2_000_000_000), Some(1_001_000_000));
    assert_eq!(changed(|info| info.cap_user_time_zero = false).time(0), None);
    assert_eq!(
        (info.tsc_frequency(), info.max_ratio(), info.bus_khz()),
        (Some(2_000_000_000), Some(20), Some(100_000))
    );
    // Computed: 2.05 GHz is 21 times 100 MHz, a bit less is 20 times.
    let computed = |mult| {
        changed(|info| (info.max_nonturbo_ratio, info.time_shift, info.time_mult) = (0, 20, mult)).max_ratio()
    };
    assert_eq!((computed(511_500), computed(511_501)), (Some(21), Some(20)));
    let unknown = changed(|info| (info.time_mult, info.max_nonturbo_ratio) = (0, 0));
    assert_eq!((unknown.tsc_frequency(), unknown.max_ratio(), unknown.bus_khz()), (None, None, None));
    for shift in [63, 64, u64::MAX] {
        assert_eq!(changed(|info| (info.time_shift, info.time_mult) = (shift, 1)).tsc_frequency(), None);
    }
}

#[test]
fn configurations() {
    let info = info();
    assert!(Config(0).has_branches() && Config(1 | 1 << 13).has_branches() && !Config(1).has_branches());
    assert!(Config(1 << 4).has_power_events() && !Config(!(1 << 4)).has_power_events());
    assert!(Config(1 << 31).has_event_trace() && !Config(!(1 << 31)).has_event_trace());
    assert_eq!(Config(9 << 14).mtc_period(&info), 9);
    assert_eq!(Config(u64::MAX).mtc_period(&info), 15);
    assert_eq!(Config(u64::MAX).mtc_period(&changed(|info| info.mtc_freq_bits = u64::MAX)), 15);
    assert_eq!(Config(u64::MAX).mtc_period(&changed(|info| info.mtc_freq_bits = 0)), 0);
}
