//! Branch stacks (LBR) in the formats of compilers and optimizers of programs.

use std::io::Write;
use std::path::PathBuf;

use perf_export::branches::{autofdo, brstack, preagg};
use perf_parse::file::Account;
use perf_profile::branches::{Branches, FileAddresses, NoBranches};
use perf_symbol::NoSymbols;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::account;
use crate::capture::Capture;
use crate::error::Failure;
use crate::output::{FileContent, Output};

/// A format of branch stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BranchFormat {
    Brstack,
    Preagg,
    Autofdo,
}

impl BranchFormat {
    /// Returns a format by its name; `None` if there is none of the name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "brstack" => Some(Self::Brstack),
            "preagg" => Some(Self::Preagg),
            "autofdo" => Some(Self::Autofdo),
            _ => None,
        }
    }
}

/// Writes the branches of a file, or returns them if there is no path.
///
/// # Errors
///
/// If no sample has branches, if the file is not found, what is wrong with the selection, and if the output cannot be written.
pub(crate) fn export<'py>(
    capture: &Capture,
    py: Python<'py>,
    format: BranchFormat,
    binary: Option<&str>,
    path: Option<PathBuf>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let mut text = Vec::new();
    let account = py.detach(|| match &path {
        None => write(capture, format, binary, &mut text),
        Some(path) => {
            let output = Output::create(path, FileContent::Document)?;
            let mut out = output.writer()?;
            let account = write(capture, format, binary, &mut out)?;
            out.flush().map_err(|error| Failure::io(error, path))?;
            output.publish()?;
            Ok(account)
        }
    })?;
    account::warn(py, &account, &capture.path)?;
    Ok(path.is_none().then(|| PyBytes::new(py, &text)))
}

fn write(
    capture: &Capture,
    format: BranchFormat,
    binary: Option<&str>,
    out: &mut dyn Write,
) -> Result<Account, Failure> {
    let symbols = capture.symbols(false);
    // To choose the file, the numbers of branches are enough.
    let branches = if format == BranchFormat::Brstack { Branches::new(0) } else { Branches::default() };
    let mut watch = capture.watch();
    let counted = capture.samples_of().branches(&symbols, branches, &mut watch);
    let counted = watch.end(counted)?;
    let file = counted.branches().choose(binary.map(str::as_bytes)).map_err(|error| match binary {
        Some(name) if error == NoBranches::InOtherFiles => Failure::new(format!("binary {name:?}: {error}")),
        _ => Failure::new(error.to_string()),
    })?;
    let not_found = |why: NoSymbols| {
        let path = String::from_utf8_lossy(file.dso.path()).into_owned();
        let what = "its addresses cannot be told without the file; symfs or debug_dirs can name its folder";
        Failure::new(format!("{path}: {why}; {what}"))
    };
    if format == BranchFormat::Brstack {
        let segments = counted.segments(file).map_err(not_found)?;
        let addresses = FileAddresses::new(&segments);
        let mut watch = capture.watch();
        let written = brstack::write(capture.samples_of(), &symbols, file, addresses, &mut watch, out);
        let written = written.map_err(|error| match error {
            brstack::WriteError::Profile(error) => Failure::from(error),
            brstack::WriteError::Io(error) => error.into(),
        });
        return Ok(watch.end(written)?.account);
    }
    let profiles = [counted.profile(file, format == BranchFormat::Preagg).map_err(not_found)?];
    match format {
        BranchFormat::Preagg => preagg::write(&profiles, &preagg::Options::default(), out)?,
        _ => autofdo::write(&profiles, &autofdo::Options::default(), out)?,
    }
    Ok(counted.account().clone())
}
