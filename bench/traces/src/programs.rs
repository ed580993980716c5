//! Samples of Arm SPE as text: perfdata against perf, as processes whose output goes to /dev/null.

use std::process::{Command, Stdio};

use testdata::arm_spe::{Capture, RandomPackets};

use crate::failure::Failure;
use crate::race::{Contestant, Work, race};
use crate::table::{Goal, Table};

const OURS: &str = "perfdata script";
const PERF: &str = "perf script";

/// Number of records: perf takes seconds for them.
const RECORDS: usize = 200_000;

const ARGS: [&str; 4] = ["script", "--itrace=i1iM", "-F", "tid,time,event,ip,addr"];

pub(crate) fn run(perfdata: &str, perf: &str, rounds: usize) -> Result<Table, Failure> {
    let data = RandomPackets::new(2).records(RECORDS).out;
    let bytes = data.len() as u64;
    // Metadata of version 1: perf 6.1 knows no other.
    let capture = Capture { time_conv: Some([7, 0x1234_5678, 1]), data, ..Capture::default() };
    let path = std::env::temp_dir().join(format!("traces-{}.data", std::process::id()));
    std::fs::write(&path, capture.build())?;
    let command = |program: &str| {
        let mut command = Command::new(program);
        command.args(ARGS).arg("-i").arg(&path).stdin(Stdio::null()).stderr(Stdio::null());
        command
    };
    let mut lines = Vec::new();
    for program in [perf, perfdata] {
        let printed = command(program).output()?.stdout.iter().filter(|&&byte| byte == b'\n').count();
        if printed < RECORDS {
            return Err(Failure::of(program, format!("printed {printed} lines of {RECORDS} records")));
        }
        lines.push(printed);
    }
    let run = |name, program: &str| {
        let program = program.to_owned();
        Contestant::new(name, move || {
            let status = command(&program).stdout(Stdio::null()).status()?;
            // perfdata ends with 3 if a byte is no packet.
            if matches!(status.code(), Some(0 | 3)) { Ok(()) } else { Err(Failure(status.to_string())) }
        })
    };
    let standings = race::<()>(vec![run(PERF, perf), run(OURS, perfdata)], rounds);
    std::fs::remove_file(&path)?;
    let standings = standings?;
    let mut table = standings.times(
        format!("Arm SPE: samples as text, {lines:?} lines"),
        Work { bytes, records: RECORDS as u64 },
        PERF,
    )?;
    table.judge("faster than perf script", standings.ratio(PERF, OURS)?, Goal::AtLeast(20.0));
    Ok(table)
}
