//! The captures that the races use.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;

/// An input of a race: a capture that `record-inputs.sh` records, and a small capture of the same kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input {
    /// A description of its contents.
    pub(crate) what: &'static str,
    file: &'static str,
    small: &'static str,
}

/// Samples of 32 bytes: IP, TID, TIME.
pub(crate) const PLAIN: Input = Input { what: "plain, 32 B", file: "a_plain_pf.data", small: "plain.data" };
/// Samples of 48 bytes: IP, TID, TIME, CPU, PERIOD.
pub(crate) const FULL: Input =
    Input { what: "+ cpu, period, 48 B", file: "a_full.data", small: "user_regs.data" };
/// Samples of a tracepoint.
pub(crate) const RAW: Input = Input { what: "RAW", file: "a_raw_sysenter.data", small: "raw.data" };
/// Samples with call chains.
pub(crate) const CALLCHAIN: Input = Input { what: "call chains", file: "b_fp.data", small: "callchain.data" };
/// Samples with user registers and stacks.
pub(crate) const DWARF: Input =
    Input { what: "registers and stacks", file: "c_dwarf.data", small: "dwarf.data" };
/// Samples of ten events.
pub(crate) const MULTI: Input =
    Input { what: "ten events by id", file: "d_multi.data", small: "identifier.data" };
/// Compressed records.
pub(crate) const ZSTD: Input = Input { what: "zstd", file: "e_zstd.data", small: "touch.zstd.data" };
/// A pipe.
pub(crate) const PIPE: Input = Input { what: "pipe", file: "f_pipe.data", small: "buildid.pipe.data" };
/// A system-wide capture with call chains.
pub(crate) const MACHINE: Input =
    Input { what: "the whole system", file: "g_machine.data", small: "callchain.data" };

/// The location of the captures.
#[derive(Debug)]
pub(crate) struct Inputs {
    folder: PathBuf,
    small: bool,
}

impl Inputs {
    /// Returns the small captures of testdata.
    pub(crate) fn small() -> Self {
        Self { folder: here().join("../testdata/captures"), small: true }
    }

    /// Returns the captures in `folder`. Without it, returns those in `bench/inputs`, and records them
    /// if they are missing.
    ///
    /// # Errors
    ///
    /// If the captures cannot be recorded.
    pub(crate) fn of(folder: Option<&Path>) -> Result<Self, Failure> {
        let folder = match folder {
            Some(folder) => folder.to_owned(),
            None => {
                let folder = here().join("inputs");
                let status = Command::new(here().join("record-inputs.sh")).arg(&folder).status();
                match status.map_err(|error| Failure::of("record-inputs.sh", error))? {
                    status if status.success() => folder,
                    status => return Err(Failure::of("record-inputs.sh", status)),
                }
            }
        };
        Ok(Self { folder, small: false })
    }

    /// Returns the path of a capture.
    pub(crate) fn path(&self, input: Input) -> PathBuf {
        self.folder.join(if self.small { input.small } else { input.file })
    }
}

/// Returns the directory of this crate.
fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
