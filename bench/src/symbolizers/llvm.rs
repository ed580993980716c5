//! The program llvm-symbolizer, which reads addresses from a pipe and writes text to another.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use super::{OnFunction, OpenedFile};
use crate::failure::Failure;

/// Names under which distributions install it, the newest first.
const PROGRAMS: [&str; 5] = [
    "llvm-symbolizer-21",
    "llvm-symbolizer-20",
    "llvm-symbolizer-19",
    "llvm-symbolizer-18",
    "llvm-symbolizer",
];

/// What is printed for an unknown name.
const UNKNOWN: &[u8] = b"??";

#[derive(Debug)]
pub(super) struct Program {
    path: &'static str,
    pub(super) version: String,
}

impl Program {
    /// Returns the newest one that is installed.
    pub(super) fn find() -> Option<Self> {
        PROGRAMS.into_iter().find_map(|path| {
            let output = Command::new(path).arg("--version").output().ok()?;
            let text = String::from_utf8_lossy(&output.stdout);
            let version = text.split("LLVM version ").nth(1)?.split_whitespace().next()?.to_owned();
            Some(Self { path, version })
        })
    }

    pub(super) fn start(&self, file: &Path) -> Result<RunningProgram, Failure> {
        let mut command = Command::new(self.path);
        command.args(["--no-demangle", "--inlines", "--functions=linkage", "--output-style=LLVM"]);
        let mut object = std::ffi::OsString::from("--obj=");
        object.push(file);
        let mut child = command.arg(object).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.ok_or_else(|| Failure("a process without pipes".into()))?;
        Ok(RunningProgram { child, stdin: Some(stdin), stdout: BufReader::with_capacity(1 << 16, stdout) })
    }
}

pub(super) struct RunningProgram {
    child: Child,
    /// `None` when the program is to end.
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl OpenedFile for RunningProgram {
    fn find(&mut self, addresses: &[u64], each: &mut OnFunction<'_>) -> Result<(), Failure> {
        let Self { stdin: Some(stdin), stdout, .. } = self else { return Ok(()) };
        thread::scope(|scope| {
            // Another thread writes, as both pipes have little room.
            let write = scope.spawn(move || -> std::io::Result<()> {
                let lines: String = addresses.iter().map(|address| format!("{address:#x}\n")).collect();
                stdin.write_all(lines.as_bytes())?;
                stdin.flush()
            });
            let (mut name, mut place) = (Vec::new(), Vec::new());
            for number in 0..addresses.len() {
                // Pairs of lines, and an empty line.
                while read_line(stdout, &mut name)? {
                    read_line(stdout, &mut place)?;
                    let line = place.rsplit(|&byte| byte == b':').nth(1).unwrap_or_default();
                    let line = std::str::from_utf8(line).ok().and_then(|line| line.parse().ok());
                    each(number, if name == UNKNOWN { &[] } else { &name }, line.unwrap_or_default());
                }
            }
            write.join().map_err(|_| Failure("the writing thread".into()))??;
            Ok(())
        })
    }
}

/// Reads a line into `line`. Returns whether there is one and it is not empty.
fn read_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> Result<bool, Failure> {
    line.clear();
    from.read_until(b'\n', line)?;
    line.pop();
    Ok(!line.is_empty())
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        // It ends at the end of its input.
        drop(self.stdin.take());
        drop(self.child.wait());
    }
}
