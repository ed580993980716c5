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
    /// `events`: counting user space in the own thread, with a software event.
    Events,
    /// `kernel-events`: counting the kernel too.
    KernelEvents,
    /// `cpu-events`: counting everything that runs on a CPU.
    CpuEvents,
    /// `other-users`: counting threads of other users.
    OtherUsers,
    /// `breakpoints`: counting writes to a memory address.
    Breakpoints,
    /// `tracepoints`: reading tracefs, and counting a tracepoint.
    Tracepoints,
    /// `uprobes`: probes in user space.
    Uprobes,
    /// `sysfs`: reading the list of PMUs.
    Sysfs,
    /// Named after the program: this command succeeds.
    Runs(&'static [&'static str]),
    /// `python-perf`: a `python3` that has `-X perf`, which came with 3.12.
    PythonPerf,
    /// `ordinary-user`: running a program as another user, or being an ordinary user.
    OrdinaryUser,
    /// `hardware`: a PMU that counts cycles.
    Hardware,
    /// `no-hardware`: no PMU that counts cycles, as in most virtual machines.
    NoHardware,
}

impl Need {
    /// The perf tool, for comparison with our captures.
    pub const PERF: Self = Self::Runs(&["perf", "--version"]);

    /// Returns the name of the need in [`REQUIRE`](crate::REQUIRE).
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
            Self::PythonPerf => "python-perf",
            Self::OrdinaryUser => "ordinary-user",
            Self::Hardware => "hardware",
            Self::NoHardware => "no-hardware",
        }
    }

    /// Tries the need, once per test program.
    ///
    /// # Errors
    ///
    /// What was tried, and its result.
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
            Self::PythonPerf => {
                runs(Command::new("python3").args(["-c", "import sys; sys.activate_stack_trampoline"]))
                    .map_err(|error| format!("{error}: it has no -X perf"))
            }
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

/// The arguments of `setpriv` that run a program as nobody.
const AS_NOBODY: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];

/// Returns a command that runs `program` as an ordinary user: the current user, or nobody if that is root.
///
/// [`Need::OrdinaryUser`] checks whether this is possible.
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

/// Runs a program and checks that it succeeds.
fn runs(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let says = |what: &dyn Display| format!("{name}: {what}");
    let output = command.stdin(Stdio::null()).output().map_err(|error| says(&error))?;
    if output.status.success() { Ok(()) } else { Err(says(&output.status)) }
}
