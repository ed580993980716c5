//! `perf script --itrace`: the samples, field by field.

use core::fmt::Write;

use perf_aux::spe::{
    Decoder, EventFlags, IpFlags, Midr, Operation, SampleKind, SampleKinds, SampleOptions, SpeBranch, SpeCpu,
    SpeRecord, SpeSample, Synthesis,
};
use testdata::arm_spe::{Capture, RandomPackets};

use crate::perf::Perf;

pub(crate) const TESTS: &[needs::Test] = needs::tests![PERF:
    of_each_encoding, of_the_cpuid, flags_and_branches, a_period, letters, times, without_options, of_any_packets, of_perf_6_1
];

/// CPUs with each encoding of data sources, one that perf does not know, and one that records snoops.
const CPUS: [(u64, u64); 6] = [
    (0x413f_d0c1, 0),
    (0x4e0f_0100, 0x80_0000),
    (0xc00f_ac40, 0),
    (0x480f_d060, 0),
    (0x410f_1230, 0),
    (0x410f_1230, 0x80_0000),
];

fn count() -> usize {
    if testdata::is_thorough() { 10_000 } else { 400 }
}

/// Our samples of a capture, with the record of each.
fn samples(capture: &Capture, options: SampleOptions) -> Vec<(SpeRecord, SpeSample)> {
    let mut cpu = SpeCpu::default();
    if let Some((midr, filter)) = capture.cpu {
        cpu.midr = Some(Midr(midr));
        cpu.event_filter = Some(EventFlags(filter));
    } else if let Some(cpuid) = capture.cpuid {
        cpu.midr = Some(Midr::from_cpuid(cpuid.as_bytes()));
    }
    let mut decoder = Decoder::new();
    let mut synthesis = Synthesis::new(options);
    // As perf: an empty record if there are no times, else none before the first whole one.
    let is_timed = capture.time_conv.is_some();
    let first = (!is_timed).then(SpeRecord::default);
    let mut data = capture.data.clone();
    data.resize(data.len().next_multiple_of(8), 0);
    let records = decoder.records(0, &data);
    let records = records.skip_while(|record| is_timed && record.is_damaged());
    let of_record = |record: SpeRecord| synthesis.samples(&record, &cpu).map(move |sample| (record, sample));
    first.into_iter().chain(records).flat_map(of_record).collect()
}

/// Asserts that each line that perf prints is what `text` makes of our sample.
fn compare(
    capture: &Capture,
    args: &[&str],
    options: SampleOptions,
    theirs: impl Fn(&str) -> String,
    text: impl Fn(&SpeSample) -> String,
) {
    let printed = Perf::new().script("samples.data", capture, args);
    let theirs: Vec<_> = printed.lines().map(theirs).collect();
    let ours = samples(capture, options);
    for (index, ((record, sample), theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!(&text(sample), theirs, "sample {index}: {sample:#x?} of {record:#x?}");
    }
    assert_eq!(ours.len(), theirs.len());
    println!("{} samples", ours.len());
}

const ALL: SampleOptions = SampleOptions {
    kinds: SampleKinds::ALL,
    period: 1,
    branch_stack: 0,
    kernel_start: 1 << 63,
    non_exhaustive: (),
};

const NUMBERS: &str = "event,period,ip,addr,phys_addr,data_src,weight";

/// A line of `NUMBERS`: `PERIOD EVENT: ADDR DATA_SRC |TEXT WEIGHT IP PHYS`. The text contains spaces.
fn numbers(line: &str) -> String {
    let words: Vec<_> = line.split_whitespace().collect();
    let [period, event, addr, data_src, .., weight, ip, phys_addr] = words[..] else { panic!("{line}") };
    [period, event, addr, data_src, weight, ip, phys_addr].join(" ")
}

fn our_numbers(sample: &SpeSample) -> String {
    let SpeSample { kind, ip, addr, phys_addr, data_src, weight, period, .. } = sample;
    format!("{period} {}: {addr:x} {:x} {weight} {ip:x} {phys_addr:x}", kind.name(), data_src.0)
}

fn compare_numbers(capture: &Capture, itrace: &str, options: SampleOptions) {
    compare(capture, &[&format!("--itrace={itrace}"), "-F", NUMBERS], options, numbers, our_numbers);
}

fn of_each_encoding() {
    Perf::new().needs_samples_of_7_2("of_each_encoding");
    for (seed, cpu) in (0..).zip(CPUS) {
        let data = RandomPackets::new(seed).records(count()).out;
        compare_numbers(&Capture { cpu: Some(cpu), data, ..Capture::default() }, "i1ibfmtaM", ALL);
    }
}

fn of_the_cpuid() {
    Perf::new().needs_samples_of_7_2("of_the_cpuid");
    for (seed, cpuid) in (0..).zip([None, Some("0x00000000480fd060"), Some("0x00000000000f0000")]) {
        let data = RandomPackets::new(seed).records(count()).out;
        compare_numbers(&Capture { cpuid, data, ..Capture::default() }, "i1ibfmtaM", ALL);
    }
}

/// perf's text of flags: the kind of branch, events, and transactions. It should print an x for these.
fn flags(flags: IpFlags) -> String {
    let kinds = IpFlags::BRANCH | IpFlags::CALL | IpFlags::RETURN | IpFlags::CONDITIONAL;
    let kind = match IpFlags(flags.0 & kinds.0) {
        kind if kind == IpFlags::BRANCH | IpFlags::CALL => "call",
        kind if kind == IpFlags::BRANCH | IpFlags::RETURN => "return",
        kind if kind == IpFlags::BRANCH | IpFlags::CONDITIONAL => "jcc",
        IpFlags::BRANCH => "jmp",
        _ => "",
    };
    let events = [(IpFlags::BRANCH_MISS, "miss"), (IpFlags::NOT_TAKEN, "not_taken")];
    let events: Vec<_> =
        events.iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, name)| *name).collect();
    let mut text = kind.to_owned();
    if !events.is_empty() {
        write!(text, "/{}/", events.join(",")).unwrap();
    }
    if flags.contains(IpFlags::IN_TX) {
        text.push_str("()");
    }
    if text.is_empty() {
        // The letters of the flags.
        let letters = [
            (IpFlags::BRANCH, 'b'),
            (IpFlags::CALL, 'c'),
            (IpFlags::RETURN, 'r'),
            (IpFlags::CONDITIONAL, 'o'),
        ];
        text.extend(letters.iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, letter)| letter));
    }
    text
}

/// perf's text of an entry of a branch stack.
fn branch(entry: &SpeBranch) -> String {
    use perf_abi::branch::{BranchFlags, BranchType};
    let SpeBranch { from, to, flags, not_taken, .. } = *entry;
    let mut outcome = String::new();
    for (is, letter) in [
        (flags.contains(BranchFlags::MISPRED), 'M'),
        (flags.contains(BranchFlags::PREDICTED), 'P'),
        (not_taken, 'N'),
    ] {
        if is {
            outcome.push(letter);
        }
    }
    if outcome.is_empty() {
        outcome.push('-');
    }
    let kind = if flags.kind() == BranchType::UNKNOWN { "" } else { flags.kind().name().unwrap() };
    let in_tx = if flags.contains(BranchFlags::IN_TX) { 'X' } else { '-' };
    format!("0x{from:x}/0x{to:x}/{outcome}/{in_tx}/-/{}/{kind}/-", flags.cycles())
}

fn flags_and_branches() {
    Perf::new().needs_samples_of_7_2("flags_and_branches");
    let data = RandomPackets::new(100).records(count()).out;
    let capture = Capture { cpu: Some(CPUS[0]), data, ..Capture::default() };
    // The text of flags contains spaces.
    let theirs = |line: &str| line.split_whitespace().collect();
    let ours = |sample: &SpeSample| format!("{}:{}", sample.kind.name(), flags(sample.flags));
    compare(&capture, &["--itrace=i1ibfmtaM", "-F", "event,flags"], ALL, theirs, ours);
    for branch_stack in [1, 2, 64] {
        let options = SampleOptions { branch_stack, ..ALL };
        let theirs = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let ours = |sample: &SpeSample| {
            let entries = sample.branches.iter().map(|entry| branch(&entry));
            core::iter::once(format!("{}:", sample.kind.name())).chain(entries).collect::<Vec<_>>().join(" ")
        };
        let itrace = format!("--itrace=i1ibMl{branch_stack}");
        let kinds = SampleKinds::INSTRUCTIONS | SampleKinds::BRANCHES | SampleKinds::MEMORY;
        let options = SampleOptions { kinds, ..options };
        compare(&capture, &[&itrace, "-F", "event,brstack"], options, theirs, ours);
    }
}

/// A period selects records, not samples.
fn a_period() {
    Perf::new().needs_samples_of_7_2("a_period");
    let data = RandomPackets::new(200).records(count()).out;
    let capture = Capture { data, ..Capture::default() };
    for period in [2, 3, 7] {
        compare_numbers(
            &capture,
            &format!("i{period}ibM"),
            SampleOptions {
                kinds: SampleKinds::INSTRUCTIONS | SampleKinds::BRANCHES | SampleKinds::MEMORY,
                period,
                ..ALL
            },
        );
    }
}

fn letters() {
    Perf::new().needs_samples_of_7_2("letters");
    let data = RandomPackets::new(300).records(count() / 4).out;
    let capture = Capture { cpu: Some(CPUS[3]), data, ..Capture::default() };
    for letter in "fmtabM".chars() {
        let kinds = SampleKinds::of_letter(letter).unwrap();
        let period = 0;
        compare_numbers(&capture, &letter.to_string(), SampleOptions { kinds, period, ..ALL });
    }
}

/// Times are converted, and contexts are threads: of a record without one, that of the record before.
fn times() {
    Perf::new().needs_samples_of_7_2("times");
    let conv = [7, 0x1234_5678, 1_000_000_007];
    let data = RandomPackets::new(400).records(count()).out;
    let capture = Capture { cpu: Some(CPUS[1]), time_conv: Some(conv), data, ..Capture::default() };
    let time = |ticks: u64| {
        let [shift, mult, zero] = conv;
        let mask = (1 << shift) - 1;
        let part = (ticks & mask).wrapping_mul(mult) >> shift;
        zero.wrapping_add((ticks >> shift).wrapping_mul(mult)).wrapping_add(part)
    };
    let theirs = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let tid = core::cell::Cell::new(None);
    let ours = |sample: &SpeSample| {
        tid.set(sample.context_id.or(tid.get()));
        let time = time(sample.timestamp);
        let tid = tid.get().map_or_else(|| testdata::arm_spe::TID.to_string(), |tid: u32| tid.to_string());
        let (seconds, nanoseconds) = (time / 1_000_000_000, time % 1_000_000_000);
        format!("{tid} {seconds}.{nanoseconds:09}: {}: {:x}", sample.kind.name(), sample.ip)
    };
    compare(&capture, &["--itrace=i1ibfmtaM", "--ns", "-F", "tid,time,event,ip"], ALL, theirs, ours);
}

fn without_options() {
    Perf::new().needs_samples_of_7_2("without_options");
    let data = RandomPackets::new(500).records(count()).out;
    let capture = Capture { cpu: Some(CPUS[2]), data, ..Capture::default() };
    compare(&capture, &["-F", NUMBERS], SampleOptions::default(), numbers, our_numbers);
}

/// Records of any packets, most of them damaged: perf makes samples of them too.
fn of_any_packets() {
    Perf::new().needs_samples_of_7_2("of_any_packets");
    for (seed, cpu) in (600..).zip(CPUS) {
        let data = RandomPackets::new(seed).any(count() * 5).out;
        compare_numbers(&Capture { cpu: Some(cpu), data, ..Capture::default() }, "i1ibfmtaM", ALL);
    }
}

/// The samples that perf 6.1 makes too, except for their data sources.
fn of_perf_6_1() {
    let perf = Perf::new();
    if !perf.is_6_1 {
        needs::skip("of_perf_6_1", "samples of perf 6.1 are compared, and this is a newer one");
    }
    let data = RandomPackets::new(700).records(count()).out;
    let capture = Capture { data, ..Capture::default() };
    let printed = perf.script("samples.data", &capture, &["--itrace=fmtaM", "-F", NUMBERS]);
    let without_source = |line: String| {
        let words: Vec<_> = line.split(' ').collect();
        let [_, event, addr, _, weight, ip, phys_addr] = words[..] else { panic!("{line}") };
        [event, addr, weight, ip, phys_addr].join(" ")
    };
    let theirs: Vec<_> = printed.lines().map(numbers).map(without_source).collect();
    let ours = samples(&capture, ALL);
    let mut ours = ours.iter().filter(|(record, sample)| match sample.kind {
        SampleKind::Branch | SampleKind::Instructions => false,
        // Only of loads and stores, and of vector operations that access no memory: perf 6.1 confuses their bits.
        SampleKind::Memory => record.op.intersects(Operation::LDST | Operation::DP),
        _ => true,
    });
    for (index, theirs) in theirs.iter().enumerate() {
        let (record, sample) = ours.next().expect("perf makes no more samples");
        assert_eq!(&without_source(our_numbers(sample)), theirs, "sample {index} of {record:#x?}");
    }
    assert_eq!(ours.next(), None);
}
