//! AUXTRACE_INFO of each version, and each error.

use perf_abi::auxtrace::AuxtraceType;
use perf_aux::spe::{EventFlags, Midr, SpeCpu, SpeInfo, SpeInfoError};
use perf_parse::abi::endian::Endianness;
use perf_parse::list::List;
use perf_parse::record::user::AuxtraceInfo;

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn of(bytes: &[u8]) -> Result<SpeInfo<'_>, SpeInfoError> {
    SpeInfo::new(&AuxtraceInfo {
        kind: AuxtraceType::ARM_SPE,
        words: List::new_in(Endianness::Little, bytes),
    })
}

const MAGIC: u64 = 0x1010_1010_1010_1010;

#[test]
fn version_1() {
    let bytes = bytes(&[8, 1]);
    let info = of(&bytes).unwrap();
    assert_eq!((info.version(), info.pmu_type(), info.per_cpu_mmaps()), (1, 8, Some(true)));
    assert_eq!(info.cpus().count(), 0);
    assert_eq!(info.cpu(3, None), SpeCpu::default());
    assert_eq!(info.cpu(3, Some(b"0x410fd0c0")), SpeCpu::with_midr(Midr(0x410f_d0c0)));
}

#[test]
fn version_2() {
    let words = [
        2,
        4,
        8,
        2, //
        MAGIC,
        0,
        4,
        0x410f_d0c0,
        8,
        1024,
        0x80_0000, //
        MAGIC,
        5,
        4,
        0x480f_d060,
        u64::MAX,
        0,
        0,
    ];
    let bytes = bytes(&words);
    let info = of(&bytes).unwrap();
    assert_eq!((info.version(), info.pmu_type(), info.per_cpu_mmaps()), (2, 8, None));
    let cpus: Vec<_> = info.cpus().collect();
    assert_eq!((cpus[0].cpu, cpus[0].midr, cpus[0].pmu_type), (0, Midr(0x410f_d0c0), Some(8)));
    assert_eq!((cpus[0].min_interval, cpus[0].event_filter), (Some(1024), Some(EventFlags::DATA_SNOOPED)));
    assert_eq!((cpus[1].cpu, cpus[1].midr, cpus[1].pmu_type), (5, Midr(0x480f_d060), Some(u64::MAX)));
    assert_eq!(info.cpu(5, Some(b"0x1")).midr, Some(Midr(0x480f_d060)));
    assert_eq!(info.cpu(0, None).event_filter, Some(EventFlags::DATA_SNOOPED));
    assert_eq!(info.cpu(1, None), SpeCpu::default());
    // The area of a thread: the CPUs differ.
    assert_eq!(info.cpu(-1, None), SpeCpu::default());
}

/// The area of a thread that ran on CPUs of one model. A newer header and newer blocks are longer.
#[test]
fn alike_cpus_with_more_words() {
    let words = [3, 5, 8, 2, 99, MAGIC, 0, 5, 1, 8, 1024, 1, 77, MAGIC, 1, 5, 1, 8, 1024, 2, 77];
    let bytes = bytes(&words);
    let info = of(&bytes).unwrap();
    assert_eq!((info.version(), info.cpus().count()), (3, 2));
    assert_eq!(info.cpu(-1, None).event_filter, Some(EventFlags(1)));
    assert_eq!(info.cpu(1, None).event_filter, Some(EventFlags(2)));
}

/// A block may be as short as its id; what it does not have is unknown.
#[test]
fn short_blocks() {
    let bytes = bytes(&[2, 4, 8, 1, MAGIC, 0, 1, 7]);
    let info = of(&bytes).unwrap();
    let cpu = info.cpus().next().unwrap();
    assert_eq!((cpu.midr, cpu.pmu_type, cpu.min_interval, cpu.event_filter), (Midr(7), None, None, None));
}

#[test]
fn errors() {
    let error = |words: &[u64]| of(&bytes(words)).map(|_| ()).unwrap_err();
    let too_short = |words, needed| SpeInfoError::TooShort { words, needed };
    assert_eq!(error(&[]), too_short(0, 2));
    assert_eq!(error(&[8]), too_short(1, 2));
    assert_eq!(error(&[2, 4, 8]), too_short(3, 4));
    assert_eq!(error(&[2, 3, 8, 1]), SpeInfoError::HeaderSize(3));
    assert_eq!(error(&[2, 4, 8, 0]), SpeInfoError::NoCpus);
    assert_eq!(error(&[2, 4, 8, 1, MAGIC, 0, 4]), too_short(7, 8));
    assert_eq!(error(&[2, 5, 8, 1, 0, MAGIC, 0, 4]), too_short(8, 9));
    assert_eq!(error(&[2, u64::MAX, 8, u64::MAX]), too_short(4, u64::MAX));
    let words = List::new_in(Endianness::Little, &[][..]);
    let other = SpeInfo::new(&AuxtraceInfo { kind: AuxtraceType::INTEL_PT, words }).map(|_| ()).unwrap_err();
    assert_eq!(other, SpeInfoError::Tracer(AuxtraceType::INTEL_PT));
    let texts =
        [other, error(&[8]), error(&[2, 3, 8, 1]), error(&[2, 4, 8, 0])].map(|error| error.to_string());
    assert_eq!(texts[0], "type of AUXTRACE_INFO must be ARM_SPE, is INTEL_PT");
    assert_eq!(texts[1], "AUXTRACE_INFO must have at least 2 words after the type, has 1");
    assert_eq!(texts[2], "header size of AUXTRACE_INFO must be at least 4, is 3");
    assert_eq!(texts[3], "number of CPUs of AUXTRACE_INFO must not be 0");
}
