//! Kernel symbols and BPF programs that come and go.

use perf_abi::endian::Endian;
use perf_abi::ksymbol::{BpfEventType, KsymbolFlags, KsymbolType};
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// A kernel symbol came, or went where `flags` has `UNREGISTER`.
///
/// Kernel: `PERF_RECORD_KSYMBOL`; since Linux 5.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ksymbol<'a> {
    /// Address.
    pub addr: u64,
    /// Bytes.
    pub len: u32,
    /// What it is.
    pub ksym_type: KsymbolType,
    /// Whether it came or went.
    pub flags: KsymbolFlags,
    /// The symbol's name.
    pub name: &'a [u8],
}

impl<'a> Ksymbol<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let wire::Ksymbol { addr, len, ksym_type, flags } = at.fixed::<wire::Ksymbol<O>>("addr")?;
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
/// Kernel: `PERF_RECORD_BPF_EVENT`; since Linux 5.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BpfEvent {
    /// What happened. C: `type`.
    pub kind: BpfEventType,
    /// Zero as of 7.3.
    pub flags: u16,
    /// Id of the program.
    pub id: u32,
    /// Hash of the program's instructions.
    pub tag: [u8; 8],
}

impl BpfEvent {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'_>) -> Result<Self, Error> {
        let wire::BpfEvent { kind, flags, id, tag } = at.fixed::<wire::BpfEvent<O>>("type")?;
        Ok(Self { kind: BpfEventType(kind.get()), flags: flags.get(), id: id.get(), tag: *tag })
    }
}
