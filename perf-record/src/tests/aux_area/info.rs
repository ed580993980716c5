//! AUXTRACE_INFO, decoded by name.

use perf_abi::auxtrace::{ArmSpeWord, AuxtraceType, IntelBtsWord, IntelPtWord};
use perf_abi::endian::NativeEndian;
use perf_abi::mmap_page::Capabilities;
use perf_parse::record::UserRecord;
use perf_parse::ring::Page;
use perf_parse::{RawRecord, Record, SampleLayout};

use super::AuxMachine;
use crate::aux_area::{info, times};
use crate::{RecordOptions, Targets};

/// The control page of the machine of the capture.
fn page() -> Page {
    Page {
        capabilities: Capabilities::USER_TIME_ZERO | Capabilities::BIT0_IS_DEPRECATED,
        time_shift: 31,
        time_mult: 1_789_569_706,
        time_zero: 18_446_744_041_015_200_657,
        ..Page::default()
    }
}

/// Returns the type and the words of the record.
fn words(
    machine: &AuxMachine,
    list: &str,
    options: &RecordOptions,
    filter: Option<&str>,
) -> (AuxtraceType, Vec<u64>) {
    let (plan, _) = machine.plan(list, &Targets::Command, options).unwrap();
    let mut bytes = Vec::new();
    info(&plan, &page(), Some((100, 2)), filter, &mut |record| {
        bytes.extend_from_slice(record);
        Ok(())
    })
    .unwrap();
    let (record, rest) = RawRecord::<NativeEndian>::parse(&bytes).unwrap();
    assert!(rest.is_empty());
    let layout = SampleLayout::new(&perf_abi::attr::Attr::default()).unwrap();
    match record.decode(&layout).unwrap() {
        Record::User(UserRecord::AuxtraceInfo(info), _) => (info.kind, info.words.iter().collect()),
        other => panic!("{other:?}"),
    }
}

/// The words of the capture of perf 4.14 on such a machine, and the one that later versions add.
#[test]
fn the_words_of_a_capture_of_intel_pt() {
    let machine = AuxMachine::new();
    let (kind, words) = words(&machine, "cycles,intel_pt//", &RecordOptions::default(), None);
    assert_eq!(kind, AuxtraceType::INTEL_PT);
    let captured = [
        6,
        31,
        1_789_569_706,
        18_446_744_041_015_200_657,
        1,
        0x400,
        0x800,
        3,
        0,
        1,
        0x200,
        0x3_c000,
        100,
        2,
        2,
        12,
        0,
    ];
    assert_eq!((&words[..IntelPtWord::COUNT], &words[IntelPtWord::COUNT..]), (&captured[..], &[0][..]));
}

#[test]
fn other_recordings_of_intel_pt() {
    let mut machine = AuxMachine::new();
    let snapshot = RecordOptions { aux_snapshot: Some(0), per_thread: true, ..RecordOptions::default() };
    let (_, own) = words(&machine, "intel_pt//", &snapshot, None);
    let of = |word: IntelPtWord| own[word.0];
    assert_eq!((of(IntelPtWord::SNAPSHOT_MODE), of(IntelPtWord::PER_CPU_MMAPS)), (1, 0));
    assert_eq!(of(IntelPtWord::HAVE_SCHED_SWITCH), 0);
    machine.abilities.cpu_wide = false;
    let (_, own) = words(&machine, "intel_pt//", &RecordOptions::default(), None);
    assert_eq!(own[IntelPtWord::HAVE_SCHED_SWITCH.0], 2);
    let filter = "filter 0x580/0x100@/bin/ls";
    let (_, own) = words(&machine, "intel_pt//", &RecordOptions::default(), Some(filter));
    assert_eq!(own[IntelPtWord::FILTER_STR_LEN.0], filter.len() as u64);
    let text: Vec<u8> = own[IntelPtWord::COUNT..].iter().flat_map(|word| word.to_ne_bytes()).collect();
    assert_eq!(text, [filter.as_bytes(), &[0; 14]].concat());
}

#[test]
fn other_tracers() {
    let machine = AuxMachine::new();
    let per_thread = RecordOptions { per_thread: true, ..RecordOptions::default() };
    let (kind, own) = words(&machine, "intel_bts//", &per_thread, None);
    assert_eq!((kind, own.len()), (AuxtraceType::INTEL_BTS, IntelBtsWord::COUNT));
    assert_eq!(own, [7, 31, 1_789_569_706, 18_446_744_041_015_200_657, 1, 0]);
    let (kind, own) = words(&machine, "arm_spe_0//", &RecordOptions::default(), None);
    assert_eq!((kind, own[ArmSpeWord::PMU_TYPE.0], own.len()), (AuxtraceType::ARM_SPE, 9, ArmSpeWord::COUNT));
    let (kind, own) = words(&machine, "hisi_ptt0_2//", &RecordOptions::default(), None);
    assert_eq!((kind, own), (AuxtraceType::HISI_PTT, vec![11]));
}

/// The record of the capture.
#[test]
fn times_of_a_capture() {
    let record = |page: &Page| {
        let mut bytes = Vec::new();
        let mut put = |record: &[u8]| {
            bytes.extend_from_slice(record);
            Ok(())
        };
        times(page, &mut put).unwrap();
        bytes
    };
    let page = Page { time_cycles: 5, time_mask: 6, ..page() };
    let bytes = record(&page);
    let (raw, rest) = RawRecord::<NativeEndian>::parse(&bytes).unwrap();
    assert!(rest.is_empty());
    let layout = SampleLayout::new(&perf_abi::attr::Attr::default()).unwrap();
    let Record::User(UserRecord::TimeConv(conv), _) = raw.decode(&layout).unwrap() else { panic!() };
    let captured = (31, 1_789_569_706, 18_446_744_041_015_200_657);
    assert_eq!((conv.time_shift, conv.time_mult, conv.time_zero), captured);
    assert_eq!(bytes.len(), 56);
    assert_eq!(&bytes[40..], [6_u64.to_ne_bytes(), [1, 0, 0, 0, 0, 0, 0, 0]].concat());
    assert!(record(&Page { capabilities: Capabilities::USER_TIME, ..page }).is_empty());
}
