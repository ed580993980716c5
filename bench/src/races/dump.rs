//! `perfdata dump` against `perf script`, as processes whose output goes to /dev/null.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Context;
use crate::capture::{self, Capture};
use crate::failure::Failure;
use crate::inputs::{FULL, Input, MULTI};
use crate::race::{Contestant, Standings, race};
use crate::table::{Goal, Table};
use crate::{ours, perfdata};

const FIELDS: &str = "tid,cpu,time,event,ip";
const SCRIPT: &str = "perf script";
const TEXT: &str = "perfdata, text";
const JSONL: &str = "perfdata, jsonl";
const ONE_THREAD: &str = "perfdata, text, one thread";
const TWO_THREADS: &str = "perfdata, text, two threads";

/// The output of a process: the number of samples, and the sums of some of their fields.
#[derive(Debug, Default, PartialEq, Eq)]
struct Printed {
    samples: u64,
    tid: u64,
    cpu: u64,
    ip: u64,
}

/// Goal 5: text 10 times as fast as perf script, all fields as JSON 5 times as fast; two threads 1.7
/// times as fast as one.
pub(crate) fn run(context: &Context) -> Result<Vec<Table>, Failure> {
    let perfdata = perfdata::build(!context.quick)?;
    // A machine that runs --quick need not have perf.
    [FULL, MULTI].into_iter().map(|input| one(context, &perfdata, input)).collect()
}

fn one(context: &Context, perfdata: &Path, input: Input) -> Result<Table, Failure> {
    let path = context.inputs.path(input);
    let work = Capture::read(&path)?.work();
    let file = path.as_os_str();
    let dump = |args: &[&str]| {
        let mut command = Command::new(perfdata);
        command.arg("dump").args(args).arg(file);
        command
    };
    let text = ["--format", "text", "--fields", FIELDS];
    let threads = |count| dump(&[&text[..], &["--threads", count]].concat());
    let script = || {
        let mut command = Command::new("perf");
        command.args([OsStr::new("script"), "-F".as_ref(), FIELDS.as_ref(), "-i".as_ref(), file]);
        command
    };

    let found = ours::in_file_order(&capture::map(&path)?)?;
    let expected = Printed { samples: found.samples, tid: found.tid, cpu: found.cpu, ip: found.ip };
    let mut checks = vec![
        (TEXT, printed(dump(&text), text_line)?),
        (JSONL, printed(dump(&["--format", "jsonl"]), json_line)?),
    ];
    if !context.quick {
        checks.push((SCRIPT, printed(script(), script_line)?));
    }
    for (name, printed) in checks {
        if printed != expected {
            return Err(Failure::of(name, format!("printed {printed:?} of {expected:?}")));
        }
    }

    let title = format!("Dump: {}", input.what);
    if context.quick {
        return Ok(Table::new(title, &[]));
    }
    let has_threads = succeeds(&mut threads("2"));
    let mut contestants = vec![
        process(SCRIPT, script),
        process(TEXT, || dump(&text)),
        process(JSONL, || dump(&["--format", "jsonl"])),
    ];
    if has_threads {
        contestants.push(process(ONE_THREAD, || threads("1")));
        contestants.push(process(TWO_THREADS, || threads("2")));
    }
    let standings = race::<()>(contestants, context.rounds)?;
    let mut table = standings.times(title, work, SCRIPT)?;
    judge(&mut table, &standings, has_threads)?;
    Ok(table)
}

fn judge(table: &mut Table, standings: &Standings, has_threads: bool) -> Result<(), Failure> {
    table.judge("text faster than perf script", standings.ratio(SCRIPT, TEXT)?, Goal::AtLeast(10.0));
    table.judge("jsonl faster than perf script", standings.ratio(SCRIPT, JSONL)?, Goal::AtLeast(5.0));
    if has_threads {
        let ratio = standings.ratio(ONE_THREAD, TWO_THREADS)?;
        table.judge("two threads faster than one", ratio, Goal::AtLeast(1.7));
    } else {
        table.notes.push("two threads: perfdata has no --threads".into());
    }
    Ok(())
}

/// Returns a contestant that runs a process and discards its output.
pub(super) fn process<'a>(name: &'static str, command: impl Fn() -> Command + 'a) -> Contestant<'a, ()> {
    Contestant::new(
        name,
        move || if succeeds(&mut command()) { Ok(()) } else { Err(Failure("it failed".into())) },
    )
}

fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|it| it.success())
}

/// Runs a process and adds up the values of its output lines; `line` returns `None` for lines
/// that are not samples.
fn printed(mut command: Command, line: impl Fn(&str) -> Option<(u64, u64, u64)>) -> Result<Printed, Failure> {
    let output = command.stderr(Stdio::null()).output()?;
    let mut printed = Printed::default();
    for (tid, cpu, ip) in String::from_utf8_lossy(&output.stdout).lines().filter_map(line) {
        printed.samples += 1;
        printed.tid = printed.tid.wrapping_add(tid);
        printed.cpu = printed.cpu.wrapping_add(cpu);
        printed.ip = printed.ip.wrapping_add(ip);
    }
    Ok(printed)
}

/// Parses a line of perf script: `4079 [000] 22088.240029: page-faults:  ffffffff81752b6a`
fn script_line(line: &str) -> Option<(u64, u64, u64)> {
    let mut words = line.split_whitespace();
    let tid = tid(words.next()?)?;
    let cpu = words.next()?.trim_matches(['[', ']']).parse().ok()?;
    let ip = u64::from_str_radix(words.last()?, 16).ok()?;
    Some((tid, cpu, ip))
}

/// Parses a text line, whose fields tabs separate: `4079 0 22088.240029111 page-faults 0xffffffff81752b6a`
fn text_line(line: &str) -> Option<(u64, u64, u64)> {
    let mut words = line.split('\t');
    let tid = tid(words.next()?)?;
    let cpu = words.next()?.parse().unwrap_or_default();
    let ip = u64::from_str_radix(words.next_back()?.strip_prefix("0x")?, 16).ok()?;
    Some((tid, cpu, ip))
}

/// Parses a JSON line: `{"offset":264,"type":"SAMPLE",...,"fields":{"ip":123,"tid":4079,"cpu":0,...}}`
fn json_line(line: &str) -> Option<(u64, u64, u64)> {
    if !line.contains("\"type\":\"SAMPLE\"") {
        return None;
    }
    let text = |name: &str| {
        let (_, value) = line.split_once(name)?;
        value.get(..value.find([',', '}'])?)
    };
    let number = |name: &str| text(name)?.parse().ok();
    Some((tid(text("\"tid\":")?)?, number("\"cpu\":").unwrap_or_default(), number("\"ip\":")?))
}

/// Parses a thread id for the sums; it is -1 if the task had already exited.
fn tid(text: &str) -> Option<u64> {
    text.parse::<i32>().ok().map(|tid| tid as u32 as u64)
}
