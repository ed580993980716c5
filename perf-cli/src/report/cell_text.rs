//! The text of a key's value, as perf prints it.

use perf_profile::report::{LineSharing, ReportCell, SortKey};

use super::memory::{self, level};
use super::transaction;
use crate::escape::{print, push_name};
use crate::perf_text::size::push_page_size;

/// The text of each key of the samples beyond the limits.
const BEYOND: &[u8] = b"[beyond the limits]";

/// Appends the text of a key's value. `ns` is whether times have nine decimal places instead of six.
pub(super) fn push(out: &mut Vec<u8>, key: SortKey, cell: &ReportCell<'_>, ns: bool) {
    match *cell {
        ReportCell::Beyond => out.extend_from_slice(BEYOND),
        ReportCell::Task { id, comm, .. } => {
            print(out, format_args!("{id:>7}:"));
            push_name(out, comm);
        }
        ReportCell::Text(text) | ReportCell::SourceLine { text, .. } => push_name(out, text),
        ReportCell::SourceFile { name, .. } => push_name(out, name.unwrap_or_default()),
        ReportCell::Dso(name) => push_name(out, name.unwrap_or(b"[unknown]")),
        ReportCell::Symbol { symbol, address, mode, .. } => {
            memory::push_symbol(out, level(mode), symbol.map(|it| (it, None)), address);
            // perf marks none in the key of memory accesses.
            if key != SortKey::SymbolIaddr && symbol.is_some_and(|it| it.is_inlined) {
                out.extend_from_slice(b" (inlined)");
            }
        }
        ReportCell::Parent(Some(symbol)) => push_name(out, &symbol.label()),
        ReportCell::Parent(None) => out.extend_from_slice(b"[other]"),
        ReportCell::Cpu(Some(number)) => print(out, format_args!("{number:03}")),
        ReportCell::Cpu(None) => out.extend_from_slice(b"-001"),
        ReportCell::Number(size) if matches!(key, SortKey::CodePageSize | SortKey::DataPageSize) => {
            push_page_size(out, size);
        }
        ReportCell::Number(Some(number)) => print(out, format_args!("{number}")),
        ReportCell::Number(None) if key == SortKey::Cycles => out.push(b'-'),
        ReportCell::Number(None) => out.extend_from_slice(b"unknown"),
        ReportCell::Cgroup(path) => push_name(out, path.unwrap_or(b"N/A")),
        ReportCell::CgroupId { device, inode, .. } => print(out, format_args!("{device}/0x{inode:x}")),
        ReportCell::Time(time) => {
            let (seconds, fraction) = (time / 1_000_000_000, time % 1_000_000_000);
            match ns {
                true => print(out, format_args!("{seconds}.{fraction:09}")),
                false => print(out, format_args!("{seconds}.{:06}", fraction / 1000)),
            }
        }
        ReportCell::Flag(flag) => out.extend_from_slice(flag_text(key, flag)),
        ReportCell::BranchEnd { symbol, offset, mode, .. } => {
            // The letter is that of the address, or in no mapping that of the sample; perf always has the latter.
            let in_symbol = |start: u64| Some(offset.wrapping_sub(start)).filter(|&it| it > 0);
            memory::push_symbol(out, level(mode), symbol.map(|it| (it, in_symbol(it.start))), offset);
        }
        ReportCell::Transaction(txn) => transaction::push(out, txn),
        ReportCell::Address(0) => out.push(b'0'),
        ReportCell::Address(address) => print(out, format_args!("0x{address:x}")),
        ReportCell::Data { symbol, offset, address, mode, .. } => {
            memory::push_symbol(out, level(mode), symbol.map(|it| (it, offset)), address);
        }
        ReportCell::CacheLine { symbol, offset, start, sharing, mode, .. } => {
            let letter = match sharing {
                LineSharing::Private => level(mode),
                LineSharing::Shared => 's',
                LineSharing::Unmapped => 'X',
            };
            memory::push_symbol(out, letter, symbol.map(|it| (it, offset)), start);
        }
        ReportCell::PhysicalAddress { address, mode, .. } => {
            memory::push_symbol(out, level(mode), None, address)
        }
        ReportCell::DataSource(source) => memory::push_source(out, key, source),
        _ => {}
    }
}

fn flag_text(key: SortKey, flag: Option<bool>) -> &'static [u8] {
    match (key, flag) {
        (SortKey::Mispredict, Some(true)) => b"Y",
        (SortKey::Mispredict, Some(false)) => b"N",
        (SortKey::Mispredict, None) => b"N/A",
        (SortKey::InTx, Some(true)) => b"T",
        (SortKey::Abort, Some(true)) => b"A",
        _ => b".",
    }
}
