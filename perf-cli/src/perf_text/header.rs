//! The header of a capture, as comments.

use std::path::Path;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::branch::BranchSampleType;
use perf_abi::feature::Feature;
use perf_abi::read_format::ReadFormat;
use perf_abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_parse::feature::{ClockData, Entries, EventDesc, FeatureData, FeatureSection, GroupDesc, PmuCap};
use perf_parse::file::{Mode, Reader};
use tz::DateTime;

use crate::escape::push_name;
use crate::escape::{OneLine, print};
use crate::local_time::{self, DateText};
use perf_profile::event_name;

/// The features that perf prints only if asked for more.
const LONG: [Feature; 5] = [
    Feature::CPU_TOPOLOGY,
    Feature::NUMA_TOPOLOGY,
    Feature::CACHE,
    Feature::MEM_TOPOLOGY,
    Feature::HYBRID_TOPOLOGY,
];

/// Appends the header: what is known before the first record.
///
/// perf: `perf_session__fprintf_info`, `tools/perf/util/session.c`; `perf_header__fprintf_info`,
/// `tools/perf/util/header.c`.
pub(crate) fn push(out: &mut Vec<u8>, reader: &Reader<'_>, file: &Path) {
    out.extend_from_slice(b"# ========\n");
    if let Some(time) = modified(file) {
        print(out, format_args!("# captured on    : {time}\n"));
    }
    let (version, data) = match reader.mode() {
        Mode::File(header) => (header.version.saturating_sub(1), (header.data.offset, header.data.size)),
        _ => (1, (0, 0)),
    };
    let end = data.0.wrapping_add(data.1);
    print(out, format_args!("# header version : {version}\n"));
    print(out, format_args!("# data offset    : {}\n# data size      : {}\n", data.0, data.1));
    print(out, format_args!("# feat offset    : {end}\n"));
    if !matches!(reader.mode(), Mode::Pipe) {
        for section in reader.features() {
            push_feature(out, &section, reader.events());
        }
        out.extend_from_slice(b"# missing features: ");
        // perf 6.1 knows the features up to this one.
        for number in 1..=Feature::PMU_CAPS.0 {
            let feature = Feature(number);
            if reader.feature(feature).is_none() {
                print(out, format_args!("{} ", feature.name().unwrap_or_default()));
            }
        }
        out.push(b'\n');
    }
    out.extend_from_slice(b"# ========\n#\n");
}

/// Returns when a file was last written.
fn modified(file: &Path) -> Option<String> {
    let file = match file {
        it if it == Path::new("-") => Path::new("/dev/stdin").to_owned(),
        it if it.is_dir() => it.join("data"),
        it => it.to_owned(),
    };
    let time = std::fs::metadata(file).ok()?.modified().ok()?;
    let seconds = time.duration_since(std::time::UNIX_EPOCH).ok()?.as_secs();
    local_time::of(i64::try_from(seconds).ok()?).map(|time| in_words(&time))
}

/// Returns a time as C's `ctime` prints it.
fn in_words(time: &DateTime) -> String {
    const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (year, day) = (time.year(), time.month_day());
    let (hour, minute, second) = (time.hour(), time.minute(), time.second());
    let weekday = DAYS.get(usize::from(time.week_day())).copied().unwrap_or("???");
    let month = MONTHS.get(usize::from(time.month()).wrapping_sub(1)).copied().unwrap_or("???");
    format!("{weekday} {month} {day:2} {hour:02}:{minute:02}:{second:02} {year}")
}

/// Appends a feature.
///
/// perf: `perf_file_section__fprintf_info`, `tools/perf/util/header.c`, and the functions in its table `feat_ops`.
pub(crate) fn push_feature(out: &mut Vec<u8>, section: &FeatureSection<'_>, events: &Events) {
    if LONG.contains(&section.feature) {
        let name = section.feature.name().unwrap_or_default();
        return print(out, format_args!("# {name} info available, use -I to display\n"));
    }
    // The account of the walk has the error.
    let Ok(data) = section.decode() else { return };
    match data {
        FeatureData::Hostname(it) => push_text(out, "hostname", &it),
        FeatureData::OsRelease(it) => push_text(out, "os release", &it),
        FeatureData::Version(it) => push_text(out, "perf version", &it),
        FeatureData::Arch(it) => push_text(out, "arch", &it),
        FeatureData::CpuDesc(it) => push_text(out, "cpudesc", &it),
        FeatureData::CpuId(it) => push_text(out, "cpuid", &it),
        FeatureData::NrCpus(it) => {
            print(out, format_args!("# nrcpus online : {}\n# nrcpus avail : {}\n", it.online, it.available));
        }
        FeatureData::TotalMem(it) => print(out, format_args!("# total memory : {it} kB\n")),
        FeatureData::CmdLine(it) => {
            out.extend_from_slice(b"# cmdline : ");
            for word in it.iter() {
                for (number, part) in word.split(|&byte| byte == b'\'').enumerate() {
                    out.extend_from_slice(if number > 0 { b"\\'" } else { b"" });
                    push_name(out, part);
                }
                out.push(b' ');
            }
            out.push(b'\n');
        }
        FeatureData::EventDesc(it) => it.events.iter().for_each(|event| push_event(out, &event)),
        FeatureData::BranchStack => out.extend_from_slice(b"# contains samples with branch stack\n"),
        FeatureData::Auxtrace(_) => {
            out.extend_from_slice(b"# contains AUX area data (e.g. instruction trace)\n");
        }
        FeatureData::Stat => out.extend_from_slice(b"# contains stat data\n"),
        FeatureData::PmuMappings(it) => {
            let mut before = "# pmu mappings: ";
            for pmu in it.iter() {
                print(out, format_args!("{before}{} = {}", OneLine(&pmu.name), pmu.kind.0));
                before = ", ";
            }
            out.extend_from_slice(if it.is_empty() { b"# pmu mappings: not available\n" } else { b"\n" });
        }
        FeatureData::GroupDesc(it) => it.iter().for_each(|group| push_group(out, &group, events)),
        FeatureData::SampleTime(it) => {
            let usec = |time: u64| format!("{}.{:06}", time / 1_000_000_000, time % 1_000_000_000 / 1000);
            let duration = it.last.wrapping_sub(it.first) as f64 / 1e6;
            let (first, last) = (usec(it.first), usec(it.last));
            print(out, format_args!("# time of first sample : {first}\n# time of last sample : {last}\n"));
            print(out, format_args!("# sample duration : {duration:10.3} ms\n"));
        }
        FeatureData::ClockId(it) => {
            print(out, format_args!("# clockid frequency: {} MHz\n", it.resolution_ns.wrapping_mul(1000)));
        }
        FeatureData::DirFormat(it) => {
            print(out, format_args!("# directory data version : {}\n", it.version.0));
        }
        FeatureData::BpfBtf(it) => {
            it.iter().for_each(|btf| print(out, format_args!("# btf info of id {}\n", btf.id)));
        }
        FeatureData::Compressed(it) => {
            let kind = if it.kind.0 == 1 { "Zstd" } else { "Unknown" };
            let (level, ratio) = (it.level, it.ratio);
            print(out, format_args!("# compressed : {kind}, level = {level}, ratio = {ratio}\n"));
        }
        FeatureData::CpuPmuCaps(it) => push_capabilities(out, b"cpu", &it),
        FeatureData::PmuCaps(it) => {
            it.iter().for_each(|pmu| push_capabilities(out, &pmu.pmu_name, &pmu.caps));
        }
        FeatureData::ClockData(it) => push_clock(out, &it),
        _ => {}
    }
}

fn push_text(out: &mut Vec<u8>, name: &str, text: &[u8]) {
    print(out, format_args!("# {name} : "));
    push_name(out, text);
    out.push(b'\n');
}

/// perf: `__print_pmu_caps`.
fn push_capabilities(out: &mut Vec<u8>, pmu: &[u8], capabilities: &Entries<'_, PmuCap<'_>>) {
    out.extend_from_slice(b"# ");
    push_name(out, pmu);
    out.extend_from_slice(b" pmu capabilities: ");
    if capabilities.is_empty() {
        out.extend_from_slice(b"not available");
    }
    for (number, it) in capabilities.iter().enumerate() {
        out.extend_from_slice(if number > 0 { b", " } else { b"" });
        push_name(out, &it.name);
        out.push(b'=');
        push_name(out, &it.value);
    }
    out.push(b'\n');
}

/// perf: `print_group_desc`.
fn push_group(out: &mut Vec<u8>, group: &GroupDesc<'_>, events: &Events) {
    let members = events.iter().skip(group.leader_idx as usize).take(group.nr_members as usize);
    out.extend_from_slice(b"# group: ");
    if group.name != b"{anon_group}" {
        push_name(out, &group.name);
    }
    out.push(b'{');
    for (number, event) in members.enumerate() {
        out.extend_from_slice(if number > 0 { b"," } else { b"" });
        push_name(out, &event_name(event));
    }
    out.extend_from_slice(b"}\n");
}

/// perf: `print_clock_data`.
fn push_clock(out: &mut Vec<u8>, clock: &ClockData) {
    let name = match clock.clockid {
        0 => "realtime",
        1 => "monotonic",
        4 => "monotonic_raw",
        7 => "boottime",
        11 => "tai",
        _ => "(not found)",
    };
    let split = |time: u64| (time / 1_000_000_000, time % 1_000_000_000);
    let ((seconds, fraction), (own, own_fraction)) =
        (split(clock.wall_clock_ns), split(clock.clockid_time_ns));
    let fraction = fraction / 1000;
    let local = local_time::of(seconds as i64)
        .map_or_else(|| "<error>".to_owned(), |local| format!("{}.{fraction:06}", DateText(&local)));
    print(out, format_args!("# clockid: {name} ({})\n", clock.clockid));
    print(out, format_args!("# reference time: {local} = {seconds}.{fraction:06} (TOD)"));
    print(out, format_args!(" = {own}.{own_fraction:09} ({name})\n"));
}

/// Appends an event with its ids and the fields of its attr that are set.
///
/// perf: `print_event_desc`; `perf_event_attr__fprintf`, `tools/perf/util/perf_event_attr_fprintf.c`.
fn push_event(out: &mut Vec<u8>, event: &EventDesc<'_>) {
    out.extend_from_slice(b"# event : name = ");
    push_name(out, &event.name);
    out.extend_from_slice(b", ");
    if !event.ids.is_empty() {
        out.extend_from_slice(b", id = {");
        for (number, id) in event.ids.iter().enumerate() {
            print(out, format_args!("{} {id}", if number > 0 { "," } else { "" }));
        }
        out.extend_from_slice(b" }");
    }
    push_attr(out, &event.attr, " = ");
    out.push(b'\n');
}

/// Appends the fields of an attr that are set, each but the last with a comma, after a colon.
///
/// perf: `evsel__fprintf`, `tools/perf/util/evsel_fprintf.c`.
pub(crate) fn push_attr_after_colon(out: &mut Vec<u8>, attr: &Attr) {
    let start = out.len();
    push_attr(out, attr, ": ");
    if let Some(comma) = out.get_mut(start) {
        *comma = b':';
    }
}

/// Returns the fields of an attr that are set, after a comma.
#[cfg(target_os = "linux")]
pub(crate) fn attr(attr: &Attr) -> String {
    let mut text = Vec::new();
    push_attr(&mut text, attr, " = ");
    String::from_utf8_lossy(&text).into_owned()
}

/// Appends the fields of an attr that are set, each after a comma. `is` is printed between a name and its value.
fn push_attr(out: &mut Vec<u8>, attr: &Attr, is: &str) {
    let number = |out: &mut Vec<u8>, name: &str, value: u64| {
        if value != 0 {
            print(out, format_args!(", {name}{is}{value}"));
        }
    };
    let hex = |out: &mut Vec<u8>, name: &str, value: u64| {
        if value != 0 {
            print(out, format_args!(", {name}{is}{value:#x}"));
        }
    };
    number(out, "type", attr.kind.0.into());
    number(out, "size", attr.size.into());
    hex(out, "config", attr.config);
    number(out, "{ sample_period, sample_freq }", attr.sample_period);
    push_bits(out, ("sample_type", is), attr.sample_type.0, &SAMPLE_TYPES);
    push_bits(out, ("read_format", is), attr.read_format.0, &READ_FORMATS);
    for flag in AttrFlags::NAMES {
        if flag.c_name == "mmap_data" {
            number(out, "precise_ip", attr.flags.precise_ip().into());
        }
        number(out, flag.c_name, (attr.flags.0 & flag.value != 0).into());
    }
    number(out, "{ wakeup_events, wakeup_watermark }", attr.wakeup_events.into());
    number(out, "bp_type", attr.bp_type.0.into());
    hex(out, "{ bp_addr, config1 }", attr.config1);
    hex(out, "{ bp_len, config2 }", attr.config2);
    let branches: Vec<_> = BranchSampleType::NAMES.iter().map(|it| (it.value, it.name)).collect();
    push_bits(out, ("branch_sample_type", is), attr.branch_sample_type.0, &branches);
    hex(out, "sample_regs_user", attr.sample_regs_user);
    number(out, "sample_stack_user", attr.sample_stack_user.into());
    if attr.clockid != 0 {
        print(out, format_args!(", clockid{is}{}", attr.clockid));
    }
    hex(out, "sample_regs_intr", attr.sample_regs_intr);
    number(out, "aux_watermark", attr.aux_watermark.into());
    number(out, "sample_max_stack", attr.sample_max_stack.into());
    number(out, "aux_sample_size", attr.aux_sample_size.into());
    number(out, "sig_data", attr.sig_data);
}

/// Appends the names of the bits that are set, in the order of the table.
fn push_bits(out: &mut Vec<u8>, (name, is): (&str, &str), value: u64, names: &[(u64, &str)]) {
    if value == 0 {
        return;
    }
    print(out, format_args!(", {name}{is}"));
    for (number, (_, name)) in names.iter().filter(|(bit, _)| value & bit != 0).enumerate() {
        print(out, format_args!("{}{name}", if number > 0 { "|" } else { "" }));
    }
}

const READ_FORMATS: [(u64, &str); 5] = [
    (ReadFormat::TOTAL_TIME_ENABLED.0, "TOTAL_TIME_ENABLED"),
    (ReadFormat::TOTAL_TIME_RUNNING.0, "TOTAL_TIME_RUNNING"),
    (ReadFormat::ID.0, "ID"),
    (ReadFormat::GROUP.0, "GROUP"),
    (ReadFormat::LOST.0, "LOST"),
];

/// In perf's order.
const SAMPLE_TYPES: [(u64, &str); 24] = [
    (SampleType::IP.0, "IP"),
    (SampleType::TID.0, "TID"),
    (SampleType::TIME.0, "TIME"),
    (SampleType::ADDR.0, "ADDR"),
    (SampleType::READ.0, "READ"),
    (SampleType::CALLCHAIN.0, "CALLCHAIN"),
    (SampleType::ID.0, "ID"),
    (SampleType::CPU.0, "CPU"),
    (SampleType::PERIOD.0, "PERIOD"),
    (SampleType::STREAM_ID.0, "STREAM_ID"),
    (SampleType::RAW.0, "RAW"),
    (SampleType::BRANCH_STACK.0, "BRANCH_STACK"),
    (SampleType::REGS_USER.0, "REGS_USER"),
    (SampleType::STACK_USER.0, "STACK_USER"),
    (SampleType::IDENTIFIER.0, "IDENTIFIER"),
    (SampleType::REGS_INTR.0, "REGS_INTR"),
    (SampleType::DATA_SRC.0, "DATA_SRC"),
    (SampleType::WEIGHT.0, "WEIGHT"),
    (SampleType::PHYS_ADDR.0, "PHYS_ADDR"),
    (SampleType::AUX.0, "AUX"),
    (SampleType::CGROUP.0, "CGROUP"),
    (SampleType::DATA_PAGE_SIZE.0, "DATA_PAGE_SIZE"),
    (SampleType::CODE_PAGE_SIZE.0, "CODE_PAGE_SIZE"),
    (SampleType::WEIGHT_STRUCT.0, "WEIGHT_STRUCT"),
];
