//! Kernel symbols and BPF programs that are registered or unregistered.

use perf_abi::endian::Endian;
use perf_abi::ksymbol::{BpfEventType, KsymbolFlags, KsymbolType};
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// A kernel symbol was registered, or unregistered if `flags` has `UNREGISTER`.
///
/// Kernel: `PERF_RECORD_KSYMBOL`; since Linux 5.1. It may have [stale bytes](crate::RawRecord::stale_bytes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Ksymbol<'a> {
    /// Address of the symbol.
    pub addr: u64,
    /// Bytes of the symbol.
    pub len: u32,
    /// Type of the symbol.
    pub ksym_type: KsymbolType,
    /// Whether the symbol was registered or unregistered.
    pub flags: KsymbolFlags,
    /// The symbol's name.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
    pub name: &'a [u8],
}

impl<'a> Ksymbol<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let wire::RawKsymbol { addr, len, ksym_type, flags } = at.fixed::<wire::RawKsymbol<O>>("addr")?;
        Ok(Self {
            addr: addr.get(),
            len: len.get(),
            ksym_type: KsymbolType(ksym_type.get()),
            flags: KsymbolFlags(flags.get()),
            name: at.string("name")?,
        })
    }
}

/// A BPF program was loaded or unloaded.
///
/// Kernel: `PERF_RECORD_BPF_EVENT`; since Linux 5.1. It may have [stale bytes](crate::RawRecord::stale_bytes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BpfEvent {
    /// What happened to the program. C: `type`.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub kind: BpfEventType,
    /// Zero as of 7.3.
    pub flags: u16,
    /// Id of the program.
    pub id: u32,
    /// Hash of the program's instructions.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub tag: [u8; 8],
}

impl BpfEvent {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'_>) -> Result<Self, Error> {
        let wire::RawBpfEvent { kind, flags, id, tag } = at.fixed::<wire::RawBpfEvent<O>>("type")?;
        Ok(Self { kind: BpfEventType(kind.get()), flags: flags.get(), id: id.get(), tag: *tag })
    }
}
