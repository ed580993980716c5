//! The attrs, equal to those of perf: by its own tests (`tools/perf/tests/attr/test-record-spe-*`), by a capture of perf
//! 4.14 on such a machine, and by its source.

use perf_abi::attr::{Attr, AttrFlags, AuxAction};
use perf_abi::event::{EventType, SwId};
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;
use perf_open::ring::page_bytes;

use super::AuxMachine;
use crate::aux_area::AuxMode;
use crate::fallback::EventChoices;
use crate::{CallGraphMode, RecordOptions, Targets, shared_settings};

/// The attrs of a recording, those of its own events first.
struct Attrs {
    own: Vec<Attr>,
    events: Vec<Attr>,
}

impl AuxMachine {
    fn attrs_on(&self, list: &str, targets: &Targets, options: &RecordOptions) -> Attrs {
        let (plan, groups) = self.plan(list, targets, options).unwrap();
        let choices = EventChoices { groups, inherit_read: true, aux: Some(plan) };
        let settings = shared_settings::of(&choices, targets, options).unwrap();
        let own = settings.own_events().iter().map(|own| *own.builder.attr()).collect();
        let places =
            choices.groups.iter().flat_map(|group| (0..group.events.len()).map(move |at| (group, at)));
        let attr = |(group, at): (&perf_open::EventGroup, usize)| {
            *settings.builder(group, at, false).unwrap().attr()
        };
        Attrs { own, events: places.map(attr).collect() }
    }

    fn attrs(&self, list: &str, options: &RecordOptions) -> Attrs {
        self.attrs_on(list, &Targets::Command, options)
    }
}

/// perf: `base-record-spe`, `test-record-spe-period`, `test-record-spe-period-term`, `test-record-spe-physical-address`.
#[test]
fn what_perf_expects_of_arm_spe() {
    let machine = AuxMachine::new();
    let of = |list: &str, options: &RecordOptions| {
        let attrs = machine.attrs(list, options);
        let ([attr], [dummy]) = (attrs.events.as_slice(), attrs.own.as_slice()) else { panic!() };
        assert!(matches!(attr.kind.0, 9 | 10) && !attr.flags.contains(AttrFlags::FREQ));
        assert_eq!((dummy.kind, dummy.config), (EventType::SOFTWARE, SwId::DUMMY.0));
        *attr
    };
    let counted = RecordOptions { count: Some(2), ..RecordOptions::default() };
    assert_eq!(of("arm_spe_0//", &counted).sample_period, 2);
    let default = RecordOptions::default();
    assert_eq!(of("arm_spe_0/period=3/", &default).sample_period, 3);
    assert_eq!(of("arm_spe_0/pa_enable=1/", &default).sample_type.0, 622_727);
    let attr = of("arm_spe_0//", &default);
    assert_eq!((attr.sample_period, attr.sample_type.0), (1024, 622_727 & !(1 << 19)));
    // Times are on, unless the user turns them off or a thread is recorded on any cpu.
    assert_eq!((attr.config, of("arm_spe_0/ts_enable=0/", &default).config), (1, 0));
    let per_thread = RecordOptions { per_thread: true, ..default.clone() };
    let thread = of("arm_spe_0//", &per_thread);
    assert_eq!((thread.config, thread.sample_type.0), (0, 0x1_8003));
    assert_eq!(of("arm_spe_1//", &default).sample_period, 4096, "its driver lists no interval");
    let dummy = machine.attrs("arm_spe_0//", &default).own[0];
    assert!(dummy.flags.contains(AttrFlags::CONTEXT_SWITCH | AttrFlags::MMAP | AttrFlags::EXCLUDE_KERNEL));
}

/// The attrs of the capture of `perf record -e cycles -e intel_pt// -- echo` by perf 4.14 on a Core m7-6Y75. What differs is
/// that later versions of perf set `PERF_FORMAT_LOST`, and take guests into the trace.
#[test]
fn a_capture_of_intel_pt() {
    let machine = AuxMachine::new();
    let attrs = machine.attrs("cycles,intel_pt//", &RecordOptions::default());
    let ([cycles, pt], [tracker, switches]) = (attrs.events.as_slice(), attrs.own.as_slice()) else {
        panic!()
    };
    let all = AttrFlags::SAMPLE_ID_ALL | AttrFlags::INHERIT;
    let starts = AttrFlags::DISABLED | AttrFlags::ENABLE_ON_EXEC;
    // IP, TID, TIME, CPU and IDENTIFIER.
    let traced = SampleType(65671);
    assert_eq!((pt.kind.0, pt.config, pt.sample_period, pt.sample_type), (6, 0x300_e601, 1, traced));
    assert_eq!(pt.flags, all | starts);
    assert_eq!(u64::from(pt.aux_watermark), 1 << 20);
    assert_eq!((cycles.sample_freq(), cycles.sample_type.0), (Some(4000), 65536 | 263));
    assert_eq!(cycles.flags.without(AttrFlags::EXCLUDE_GUEST), all | starts | AttrFlags::FREQ);
    let user = AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV | AttrFlags::EXCLUDE_GUEST;
    for dummy in [tracker, switches] {
        assert_eq!((dummy.config, dummy.sample_period, dummy.sample_type), (SwId::DUMMY.0, 1, traced));
        assert_eq!(dummy.read_format, ReadFormat::ID);
    }
    assert_eq!(switches.flags, all | user | AttrFlags::CONTEXT_SWITCH);
    let tracks =
        AttrFlags::MMAP | AttrFlags::MMAP2 | AttrFlags::COMM | AttrFlags::COMM_EXEC | AttrFlags::TASK;
    let later = AttrFlags::KSYMBOL | AttrFlags::BPF_EVENT;
    assert_eq!(tracker.flags, all | user | starts | tracks | later);
}

/// perf: `intel_pt_recording_options`.
#[test]
fn who_records_switches_and_changes_of_code() {
    let mut machine = AuxMachine::new();
    let switch = AttrFlags::CONTEXT_SWITCH;
    let options = RecordOptions::default();
    let cpus = machine.attrs_on("intel_pt//", &Targets::Cpus(vec![0]), &options);
    assert_eq!(cpus.own.len(), 1);
    assert!(cpus.own[0].flags.contains(switch) && !cpus.own[0].flags.contains(AttrFlags::DISABLED));
    let no_times = machine.attrs("intel_pt/tsc=0/", &options);
    assert_eq!(no_times.own.len(), 1);
    assert!(!no_times.own[0].flags.contains(switch));
    machine.abilities.text_poke = true;
    let pokes = machine.attrs("intel_pt//", &options);
    let [tracker, switches, pokes] = pokes.own.as_slice() else { panic!() };
    assert!(switches.flags.contains(switch) && !tracker.flags.intersects(switch | AttrFlags::KSYMBOL));
    assert!(pokes.flags.contains(AttrFlags::TEXT_POKE | AttrFlags::KSYMBOL));
    assert_eq!(pokes.sample_type.0, 65536 | 7);
    assert_eq!(machine.attrs("intel_pt//u", &options).own.len(), 2, "no code of the kernel is traced");
    machine.abilities.cpu_wide = false;
    let user = machine.attrs("intel_pt//", &options);
    assert!(user.own.len() == 1 && user.own[0].flags.contains(switch));
}

#[test]
fn traces_of_threads() {
    let machine = AuxMachine::new();
    let per_thread = RecordOptions { per_thread: true, ..RecordOptions::default() };
    let attrs = machine.attrs("intel_pt//", &per_thread);
    // IP, TID and IDENTIFIER.
    assert_eq!((attrs.events[0].sample_type.0, attrs.own[0].sample_type.0), (65539, 65539));
    assert!(attrs.own.len() == 1 && !attrs.own[0].flags.contains(AttrFlags::CONTEXT_SWITCH));
    let bts = machine.attrs("intel_bts//", &per_thread);
    assert_eq!((bts.events[0].sample_period, bts.events[0].sample_type.0), (1, 65539));
    assert_eq!(bts.events[0].aux_watermark, 0);
}

#[test]
fn the_trace_takes_no_samples() {
    let mut machine = AuxMachine::new();
    machine.abilities.guests_trace = true;
    let options = RecordOptions {
        call_graph: Some(CallGraphMode::Fp),
        regs_intr: 3,
        sample_type: SampleType::RAW,
        ..RecordOptions::default()
    };
    let attrs = machine.attrs("intel_pt//,cycles", &options);
    assert_eq!((attrs.events[0].sample_type.0, attrs.events[0].sample_regs_intr), (65671, 0));
    assert!(attrs.events[0].flags.contains(AttrFlags::EXCLUDE_GUEST));
    assert!(attrs.events[1].sample_type.contains(SampleType::CALLCHAIN | SampleType::REGS_INTR));
    let hisi = machine.attrs_on("hisi_ptt0_2//", &Targets::Cpus(vec![0]), &RecordOptions::default());
    assert_eq!(hisi.events[0].sample_period, 1);
    assert!(hisi.events[0].sample_type.contains(SampleType::TIME));
}

/// perf: `auxtrace_parse_sample_options`, `auxtrace_parse_aux_action`.
#[test]
fn samples_of_the_area_and_other_members() {
    let machine = AuxMachine::new();
    let options = RecordOptions { aux_sample: Some(0), ..RecordOptions::default() };
    let attrs = machine.attrs("{intel_pt//u,branch-misses:u}", &options);
    let [pt, misses] = attrs.events.as_slice() else { panic!() };
    // The shortest distance of synchronization, so that each sample has one.
    assert_eq!((pt.config, pt.aux_sample_size, pt.aux_watermark), (0xe601, 0, 0));
    assert!(!pt.sample_type.contains(SampleType::AUX));
    assert!(misses.sample_type.contains(SampleType::AUX));
    assert_eq!((misses.aux_sample_size, misses.flags.contains(AttrFlags::DISABLED)), (4096, false));
    let kept = machine.attrs("{intel_pt/psb_period=3/u,branch-misses:u}", &options);
    assert_eq!(kept.events[0].config, 0x300_e601);
    // Terms make members.
    let by_terms = "intel_pt//u,faults,branch-misses/aux-sample-size=8192/u,cpu-clock";
    let (plan, groups) = machine.plan(by_terms, &Targets::Command, &RecordOptions::default()).unwrap();
    assert_eq!(groups.iter().map(|group| group.events.len()).collect::<Vec<_>>(), [3, 1]);
    assert_eq!((plan.sizes.mode, plan.sizes.pages), (AuxMode::Samples, (8192 / page_bytes()).max(1)));
    let output = machine.attrs("{intel_pt/branch=0/,cycles/aux-output/ppp}", &RecordOptions::default());
    assert!(output.events[1].flags.contains(AttrFlags::AUX_OUTPUT));
    let list = "intel_pt/aux-action=start-paused/k,cycles/aux-action=resume/,faults/aux-action=pause/";
    let actions = machine.attrs(list, &RecordOptions::default());
    let actions: Vec<_> = actions.events.iter().map(|attr| attr.aux_action).collect();
    assert_eq!(actions, [AuxAction::START_PAUSED, AuxAction::RESUME, AuxAction::PAUSE]);
}

/// perf: `evsel__config_leader_sampling`: the event after the traced one samples.
#[test]
fn a_group_whose_counts_are_sampled() {
    let machine = AuxMachine::new();
    let attrs = machine.attrs("{intel_pt//,cycles,instructions}:S", &RecordOptions::default());
    let rates: Vec<_> =
        attrs.events.iter().map(|attr| (attr.sample_period, attr.flags.contains(AttrFlags::FREQ))).collect();
    assert_eq!(rates, [(0, false), (4000, true), (0, false)]);
    let types: Vec<_> = attrs.events.iter().map(|attr| attr.sample_type).collect();
    assert_eq!(types[0], types[2]);
    assert_eq!(types[0], types[1] | SampleType::CPU);
}

#[test]
fn sizes() {
    let mut machine = AuxMachine::new();
    let sizes = |machine: &AuxMachine, list: &str, options: RecordOptions| {
        let sizes = machine.plan(list, &Targets::Command, &options).unwrap().0.sizes;
        (sizes.pages * page_bytes(), sizes.mode, sizes.ring.map(|pages| pages * page_bytes()))
    };
    let (kib, mib) = (1 << 10, 1 << 20);
    let with =
        |aux_pages, aux_snapshot| RecordOptions { aux_pages, aux_snapshot, ..RecordOptions::default() };
    let pt = "intel_pt//u";
    assert_eq!(sizes(&machine, pt, with(None, None)), (4 * mib, AuxMode::Full, None));
    assert_eq!(sizes(&machine, "hisi_ptt0_2//", with(None, None)).0, 16 * mib);
    assert_eq!(sizes(&machine, pt, with(Some(64), None)).0, 64 * page_bytes());
    assert_eq!(sizes(&machine, pt, with(None, Some(0))), (4 * mib, AuxMode::Snapshot(4 * mib), None));
    assert_eq!(sizes(&machine, pt, with(None, Some(100_000))).1, AuxMode::Snapshot(100_000));
    assert_eq!(sizes(&machine, pt, with(None, Some(100_000))).0, 128 * kib);
    machine.abilities.privileged = false;
    assert_eq!(sizes(&machine, pt, with(None, None)), (128 * kib, AuxMode::Full, Some(256 * kib)));
    assert_eq!(sizes(&machine, pt, with(Some(64), None)).2, None);
}
