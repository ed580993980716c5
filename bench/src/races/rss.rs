//! The memory of `perfdata script` while it reads a pipe, which does not grow with the length of the capture.

use std::io::{self, BufWriter, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::Context;
use crate::failure::Failure;
use crate::perfdata;
use crate::status;
use crate::system::{self, Load};
use crate::table::{Goal, Table};

/// Bytes of the longest pipe, and the goal for the memory of the process that reads it.
const GB: u64 = 1_000_000_000;
const RESIDENT: Goal = Goal::AtMost(100.0);

/// Goal: at most 100 MB of a pipe of 1 GB.
pub(crate) fn run(context: &Context) -> Result<Table, Failure> {
    let perfdata = perfdata::build(!context.quick)?;
    let mut table = Table::new(
        "Memory of perfdata script, from a pipe",
        &["processes", "size of the pipe, MB", "samples", "resident at most, MB"],
    );
    let largest = if context.quick { GB / 1000 } else { GB };
    for (what, load) in [("that come and go", Load::Short), ("that run all the time", Load::Long)] {
        for size in [largest / 10, largest] {
            let mut command = Command::new(&perfdata);
            command.args(["script", "--no-cache", "-i", "-"]);
            let (samples, resident) = resident(&mut command, load, size)?;
            let megabytes = resident as f64 / 1e6;
            let row =
                [what.into(), (size / 1_000_000).to_string(), samples.to_string(), format!("{megabytes:.1}")];
            table.rows.push(row.into());
            if size == largest {
                table.judge(&format!("processes {what}, MB"), megabytes, RESIDENT);
            }
        }
    }
    Ok(table)
}

/// Pipes a capture to a process, which must print all samples. Returns their number, and the bytes of its memory that were
/// resident at most.
fn resident(command: &mut Command, load: Load, size: u64) -> Result<(u64, u64), Failure> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
    let (input, mut output) = (child.stdin.take(), child.stdout.take());
    let status = format!("/proc/{}/status", child.id());
    let (written, printed, peak) = thread::scope(|scope| {
        let written = scope.spawn(move || match input {
            Some(input) => system::write(BufWriter::with_capacity(1 << 16, input), load, size),
            None => Err(Failure("there is no pipe".into())),
        });
        let printed = scope.spawn(move || {
            let mut count = Empty { lines: 0, ends_line: true };
            output.as_mut().map_or(Ok(0), |output| io::copy(output, &mut count)).map(|_| count.lines)
        });
        // The kernel keeps the peak until the process exits.
        let mut peak = 0;
        while !printed.is_finished() {
            peak = peak.max(status::bytes(&status, "VmHWM:"));
            thread::sleep(Duration::from_millis(5));
        }
        (written.join(), printed.join(), peak)
    });
    let panicked = |_| Failure("a thread panicked".into());
    let samples = written.map_err(panicked)??;
    let printed = printed.map_err(panicked)??;
    let status = child.wait()?;
    if !status.success() {
        return Err(Failure::of("perfdata script", status));
    }
    // An empty line follows the call chain of each sample.
    if printed != samples {
        return Err(Failure::of("perfdata script", format!("printed {printed} of {samples} samples")));
    }
    Ok((samples, peak))
}

/// Counts the empty lines of what is written to it.
struct Empty {
    lines: u64,
    ends_line: bool,
}

impl Write for Empty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            self.lines += u64::from(self.ends_line && byte == b'\n');
            self.ends_line = byte == b'\n';
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
