//! Arguments of Python that are one value or several.

use perf_profile::Selection;
use perf_profile::selection::CpuRanges;
use pyo3::prelude::*;

use crate::error::Failure;

/// A name, or several.
#[derive(Debug, FromPyObject)]
pub(crate) enum Names {
    One(String),
    Several(Vec<String>),
}

impl Names {
    /// Returns each name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        let names = match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        };
        names.iter().map(String::as_str)
    }
}

/// The id of a process or thread, or several.
#[derive(Debug, FromPyObject)]
pub(crate) enum Ids {
    One(i32),
    Several(Vec<i32>),
}

/// CPUs: a number, several, or ranges such as `0,2-3`.
#[derive(Debug, FromPyObject)]
pub(crate) enum Cpus {
    One(u32),
    Ranges(String),
    Several(Vec<u32>),
}

/// An event, by its index or its name.
#[derive(Debug, FromPyObject)]
pub(crate) enum EventName {
    Index(usize),
    Name(String),
}

/// Arguments that select samples.
#[derive(Debug, Default)]
pub(crate) struct SelectionArguments {
    pub(crate) time: Option<String>,
    pub(crate) comm: Option<Names>,
    pub(crate) event: Option<EventName>,
    pub(crate) pid: Option<Ids>,
    pub(crate) tid: Option<Ids>,
    pub(crate) cpu: Option<Cpus>,
    pub(crate) dso: Option<Names>,
    pub(crate) symbol: Option<Names>,
}

impl SelectionArguments {
    /// Returns the selection.
    ///
    /// # Errors
    ///
    /// If a text is no span of time, or no range of CPUs.
    pub(crate) fn selection(self) -> Result<Selection, Failure> {
        let Self { time, comm, event, pid, tid, cpu, dso, symbol } = self;
        Ok(Selection {
            comms: names(comm),
            pids: ids(pid),
            tids: ids(tid),
            cpus: cpus(cpu)?,
            time: time.as_deref().map(str::parse).transpose()?.unwrap_or_default(),
            event: event.map(|event| match event {
                EventName::Index(index) => index.to_string(),
                EventName::Name(name) => name,
            }),
            dsos: names(dso),
            symbols: names(symbol),
            no_idle: false,
        })
    }
}

fn names(names: Option<Names>) -> Vec<Vec<u8>> {
    strings(names).into_iter().map(String::into_bytes).collect()
}

/// Returns the texts of an argument.
pub(crate) fn strings(names: Option<Names>) -> Vec<String> {
    match names {
        None => Vec::new(),
        Some(Names::One(name)) => vec![name],
        Some(Names::Several(names)) => names,
    }
}

/// Returns the ids of an argument.
pub(crate) fn ids(ids: Option<Ids>) -> Vec<i32> {
    match ids {
        None => Vec::new(),
        Some(Ids::One(id)) => vec![id],
        Some(Ids::Several(ids)) => ids,
    }
}

fn cpus(cpus: Option<Cpus>) -> Result<CpuRanges, Failure> {
    let ranges = match cpus {
        None => return Ok(CpuRanges::default()),
        Some(Cpus::One(cpu)) => cpu.to_string(),
        Some(Cpus::Ranges(ranges)) => ranges,
        Some(Cpus::Several(cpus)) => cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(","),
    };
    Ok(ranges.parse()?)
}
