//! The values of options.

use core::time::Duration;

use perf_open::abi::branch::BranchSampleType;
use perf_open::abi::regs::Arch;
use perf_record::{CallGraphMode, SynthesizedRecords};

pub(super) use crate::args::size::size;

/// A sampling frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freq {
    /// The highest that the kernel allows.
    Max,
    /// Samples per second.
    Hz(u64),
}

/// Parses `--freq`.
pub(in crate::args::live) fn freq(text: &str) -> Result<Freq, String> {
    match text.parse() {
        Ok(0) => Err("must be at least 1".to_owned()),
        Ok(hz) => Ok(Freq::Hz(hz)),
        Err(_) if text == "max" => Ok(Freq::Max),
        Err(error) => Err(format!("{error}; a number, or max")),
    }
}

/// Parses `--call-graph`.
pub(in crate::args::live) fn call_graph(text: &str) -> Result<CallGraphMode, String> {
    match text.split_once(',') {
        None if text == "fp" => Ok(CallGraphMode::Fp),
        Some(("fp", "defer")) => Ok(CallGraphMode::FpDeferred),
        None if text == "lbr" => Ok(CallGraphMode::Lbr),
        None if text == "dwarf" => Ok(CallGraphMode::Dwarf(CallGraphMode::STACK_BYTES)),
        Some(("dwarf", bytes)) => match bytes.parse() {
            // The kernel refuses larger sizes; also, the size of a record has only 16 bits.
            Ok(bytes @ 8..=65528) if bytes % 8 == 0 => Ok(CallGraphMode::Dwarf(bytes)),
            _ => Err("the bytes of the stack must be a multiple of 8 from 8 to 65528".to_owned()),
        },
        _ => Err("must be fp, fp,defer, lbr, dwarf or dwarf,BYTES".to_owned()),
    }
}

/// The clocks of perf_event_open, by perf's names.
///
/// perf: `clockids`, `tools/perf/util/clockid.c`.
const CLOCKS: [(&str, i32); 8] = [
    ("realtime", 0),
    ("real", 0),
    ("monotonic", 1),
    ("mono", 1),
    ("monotonic_raw", 4),
    ("raw", 4),
    ("boottime", 7),
    ("tai", 11),
];

/// Parses `--clockid`: a name with or without `CLOCK_`, in any case, with `-` or `_`; or a number.
pub(super) fn clock(text: &str) -> Result<i32, String> {
    let name = text.to_ascii_lowercase().replace('-', "_");
    let name = name.strip_prefix("clock_").unwrap_or(&name);
    let name = if name == "boot" { "boottime" } else { name };
    let number: Option<i32> = name.parse().ok();
    let known = CLOCKS.iter().find(|(clock, id)| *clock == name || Some(*id) == number);
    known.map(|(_, id)| *id).ok_or_else(|| {
        let names: Vec<_> = CLOCKS.iter().map(|(clock, _)| *clock).collect();
        format!("must be one of {}, or its number", names.join(", "))
    })
}

/// When `--switch-output` begins another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switch {
    /// On SIGUSR2.
    Signal,
    /// When the file has this many bytes.
    Size(u64),
    /// After this time.
    Time(Duration),
}

/// Parses `--switch-output`.
///
/// perf: `switch_output_setup`.
pub(super) fn switch(text: &str) -> Result<Switch, String> {
    let must = || "must be signal, a size (B, K, M, G) or a time (s, m, h, d)".to_owned();
    if text == "signal" {
        return Ok(Switch::Signal);
    }
    // A small m is a minute, as for perf, and a capital one a size.
    let unit = match text.as_bytes().last() {
        Some(b's') => 1,
        Some(b'm') => 60,
        Some(b'h') => 60 * 60,
        Some(b'd') => 24 * 60 * 60,
        _ => return size(text).map(Switch::Size).map_err(|_| must()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| must())?;
    let seconds = number.checked_mul(unit).filter(|seconds| *seconds > 0).ok_or_else(must)?;
    Ok(Switch::Time(Duration::from_secs(seconds)))
}

/// Parses `--branch-filter`.
///
/// perf: `parse_branch_str`, `tools/perf/util/parse-branch-options.c`.
pub(super) fn branches(text: &str) -> Result<BranchSampleType, String> {
    let mut all = BranchSampleType::NONE;
    for name in text.split(',') {
        all |= match name {
            "u" => BranchSampleType::USER,
            "k" => BranchSampleType::KERNEL,
            "hv" => BranchSampleType::HV,
            "any" => BranchSampleType::ANY,
            "any_call" => BranchSampleType::ANY_CALL,
            "any_ret" => BranchSampleType::ANY_RETURN,
            "ind_call" => BranchSampleType::IND_CALL,
            "abort_tx" => BranchSampleType::ABORT_TX,
            "in_tx" => BranchSampleType::IN_TX,
            "no_tx" => BranchSampleType::NO_TX,
            "cond" => BranchSampleType::COND,
            "ind_jmp" => BranchSampleType::IND_JUMP,
            "call" => BranchSampleType::CALL,
            "save_type" => BranchSampleType::TYPE_SAVE,
            "stack" => BranchSampleType::CALL_STACK,
            "priv" => BranchSampleType::PRIV_SAVE,
            _ => return Err(format!("{name}: is not a kind of branch")),
        };
    }
    // Privilege levels alone select all branches of those.
    Ok(if BranchSampleType::PLM_ALL.contains(all) { all | BranchSampleType::ANY } else { all })
}

/// The registers that are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegisterOption {
    /// None: their names are printed.
    Names,
    /// Those of these bits.
    Mask(u64),
}

/// Returns the names of the registers that can be recorded, with their bits. Without the segment registers that the
/// kernel refuses.
pub(crate) fn register_names() -> impl Iterator<Item = (u64, &'static str)> {
    let arch = Arch::from_machine(std::env::consts::ARCH);
    let all = perf_record::all_registers();
    let bits = (0..64).filter(move |bit| all & 1 << bit != 0);
    bits.filter_map(move |bit| Some((1 << bit, arch?.name(bit)?)))
}

/// Parses `--intr-regs` and `--user-regs`: `all`, `?`, or names of registers.
pub(super) fn registers(text: &str) -> Result<RegisterOption, String> {
    if register_names().next().is_none() {
        return Err("registers are not supported on this architecture".to_owned());
    }
    match text {
        "all" => return Ok(RegisterOption::Mask(perf_record::all_registers())),
        "?" => return Ok(RegisterOption::Names),
        _ => {}
    }
    let mut all = 0;
    for wanted in text.split(',') {
        let known = register_names().find(|(_, name)| name.eq_ignore_ascii_case(wanted));
        all |= known.map(|(bit, _)| bit).ok_or_else(|| {
            let names: Vec<_> = register_names().map(|(_, name)| name).collect();
            format!("{wanted}: is not a register of this machine: {}", names.join(", "))
        })?;
    }
    Ok(RegisterOption::Mask(all))
}

/// When the events start and stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Delay {
    /// They start after this time.
    After(Duration),
    /// They do not start by themselves.
    Never,
    /// They run between these times, which ascend.
    Between(Vec<(Duration, Duration)>),
}

/// Parses `--delay`.
///
/// perf: `evlist__parse_event_enable_time`, `tools/perf/util/evlist.c`.
pub(super) fn delay(text: &str) -> Result<Delay, String> {
    let must = || "must be milliseconds, -1, or ascending ranges such as 10-20,30-40".to_owned();
    let millis = |text: &str| text.parse().map(Duration::from_millis).ok();
    if text == "-1" {
        return Ok(Delay::Never);
    }
    if let Some(after) = millis(text) {
        return Ok(Delay::After(after));
    }
    let range = |text: &str| {
        let (from, to) = text.split_once('-')?;
        Some((millis(from)?, millis(to)?))
    };
    let ranges: Vec<_> = text.split(',').map(range).collect::<Option<_>>().ok_or_else(must)?;
    let times: Vec<_> = ranges.iter().flat_map(|(from, to)| [from, to]).collect();
    if times.is_sorted_by(|before, after| before < after) { Ok(Delay::Between(ranges)) } else { Err(must()) }
}

/// Parses `--synth`.
///
/// perf: `parse_synth_opt`, `tools/perf/util/synthetic-events.c`.
pub(super) fn synth(text: &str) -> Result<SynthesizedRecords, String> {
    let mut kinds = SynthesizedRecords { tasks: false, mappings: false, cgroups: false };
    for kind in text.split(',') {
        match kind.to_ascii_lowercase().as_str() {
            "no" | "none" => return Ok(SynthesizedRecords { tasks: false, mappings: false, cgroups: false }),
            "all" => return Ok(SynthesizedRecords::default()),
            "task" => kinds.tasks = true,
            "mmap" => (kinds.tasks, kinds.mappings) = (true, true),
            "cgroup" => kinds.cgroups = true,
            _ => return Err("must be no, all, or some of task, mmap and cgroup".to_owned()),
        }
    }
    Ok(kinds)
}

/// Parses a number of bytes, with or without a suffix.
pub(super) fn bytes(text: &str) -> Result<usize, String> {
    let bytes = text.parse().or_else(|_| size(text))?;
    usize::try_from(bytes).ok().filter(|bytes| *bytes > 0).ok_or_else(|| "must be at least 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_by_their_names_and_numbers() {
        for text in ["monotonic", "mono", "CLOCK_MONOTONIC", "clock_mono", "1"] {
            assert_eq!(clock(text), Ok(1), "{text}");
        }
        assert_eq!(
            (clock("monotonic-raw"), clock("raw"), clock("boot"), clock("11")),
            (Ok(4), Ok(4), Ok(7), Ok(11))
        );
        assert!(clock("2").is_err() && clock("").is_err() && clock("sundial").is_err());
    }

    #[test]
    fn when_another_file_begins() {
        assert_eq!((switch("signal"), switch("5M")), (Ok(Switch::Signal), Ok(Switch::Size(5 << 20))));
        let minutes = Duration::from_secs(300);
        assert_eq!((switch("5m"), switch("300s")), (Ok(Switch::Time(minutes)), Ok(Switch::Time(minutes))));
        for text in ["", "m", "0s", "5", "é", "99999999999999999999d", "18446744073709551615d"] {
            assert!(switch(text).is_err(), "{text}");
        }
    }

    #[test]
    fn delays() {
        let ms = Duration::from_millis;
        assert_eq!((delay("-1"), delay("20")), (Ok(Delay::Never), Ok(Delay::After(ms(20)))));
        assert_eq!(delay("10-20,30-40"), Ok(Delay::Between(vec![(ms(10), ms(20)), (ms(30), ms(40))])));
        for text in ["", "-2", "a", "20-10", "10-20,15-30", "10-10", "10-", "10-20,"] {
            assert!(delay(text).is_err(), "{text}");
        }
        assert_eq!((bytes("5"), bytes("4K")), (Ok(5), Ok(4096)));
        assert!(bytes("0").is_err() && bytes("K").is_err());
    }

    #[test]
    fn kinds_of_synthesized_records() {
        let of = |text| synth(text).map(|it| (it.tasks, it.mappings, it.cgroups));
        assert_eq!((of("no"), of("all")), (Ok((false, false, false)), Ok((true, true, true))));
        assert_eq!((of("task"), of("mmap")), (Ok((true, false, false)), Ok((true, true, false))));
        assert_eq!(of("task,cgroup"), Ok((true, false, true)));
        assert!(of("").is_err() && of("maps").is_err());
    }

    #[test]
    fn kinds_of_branches() {
        assert_eq!(branches("any").map(|it| it.0), Ok(8));
        assert_eq!(branches("u").map(|it| it.0), Ok(9));
        assert_eq!(branches("any_call,k,save_type").map(|it| it.0), Ok(0x10 | 2 | 1 << 16));
        assert!(branches("none").is_err() && branches("").is_err());
    }

    #[test]
    fn frequencies() {
        assert_eq!((freq("max"), freq("99")), (Ok(Freq::Max), Ok(Freq::Hz(99))));
        assert!(freq("0").is_err() && freq("fast").is_err());
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn names_of_registers() {
        let mask = |mask| Ok(RegisterOption::Mask(mask));
        assert_eq!((registers("ax,SP"), registers("all")), (mask(0x81), mask(0xff_0fff)));
        assert_eq!(registers("?"), Ok(RegisterOption::Names));
        assert!(registers("ds").is_err() && registers("x0").is_err());
    }
}
