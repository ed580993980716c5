//! AUXTRACE_INFO and TIME_CONV: what the decoder of a trace needs to know.

use perf_abi::auxtrace::{ArmSpeWord, IntelBtsWord, IntelPtWord};
use perf_abi::mmap_page::Capabilities;
use perf_abi::record::RecordType;
use perf_parse::ring::Page;

use super::plan::{bits, term};
use super::sizes::AuxMode;
use super::{AuxPlan, SwitchTracking, Tracer};
use crate::Error;
use crate::record_body;

/// Passes the record to `sink`. `page` is the control page of a ring, `crystal` the ratio of time stamp counter to crystal
/// clock, `filter` the filter of addresses.
///
/// perf: `info_fill` of each PMU.
pub(crate) fn record(
    plan: &AuxPlan,
    page: &Page,
    crystal: Option<(u32, u32)>,
    filter: Option<&str>,
    sink: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut body = Vec::new();
    body.extend(plan.tracer.kind().0.to_ne_bytes());
    body.extend(0_u32.to_ne_bytes());
    let words = match plan.tracer {
        Tracer::IntelPt => intel_pt(plan, page, crystal.unwrap_or_default(), filter.unwrap_or_default()),
        Tracer::IntelBts => intel_bts(plan, page),
        Tracer::ArmSpe => {
            let mut words = vec![0; ArmSpeWord::COUNT];
            // perf leaves the word PER_CPU_MMAPS 0, and no decoder reads it.
            words[ArmSpeWord::PMU_TYPE.0] = plan.pmu.kind.0.into();
            words
        }
        Tracer::HisiPtt => vec![plan.pmu.kind.0.into()],
    };
    words.into_iter().for_each(|word| record_body::word(&mut body, word));
    record_body::put(RecordType::AUXTRACE_INFO, &body, sink)
}

/// Passes the record TIME_CONV to `sink`, which converts the times of the trace; none if the control page has no such
/// times. Decoders, such as that of Arm SPE, need it before AUXTRACE_INFO.
///
/// perf: `perf_event__synth_time_conv`.
pub(crate) fn times(page: &Page, sink: &mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
    if !page.capabilities.contains(Capabilities::USER_TIME_ZERO) {
        return Ok(());
    }
    let mut body = Vec::new();
    let &Page { time_shift, time_mult, time_zero, time_cycles, time_mask, capabilities, .. } = page;
    for word in [time_shift.into(), time_mult.into(), time_zero, time_cycles, time_mask] {
        record_body::word(&mut body, word);
    }
    let is_short = u8::from(capabilities.contains(Capabilities::USER_TIME_SHORT));
    body.extend([1, is_short, 0, 0, 0, 0, 0, 0]);
    record_body::put(RecordType::TIME_CONV, &body, sink)
}

/// Whether the times of the trace can be converted.
fn has_times(page: &Page) -> bool {
    page.capabilities.contains(Capabilities::USER_TIME_ZERO) && page.time_mult != 0
}

fn intel_pt(plan: &AuxPlan, page: &Page, (numerator, denominator): (u32, u32), filter: &str) -> Vec<u64> {
    let pmu = &plan.pmu;
    let have_sched_switch = match plan.switches {
        SwitchTracking::None => 0,
        SwitchTracking::Tracker if !plan.of_cpus => 2,
        SwitchTracking::Tracker | SwitchTracking::AllTasks => 3,
    };
    let mut words = vec![0; IntelPtWord::COUNT];
    for (word, value) in [
        (IntelPtWord::PMU_TYPE, pmu.kind.0.into()),
        (IntelPtWord::TIME_SHIFT, page.time_shift.into()),
        (IntelPtWord::TIME_MULT, page.time_mult.into()),
        (IntelPtWord::TIME_ZERO, page.time_zero),
        (IntelPtWord::CAP_USER_TIME_ZERO, has_times(page).into()),
        (IntelPtWord::TSC_BIT, term(pmu, "tsc")),
        (IntelPtWord::NORETCOMP_BIT, term(pmu, "noretcomp")),
        (IntelPtWord::HAVE_SCHED_SWITCH, have_sched_switch),
        (IntelPtWord::SNAPSHOT_MODE, matches!(plan.sizes.mode, AuxMode::Snapshot(_)).into()),
        (IntelPtWord::PER_CPU_MMAPS, plan.per_cpu.into()),
        (IntelPtWord::MTC_BIT, term(pmu, "mtc")),
        (IntelPtWord::MTC_FREQ_BITS, bits(pmu, "mtc_period")),
        (IntelPtWord::TSC_CTC_N, numerator.into()),
        (IntelPtWord::TSC_CTC_D, denominator.into()),
        (IntelPtWord::CYC_BIT, term(pmu, "cyc")),
        (IntelPtWord::MAX_NONTURBO_RATIO, plan.max_nonturbo_ratio),
        (IntelPtWord::FILTER_STR_LEN, filter.len() as u64),
    ] {
        words[word.0] = value;
    }
    if !filter.is_empty() {
        let mut bytes = filter.as_bytes().to_vec();
        // With its NUL.
        bytes.resize((filter.len() + 1).next_multiple_of(8), 0);
        words.extend(bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)));
    }
    words.push(pmu.cap("event_trace", 10).unwrap_or(0));
    words
}

fn intel_bts(plan: &AuxPlan, page: &Page) -> Vec<u64> {
    let mut words = vec![0; IntelBtsWord::COUNT];
    for (word, value) in [
        (IntelBtsWord::PMU_TYPE, plan.pmu.kind.0.into()),
        (IntelBtsWord::TIME_SHIFT, page.time_shift.into()),
        (IntelBtsWord::TIME_MULT, page.time_mult.into()),
        (IntelBtsWord::TIME_ZERO, page.time_zero),
        (IntelBtsWord::CAP_USER_TIME_ZERO, has_times(page).into()),
        (IntelBtsWord::SNAPSHOT_MODE, matches!(plan.sizes.mode, AuxMode::Snapshot(_)).into()),
    ] {
        words[word.0] = value;
    }
    words
}
