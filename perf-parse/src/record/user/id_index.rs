//! The CPU and task of each event id.

use perf_abi::endian::Endian;
use perf_abi::record::{IdIndexEntry as WireEntry, IdIndexEntry2 as WireGuest};

use crate::cursor::Cursor;
use crate::error::Error;
use crate::list::{List, structures};

/// The CPU and task of each event id.
///
/// perf: `struct perf_record_id_index`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct IdIndex<'a> {
    /// The entries, one for each id.
    pub entries: List<'a, IdIndexEntry>,
    /// The virtual machine and vCPU of each entry. `None` if the record has no room for all of them: perf writes them
    /// only if a guest was recorded, and older versions never do.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub guests: Option<List<'a, IdIndexGuest>>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub rest: &'a [u8],
}

impl<'a> IdIndex<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let nr = at.word::<O>("nr")?;
        let entries = at.list(O::ENDIANNESS, nr, "entries")?;
        let guests = if nr == 0 { None } else { at.list(O::ENDIANNESS, nr, "entries_2").ok() };
        Ok(Self { entries, guests, rest: at.take_rest() })
    }
}

/// The CPU and task of an event id.
///
/// perf: `struct id_index_entry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct IdIndexEntry {
    /// Id of the event.
    pub id: u64,
    /// Index of the ring.
    pub idx: u64,
    /// CPU number; -1 for any CPU.
    pub cpu: i64,
    /// Thread id; -1 for any thread.
    pub tid: i64,
}

/// The virtual machine and vCPU of an event id.
///
/// perf: `struct id_index_entry_2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct IdIndexGuest {
    /// Process id of the virtual machine; 0 for the host.
    pub machine_pid: i64,
    /// Number of the vCPU; -1 for none.
    pub vcpu: i64,
}

structures! {
    IdIndexEntry = WireEntry |it| IdIndexEntry {
        id: it.id.get(),
        idx: it.idx.get(),
        cpu: it.cpu.get(),
        tid: it.tid.get(),
    };
    IdIndexGuest = WireGuest |it| IdIndexGuest { machine_pid: it.machine_pid.get(), vcpu: it.vcpu.get() };
}
