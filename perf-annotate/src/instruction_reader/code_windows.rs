//! Parts of code that were looked up.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use perf_abi::record::CpuMode;
use perf_session::{Dso, DsoKind, Frame};
use perf_symbol::{CodeMachine, FileBytes, FunctionCode};

use crate::disassembly::LONGEST_INSTRUCTION;

/// Number of parts at most. Parts of files are not copied; of the kernel's memory, they have up to 64 MiB then.
const MAX_WINDOWS: usize = 1 << 10;

/// Number of places without code that are kept.
const MAX_MISSING: usize = 1 << 16;

/// A place in code.
#[derive(Clone, Debug)]
pub(super) struct WindowKey {
    /// What is mapped there; `None` for the kernel outside of its mapping.
    pub(super) dso: Option<Arc<Dso>>,
    /// Whether it is code of a virtual machine, whose files are found in another way.
    pub(super) is_guest: bool,
    /// Of a file, the offset in it; otherwise the address.
    pub(super) offset: u64,
}

/// A place as a number: the address of the DSO, which is kept alive beside it, and the rest of the place.
type PlaceNumber = (usize, bool, u64);

impl WindowKey {
    /// Returns the place of a frame.
    pub(super) fn of(frame: &Frame<'_>) -> Self {
        let mapping = frame.mapping;
        let offset = match mapping {
            Some(it) if matches!(it.dso().kind(), DsoKind::File | DsoKind::Vdso) => it.offset_of(frame.ip),
            _ => frame.ip,
        };
        let is_guest = matches!(frame.mode, CpuMode::GUEST_KERNEL | CpuMode::GUEST_USER);
        Self { dso: mapping.map(|it| Arc::clone(it.dso())), is_guest, offset }
    }

    fn number(&self) -> PlaceNumber {
        (self.dso.as_ref().map_or(0, |it| Arc::as_ptr(it).addr()), self.is_guest, self.offset)
    }
}

/// A part of code.
#[derive(Clone, Debug)]
pub(super) struct CodeWindow {
    bytes: FileBytes,
    pub(super) machine: CodeMachine,
    /// Constants between instructions, from the start of the part.
    data: Vec<Range<u64>>,
    /// Number of bytes at which instructions are read. The bytes after them complete the last one.
    size: u64,
}

impl CodeWindow {
    /// Number of bytes of a part.
    pub(super) const SIZE: u64 = 1 << 16;

    /// Makes a part that another one may follow.
    pub(super) fn new(code: FunctionCode) -> Self {
        let it = Self::new_function(code);
        let is_followed = it.size == Self::SIZE + LONGEST_INSTRUCTION;
        Self { size: if is_followed { Self::SIZE } else { it.size }, ..it }
    }

    /// Makes a part that no other one follows.
    pub(super) fn new_function(code: FunctionCode) -> Self {
        let start = code.start;
        let of_part = |it: &Range<u64>| it.start.saturating_sub(start)..it.end.saturating_sub(start);
        let data = code.data.iter().map(of_part).collect();
        Self { data, ..Self::of_function(code.bytes, code.machine) }
    }

    /// Makes a part of the bytes of a function.
    pub(super) fn of_function(bytes: FileBytes, machine: CodeMachine) -> Self {
        Self { size: bytes.len() as u64, bytes, machine, data: Vec::new() }
    }

    /// Returns the bytes from an offset on, as many as an instruction may have.
    pub(super) fn bytes_at(&self, offset: u64) -> Option<FileBytes> {
        let end = offset.saturating_add(LONGEST_INSTRUCTION).min(self.bytes.len() as u64);
        self.bytes.slice(offset..end)
    }

    /// Returns whether there are constants at an offset.
    pub(super) fn is_data(&self, offset: u64) -> bool {
        let after = self.data.partition_point(|it| it.end <= offset);
        self.data.get(after).is_some_and(|it| it.contains(&offset))
    }
}

/// The parts of code that were looked up last.
#[derive(Debug, Default)]
pub(super) struct CodeWindows {
    /// By their starts.
    list: BTreeMap<PlaceNumber, (Option<Arc<Dso>>, CodeWindow)>,
    /// Places without code.
    missing: BTreeMap<PlaceNumber, Option<Arc<Dso>>>,
}

impl CodeWindows {
    /// Returns the part that has a place, and the number of bytes before the place.
    pub(super) fn find(&self, key: &WindowKey) -> Option<(&CodeWindow, u64)> {
        let (dso, is_guest, offset) = key.number();
        let places = (dso, is_guest, 0)..=(dso, is_guest, offset);
        let (&(_, _, start), (_, window)) = self.list.range(places).next_back()?;
        let before = key.offset.checked_sub(start)?;
        (before < window.size).then_some((window, before))
    }

    /// Adds a part that starts at a place. All others are removed if there are too many.
    pub(super) fn insert(&mut self, key: WindowKey, window: CodeWindow) {
        if self.list.len() >= MAX_WINDOWS {
            self.list.clear();
        }
        self.list.insert(key.number(), (key.dso, window));
    }

    /// Returns whether it is known that a place has no code.
    pub(super) fn is_missing(&self, key: &WindowKey) -> bool {
        self.missing.contains_key(&key.number())
    }

    /// Notes that a place has no code. All others are removed if there are too many.
    pub(super) fn insert_missing(&mut self, key: WindowKey) {
        if self.missing.len() >= MAX_MISSING {
            self.missing.clear();
        }
        self.missing.insert(key.number(), key.dso);
    }
}

#[cfg(test)]
mod tests {
    use perf_symbol::CodeOrigin;

    use super::*;

    fn code(size: usize) -> FunctionCode {
        let bytes = (0..size).map(|at| at as u8).collect();
        FunctionCode::generated(0x40_0000, bytes, CodeMachine::X86_64, CodeOrigin::File)
    }

    fn key(offset: u64) -> WindowKey {
        WindowKey { dso: None, is_guest: false, offset }
    }

    fn whole() -> usize {
        (CodeWindow::SIZE + LONGEST_INSTRUCTION) as usize
    }

    #[test]
    fn the_bytes_that_complete_an_instruction_are_of_the_next_part() {
        let mut windows = CodeWindows::default();
        windows.insert(key(0x1000), CodeWindow::new(code(whole())));
        assert!(windows.find(&key(0xfff)).is_none());
        let last = 0xfff + CodeWindow::SIZE;
        let (window, before) = windows.find(&key(last)).unwrap();
        assert_eq!(window.bytes_at(before).unwrap().len() as u64, LONGEST_INSTRUCTION);
        assert!(windows.find(&key(last + 1)).is_none());
    }

    #[test]
    fn a_part_up_to_the_end_of_a_segment_has_all_its_bytes() {
        let mut windows = CodeWindows::default();
        windows.insert(key(0x1000), CodeWindow::new(code(0x20)));
        let (window, before) = windows.find(&key(0x101e)).unwrap();
        assert_eq!(&*window.bytes_at(before).unwrap(), &[0x1e, 0x1f]);
        assert!(windows.find(&key(0x1020)).is_none());
    }

    #[test]
    fn constants_are_those_of_the_file() {
        let data = vec![0x40_0004..0x40_0008, 0x40_0010..0x40_0014];
        let window = CodeWindow::new_function(FunctionCode { data, ..code(0x20) });
        let found: Vec<_> = (0..0x20).filter(|&at| window.is_data(at)).collect();
        assert_eq!(found, [4, 5, 6, 7, 0x10, 0x11, 0x12, 0x13]);
    }

    #[test]
    fn the_number_of_parts_is_bounded() {
        let mut windows = CodeWindows::default();
        for number in 0..3 * MAX_WINDOWS as u64 / 2 {
            windows.insert(key(number << 16), CodeWindow::new(code(8)));
            assert!(windows.list.len() <= MAX_WINDOWS);
        }
        assert!(windows.find(&key(0)).is_none());
        assert!(windows.find(&key((3 * MAX_WINDOWS as u64 / 2 - 1) << 16)).is_some());
    }
}
