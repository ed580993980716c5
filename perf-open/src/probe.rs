//! Probes without tracefs: on kernel and user functions, through the PMUs `kprobe` and `uprobe`.
//!
//! The kernel creates the probe when the event is opened and removes it when the event is closed. Since Linux 4.17.
//! Kernel: `perf_kprobe_event_init` and `perf_uprobe_event_init`, `kernel/events/core.c`;
//! `Documentation/ABI/testing/sysfs-bus-event_source-devices-format`.

use alloc::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::event::{EventSpec, LookupError};
use crate::pmu::{Pmu, Pmus};

/// The location of a kernel probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeLocation<'a> {
    /// A symbol of the kernel or of a module, and an offset in bytes into that function.
    Function(&'a str, u64),
    /// An address.
    Address(u64),
}

impl EventSpec {
    /// Returns an event that fires each time the kernel executes the instruction at `place`.
    ///
    /// If [`string`](Self::string) is `Some`, `config1` of the opened attr must point to it;
    /// [`Builder`](crate::Builder) sets it.
    ///
    /// # Errors
    ///
    /// [`LookupError::Unknown`] if the kernel has no `kprobe` PMU: it is older than 4.17, or was built without
    /// `CONFIG_KPROBE_EVENTS`. [`LookupError::Nul`] if the symbol contains a NUL.
    pub fn kprobe(place: ProbeLocation<'_>) -> Result<Self, LookupError> {
        Self::kprobe_of(&Pmus::new(), place, false)
    }

    /// Returns an event that fires each time a function of the kernel returns.
    ///
    /// # Errors
    ///
    /// The same as [`kprobe`](Self::kprobe).
    pub fn kretprobe(place: ProbeLocation<'_>) -> Result<Self, LookupError> {
        Self::kprobe_of(&Pmus::new(), place, true)
    }

    /// Returns the event of [`kprobe`](Self::kprobe), or of [`kretprobe`](Self::kretprobe) if `returns`, with the PMUs
    /// in `pmus`.
    ///
    /// # Errors
    ///
    /// The same as [`kprobe`](Self::kprobe).
    pub fn kprobe_of(pmus: &Pmus, place: ProbeLocation<'_>, returns: bool) -> Result<Self, LookupError> {
        let (string, number, name) = match place {
            ProbeLocation::Function(symbol, offset) => {
                (Some(c_string("symbol", symbol.as_bytes())?), offset, symbol.to_owned())
            }
            ProbeLocation::Address(address) => (None, address, format!("{address:#x}")),
        };
        let kind = if returns { "kretprobe" } else { "kprobe" };
        let offset = if string.is_some() && number != 0 { format!("+{number:#x}") } else { String::new() };
        let mut event = probe(&pmus.get("kprobe")?, format!("{kind}:{name}{offset}"), returns)?;
        event.attr.config2 = number;
        event.string = string;
        Ok(event)
    }

    /// Returns an event that fires each time a process executes the instruction at `offset` bytes into the file at
    /// `path`.
    ///
    /// The offset is a file offset, not an address of the program. `config1` of the opened attr must point to
    /// [`string`](Self::string); [`Builder`](crate::Builder) sets it.
    ///
    /// # Errors
    ///
    /// [`LookupError::Unknown`] if the kernel has no `uprobe` PMU: it is older than 4.17, or was built without
    /// `CONFIG_UPROBE_EVENTS`. [`LookupError::Nul`] if the path contains a NUL.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_open::event::EventSpec;
    ///
    /// match EventSpec::uprobe("/bin/true", 0x1000) {
    ///     Ok(event) => assert_eq!(event.string.as_deref(), Some(c"/bin/true")),
    ///     Err(error) => eprintln!("{error}"),
    /// }
    /// ```
    pub fn uprobe(path: impl AsRef<Path>, offset: u64) -> Result<Self, LookupError> {
        Self::uprobe_of(&Pmus::new(), path.as_ref(), offset, 0, false)
    }

    /// Returns an event that fires each time the function that starts `offset` bytes into the file at `path` returns.
    ///
    /// # Errors
    ///
    /// The same as [`uprobe`](Self::uprobe).
    pub fn uretprobe(path: impl AsRef<Path>, offset: u64) -> Result<Self, LookupError> {
        Self::uprobe_of(&Pmus::new(), path.as_ref(), offset, 0, true)
    }

    /// Returns the event of [`uprobe`](Self::uprobe), or of [`uretprobe`](Self::uretprobe) if `returns`, with the PMUs
    /// in `pmus`.
    ///
    /// `ref_ctr_offset` is the file offset of a counter that the kernel increments while the probe is active, the
    /// semaphore of a USDT probe; 0 for none. Since Linux 4.20.
    ///
    /// # Errors
    ///
    /// The same as [`uprobe`](Self::uprobe). [`LookupError::Value`] if `ref_ctr_offset` does not fit its bits, or if
    /// the kernel has no bits for it.
    pub fn uprobe_of(
        pmus: &Pmus,
        path: &Path,
        offset: u64,
        ref_ctr_offset: u64,
        returns: bool,
    ) -> Result<Self, LookupError> {
        let string = c_string("path", path.as_os_str().as_bytes())?;
        let kind = if returns { "uretprobe" } else { "uprobe" };
        let pmu = pmus.get("uprobe")?;
        let mut event = probe(&pmu, format!("{kind}:{}+{offset:#x}", path.display()), returns)?;
        if ref_ctr_offset != 0 {
            set(&pmu, "ref_ctr_offset", ref_ctr_offset, &mut event)?;
        }
        event.attr.config2 = offset;
        event.string = Some(string);
        Ok(event)
    }
}

/// Returns an event of `pmu`, with the `retprobe` bit set if `returns`.
fn probe(pmu: &Pmu, name: String, returns: bool) -> Result<EventSpec, LookupError> {
    let mut event = EventSpec { pmu: Some(pmu.name.clone()), ..EventSpec::numeric(name, pmu.kind, 0) };
    if returns {
        set(pmu, "retprobe", 1, &mut event)?;
    }
    Ok(event)
}

/// Sets a field of the PMU's format.
fn set(pmu: &Pmu, field: &'static str, value: u64, event: &mut EventSpec) -> Result<(), LookupError> {
    let fits = pmu.format(field).is_some_and(|format| format.set(&mut event.attr, value));
    fits.then_some(()).ok_or(LookupError::Value {
        what: field,
        value,
        needed: "must fit the bits of the PMU's format",
    })
}

fn c_string(what: &'static str, bytes: &[u8]) -> Result<CString, LookupError> {
    CString::new(bytes).map_err(|_| LookupError::Nul { what })
}
