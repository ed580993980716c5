//! Probes that need no tracefs: kernel and user functions, through the PMUs `kprobe` and `uprobe`.
//!
//! The kernel makes the probe when the event is opened and removes it with the event. Since Linux 4.17.
//! Kernel: `perf_kprobe_event_init` and `perf_uprobe_event_init`, `kernel/events/core.c`;
//! `Documentation/ABI/testing/sysfs-bus-event_source-devices-format`.

use alloc::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::event::{Event, LookupError};
use crate::pmu::{Pmu, Pmus};

/// What a kernel probe is set on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelPlace<'a> {
    /// So many bytes into a function of the kernel or of a module, by its symbol.
    Function(&'a str, u64),
    /// An address.
    Address(u64),
}

impl Event {
    /// Each time the kernel executes what is at `place`.
    ///
    /// The event is to be opened with `config1` pointing at [`string`](Self::string), where it has one.
    ///
    /// # Errors
    ///
    /// [`LookupError::Unknown`] if the kernel has no `kprobe` PMU: it is older than 4.17, or built without
    /// `CONFIG_KPROBE_EVENTS`. [`LookupError::Nul`] for a symbol that holds a NUL.
    pub fn kprobe(place: KernelPlace<'_>) -> Result<Self, LookupError> {
        Self::kprobe_of(&Pmus::new(), place, false)
    }

    /// Each time a function of the kernel returns.
    ///
    /// # Errors
    ///
    /// As for [`kprobe`](Self::kprobe).
    pub fn kretprobe(place: KernelPlace<'_>) -> Result<Self, LookupError> {
        Self::kprobe_of(&Pmus::new(), place, true)
    }

    /// [`kprobe`](Self::kprobe) or [`kretprobe`](Self::kretprobe) on a machine that `pmus` tells of.
    ///
    /// # Errors
    ///
    /// As for [`kprobe`](Self::kprobe).
    pub fn kprobe_of(pmus: &Pmus, place: KernelPlace<'_>, returns: bool) -> Result<Self, LookupError> {
        let (string, number, name) = match place {
            KernelPlace::Function(symbol, offset) => {
                (Some(c_string("symbol", symbol.as_bytes())?), offset, symbol.to_owned())
            }
            KernelPlace::Address(address) => (None, address, format!("{address:#x}")),
        };
        let kind = if returns { "kretprobe" } else { "kprobe" };
        let offset = if string.is_some() && number != 0 { format!("+{number:#x}") } else { String::new() };
        let mut event = probe(&pmus.get("kprobe")?, format!("{kind}:{name}{offset}"), returns)?;
        event.attr.config2 = number;
        event.string = string;
        Ok(event)
    }

    /// Each time a process executes what is `offset` bytes into the file at `path`.
    ///
    /// The offset is one of the file, not an address of the program. The event is to be opened with `config1` pointing
    /// at [`string`](Self::string).
    ///
    /// # Errors
    ///
    /// [`LookupError::Unknown`] if the kernel has no `uprobe` PMU: it is older than 4.17, or built without
    /// `CONFIG_UPROBE_EVENTS`. [`LookupError::Nul`] for a path that holds a NUL.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_open::event::Event;
    ///
    /// match Event::uprobe("/bin/true", 0x1000) {
    ///     Ok(event) => assert_eq!(event.string.as_deref(), Some(c"/bin/true")),
    ///     Err(error) => eprintln!("{error}"),
    /// }
    /// ```
    pub fn uprobe(path: impl AsRef<Path>, offset: u64) -> Result<Self, LookupError> {
        Self::uprobe_of(&Pmus::new(), path.as_ref(), offset, 0, false)
    }

    /// Each time a function that begins `offset` bytes into the file at `path` returns.
    ///
    /// # Errors
    ///
    /// As for [`uprobe`](Self::uprobe).
    pub fn uretprobe(path: impl AsRef<Path>, offset: u64) -> Result<Self, LookupError> {
        Self::uprobe_of(&Pmus::new(), path.as_ref(), offset, 0, true)
    }

    /// [`uprobe`](Self::uprobe) or [`uretprobe`](Self::uretprobe) on a machine that `pmus` tells of, with
    /// `ref_ctr_offset`: where in the file is the counter that the kernel raises while the probe is set, the semaphore of
    /// a USDT probe; 0 for none. Since Linux 4.20.
    ///
    /// # Errors
    ///
    /// As for [`uprobe`](Self::uprobe); [`LookupError::Value`] if `ref_ctr_offset` does not fit its bits, or the kernel
    /// has none for it.
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

/// A probe of a PMU, with its `retprobe` set if it is one.
fn probe(pmu: &Pmu, name: String, returns: bool) -> Result<Event, LookupError> {
    let mut event = Event { pmu: Some(pmu.name.clone()), ..Event::numeric(name, pmu.kind, 0) };
    if returns {
        set(pmu, "retprobe", 1, &mut event)?;
    }
    Ok(event)
}

/// Sets a field of the PMU's format.
fn set(pmu: &Pmu, field: &'static str, value: u64, event: &mut Event) -> Result<(), LookupError> {
    let fits = pmu.format(field).is_some_and(|format| format.set(&mut event.attr, value));
    fits.then_some(()).ok_or(LookupError::Value {
        what: field,
        value,
        needed: "has to fit the bits that the PMU's format has for it",
    })
}

fn c_string(what: &'static str, bytes: &[u8]) -> Result<CString, LookupError> {
    CString::new(bytes).map_err(|_| LookupError::Nul { what })
}
