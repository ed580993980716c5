use core::fmt::Display;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::kernel;

/// Something that a machine may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// `events`: to count user space in the own thread, by a software event.
    Events,
    /// `kernel-events`: to count the kernel too.
    KernelEvents,
    /// `cpu-events`: to count all that runs on a cpu.
    CpuEvents,
    /// `other-users`: to count threads of other users.
    OtherUsers,
    /// `breakpoints`: to count what is written to a place in memory.
    Breakpoints,
    /// `tracepoints`: to read tracefs, and to count a tracepoint.
    Tracepoints,
    /// `uprobes`: to have probes in user space.
    Uprobes,
    /// `sysfs`: to read which PMUs there are.
    Sysfs,
    /// By the name of the program: that this command ends well.
    Runs(&'static [&'static str]),
    /// `ordinary-user`: to start a program as another user, or to be an ordinary user.
    OrdinaryUser,
    /// `hardware`: a PMU that counts cycles.
    Hardware,
    /// `no-hardware`: that no PMU counts cycles, as in most virtual machines.
    NoHardware,
}

impl Need {
    /// The perf tool, to hold our captures against.
    pub const PERF: Self = Self::Runs(&["perf", "--version"]);

    /// What [`REQUIRE`](crate::REQUIRE) calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::KernelEvents => "kernel-events",
            Self::CpuEvents => "cpu-events",
            Self::OtherUsers => "other-users",
            Self::Breakpoints => "breakpoints",
            Self::Tracepoints => "tracepoints",
            Self::Uprobes => "uprobes",
            Self::Sysfs => "sysfs",
            Self::Runs([name, ..]) => name,
            Self::Runs([]) => "nothing",
            Self::OrdinaryUser => "ordinary-user",
            Self::Hardware => "hardware",
            Self::NoHardware => "no-hardware",
        }
    }

    /// Tries it, once in a test program.
    ///
    /// # Errors
    ///
    /// What was tried, and what came of it.
    pub fn check(self) -> Result<(), String> {
        static TRIED: Mutex<Vec<(Need, Result<(), String>)>> = Mutex::new(Vec::new());
        let mut tried = TRIED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, result)) = tried.iter().find(|(need, _)| *need == self) {
            return result.clone();
        }
        let result = self.attempt();
        tried.push((self, result.clone()));
        result
    }

    fn attempt(self) -> Result<(), String> {
        match self {
            Self::Events => kernel::software(kernel::Target::Here, true),
            Self::KernelEvents => kernel::software(kernel::Target::Here, false),
            Self::CpuEvents => kernel::software(kernel::Target::Cpu, false),
            Self::OtherUsers => kernel::software(kernel::Target::Pid1, true),
            Self::Breakpoints => kernel::breakpoint(),
            Self::Tracepoints => {
                let path = "/sys/kernel/tracing/events/sched/sched_switch/id";
                let id = fs::read_to_string(path).map_err(|error| {
                    format!("{path}: {error}; is tracefs mounted? mount -t tracefs nodev /sys/kernel/tracing")
                })?;
                kernel::tracepoint(number(path, &id)?)
            }
            Self::Uprobes => {
                let path = "/sys/bus/event_source/devices/uprobe/type";
                kernel::uprobe(number(path, &read(path)?)?)
            }
            Self::Sysfs => read("/sys/bus/event_source/devices/software/type").map(drop),
            Self::Runs([program, arguments @ ..]) => runs(Command::new(program).args(arguments)),
            Self::Runs([]) => Ok(()),
            Self::OrdinaryUser => {
                if kernel::is_root() {
                    runs(Command::new("setpriv").args(AS_NOBODY).arg("true"))
                } else {
                    Ok(())
                }
            }
            Self::Hardware => kernel::cycles(),
            Self::NoHardware => match kernel::cycles() {
                Ok(()) => Err("this machine has a PMU that counts cycles".to_owned()),
                Err(_) => Ok(()),
            },
        }
    }
}

/// The arguments of `setpriv` that make a program nobody's.
const AS_NOBODY: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];

/// A command that runs `program` as an ordinary user: as this one, or as nobody where this one is root.
///
/// [`Need::OrdinaryUser`] says whether it can.
#[must_use]
pub fn as_ordinary_user(program: &Path) -> Command {
    if kernel::is_root() {
        let mut command = Command::new("setpriv");
        command.args(AS_NOBODY).arg(program);
        command
    } else {
        Command::new(program)
    }
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))
}

fn number(path: &str, text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|error: core::num::ParseIntError| format!("{path}: {text:?}: {error}"))
}

/// Whether a program starts and ends well.
fn runs(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let says = |what: &dyn Display| format!("{name}: {what}");
    let output = command.stdin(Stdio::null()).output().map_err(|error| says(&error))?;
    if output.status.success() { Ok(()) } else { Err(says(&output.status)) }
}
