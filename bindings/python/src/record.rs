//! Recording, on Linux.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use perf_open::EventSpec;
use perf_open::abi::event::HwId;
use perf_open::event::{EventGroup, parse};
use perf_open::workload::Workload;
use perf_record::{CallGraphMode, FileSink, RecordOptions, Recorder, Summary, Targets};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::{Ids, ids};
use crate::error::Failure;
use crate::output::{FileContent, Output};

/// The longest time between two looks at Python, and at the end of what is recorded.
const TICK: Duration = Duration::from_millis(100);

impl From<perf_record::Error> for Failure {
    fn from(error: perf_record::Error) -> Self {
        Self::new(error.to_string())
    }
}

impl From<perf_open::Error> for Failure {
    fn from(error: perf_open::Error) -> Self {
        Self::new(error.to_string())
    }
}

/// Record samples into a capture, as ``perf record`` does: of a command, until it ends; of the processes ``pid``, until all have
/// ended; or of everything that runs, with ``system_wide``. ``output`` is ``perf.data`` by default. ``duration`` in seconds ends the recording earlier. Ctrl-C ends it,
/// too: the capture is written, and KeyboardInterrupt raised. A command that still runs then is terminated.
///
/// ``events`` is a list as perf has it, such as ``"cycles,page-faults"``; by default ``cycles``, or a clock if they cannot be
/// counted. ``frequency`` is in samples per second, ``period`` in events per sample. ``call_graph`` is how stacks are recorded:
/// ``fp`` by frame pointers, ``dwarf`` by copies of 8 KiB, ``lbr`` by Intel's last branch records.
///
/// Return the number of ``samples``, of ``lost`` records, ``notes`` of what was recorded in another way than asked for, and the
/// exit ``status`` of the command, which is negative for a signal, as that of subprocess; None without a command.
#[pyfunction]
#[pyo3(signature = (command=None, *, output=PathBuf::from("perf.data"), events=None, pid=None, system_wide=false, frequency=None,
    period=None, call_graph=None, duration=None))]
#[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn record<'py>(
    py: Python<'py>,
    command: Option<Vec<PathBuf>>,
    output: PathBuf,
    events: Option<&str>,
    pid: Option<Ids>,
    system_wide: bool,
    frequency: Option<u64>,
    period: Option<u64>,
    call_graph: Option<&str>,
    duration: Option<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let processes = ids(pid);
    let command = command.unwrap_or_default();
    let count = [!command.is_empty(), !processes.is_empty(), system_wide].iter().filter(|&&it| it).count();
    if count != 1 {
        return Err(PyValueError::new_err("give one of a command, pid and system_wide"));
    }
    let duration = duration.map(Duration::try_from_secs_f64).transpose();
    let duration = duration.map_err(|error| PyValueError::new_err(format!("duration: {error}")))?;
    let mut options = RecordOptions::default();
    (options.freq, options.count) = (frequency, period);
    options.call_graph = match call_graph {
        None => None,
        Some("fp") => Some(CallGraphMode::Fp),
        Some("fp,defer") => Some(CallGraphMode::FpDeferred),
        Some("dwarf") => Some(CallGraphMode::Dwarf(CallGraphMode::STACK_BYTES)),
        Some("lbr") => Some(CallGraphMode::Lbr),
        Some(other) => {
            return Err(PyValueError::new_err(format!(
                "call_graph {other:?}: must be fp, fp,defer, dwarf or lbr"
            )));
        }
    };
    let groups = groups(events)?;
    let recorded = py.detach(|| {
        let targets = if system_wide {
            Targets::machine()?
        } else if command.is_empty() {
            let processes: Vec<_> = processes.iter().filter_map(|&it| u32::try_from(it).ok()).collect();
            Targets::tasks(&processes, &[])?
        } else {
            Targets::Command
        };
        let words: Vec<_> = command.into_iter().map(PathBuf::into_os_string).collect();
        Recording::run(groups, targets, &words, options, &output, duration)
    })?;
    let dict = PyDict::new(py);
    dict.set_item("samples", recorded.summary.samples)?;
    dict.set_item("lost", recorded.summary.lost)?;
    dict.set_item("notes", recorded.notes)?;
    dict.set_item("status", recorded.status)?;
    Ok(dict)
}

/// Returns the events of a list; cycles without one.
fn groups(events: Option<&str>) -> PyResult<Vec<EventGroup>> {
    let Some(list) = events else {
        let mut cycles = EventSpec::hardware(HwId::CPU_CYCLES).with_name("cycles");
        cycles.precise_max = true;
        return Ok(vec![cycles.into()]);
    };
    parse(list).map_err(|error| PyValueError::new_err(format!("{error:#}")))
}

/// What a recording came to.
#[derive(Debug)]
struct Recording {
    summary: Summary,
    notes: Vec<String>,
    status: Option<i32>,
}

impl Recording {
    /// Records until the end of what is recorded, or of the duration, or until Python has a signal.
    fn run(
        groups: Vec<EventGroup>,
        targets: Targets,
        command: &[OsString],
        options: RecordOptions,
        path: &std::path::Path,
        duration: Option<Duration>,
    ) -> Result<Self, Failure> {
        let mut workload = match command.split_first() {
            Some((program, words)) => Some(Workload::prepare(program, words.iter().cloned())?),
            None => None,
        };
        let output = Output::create(path, FileContent::Capture)?;
        let mut sink = FileSink::new(output.writer()?);
        let pid = workload.as_ref().map(Workload::pid);
        let mut recorder = Recorder::open(groups, targets.clone(), pid, options)?;
        recorder.begin(&mut sink)?;
        let notes = recorder.notes().iter().filter(|it| !it.is_detail()).map(ToString::to_string).collect();
        recorder.start()?;
        if let Some(workload) = &mut workload {
            workload.start()?;
        }
        let began = Instant::now();
        let mut interrupt = None;
        loop {
            let has_ended = match &mut workload {
                Some(workload) => workload.try_wait()?.is_some(),
                None => targets.has_ended(),
            };
            interrupt = interrupt.or_else(|| Python::attach(|py| py.check_signals()).err());
            let left = duration.map_or(TICK, |it| it.saturating_sub(began.elapsed()).min(TICK));
            if has_ended || left.is_zero() || interrupt.is_some() {
                break;
            }
            recorder.wait(Some(left), &[])?;
            recorder.drain(&mut sink)?;
        }
        recorder.stop()?;
        let summary = recorder.finish(&mut sink)?;
        if let Some(mut out) = sink.into_inner() {
            out.flush()?;
        }
        output.publish()?;
        let status = workload.map(end).transpose()?;
        match interrupt {
            Some(interrupt) => Err(Failure::Python(interrupt)),
            None => Ok(Self { summary, notes, status }),
        }
    }
}

/// Ends a command if it still runs. Returns its exit status, which is negative for a signal.
fn end(mut workload: Workload) -> Result<i32, Failure> {
    use std::os::unix::process::ExitStatusExt;
    if workload.try_wait()?.is_none() {
        // The command may end between the two calls.
        let _ = workload.terminate();
    }
    let status = workload.wait()?;
    Ok(status.code().or(status.signal().map(|signal| -signal)).unwrap_or(-1))
}
