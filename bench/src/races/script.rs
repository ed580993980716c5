//! `perfdata script` against `perf script`, as processes whose output goes to /dev/null.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Context;
use super::dump::process;
use crate::capture::Capture;
use crate::failure::Failure;
use crate::inputs::MACHINE;
use crate::perfdata;
use crate::race::race;
use crate::table::{Goal, Table};

/// What perf prints without symbols.
const FIELDS: &str = "comm,pid,tid,cpu,time,event,ip,dso";
const THEIRS: &str = "perf script";
const OURS: &str = "perfdata script";

/// Goal: 8 times as fast as perf script.
pub(crate) fn run(context: &Context) -> Result<Vec<Table>, Failure> {
    let perfdata = perfdata::build(!context.quick)?;
    let path = context.inputs.path(MACHINE);
    // The small captures do not have all of the fields.
    let fields: &[&str] = if context.quick { &[] } else { &["-F", FIELDS] };
    let script = |program: &Path, options: &[&str]| {
        let mut command = Command::new(program);
        command.arg("script").args(options).args(fields).arg("-i").arg(&path);
        command
    };
    // perf keeps no names from run to run.
    let ours = || script(&perfdata, &["--no-cache"]);
    let theirs = || script(OsStr::new("perf").as_ref(), &[]);

    // A machine that runs --quick need not have perf.
    let printed = lines(ours())?;
    if printed == 0 || !context.quick && printed != lines(theirs())? {
        return Err(Failure::of(OURS, format!("printed {printed} lines, but perf script another number")));
    }
    let title = format!("Script: {}", MACHINE.what);
    if context.quick {
        return Ok(vec![Table::new(title, &[])]);
    }
    let standings = race::<()>(vec![process(THEIRS, theirs), process(OURS, ours)], context.rounds)?;
    let mut table = standings.times(title, Capture::read(&path)?.work(), THEIRS)?;
    let ratio = standings.ratio(THEIRS, OURS)?;
    table.judge("perfdata script faster than perf script", ratio, Goal::AtLeast(8.0));
    Ok(vec![table])
}

/// Runs a process and counts the lines of its output.
fn lines(mut command: Command) -> Result<usize, Failure> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output()?;
    Ok(output.stdout.iter().filter(|&&byte| byte == b'\n').count())
}
