//! A jitdump: the code that a JIT compiler generated, with times, names and lines.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::bounds::ReadBounds;
use crate::bytes::FileBytes;
use crate::cancellation::Cancellation;
use crate::limits::SymbolLimits;
use crate::no_symbols::NoSymbols;
use crate::overlay::Overlay;
use crate::sole_names::SoleNames;
use crate::symtab::{LONGEST_NAME, NameSource, Symbol};

/// The code that a JIT compiler generated, as a program writes it to `jit-PID.dump`.
///
/// perf: `tools/perf/Documentation/jitdump-specification.txt`.
#[derive(Clone, Debug, Default)]
pub struct Jitdump {
    bytes: FileBytes,
    is_little_endian: bool,
    /// In the order of their times.
    loads: Vec<Load>,
    lines: Vec<Line>,
    overlay: Overlay,
    /// Made when the first address is looked up without a time.
    sole_names: OnceLock<SoleNames>,
    has_arch_times: bool,
    skipped: u64,
    is_truncated: bool,
}

/// Code that was loaded to an address, or moved there.
#[derive(Clone, Copy, Debug)]
struct Load {
    time: u64,
    start: u64,
    end: u64,
    /// Offset of the name in the file.
    name: usize,
    index: u64,
    /// The lines of the code, and the address at which it was when they were written.
    lines: (usize, usize),
    lines_at: u64,
}

/// The line from which on code was made.
#[derive(Clone, Copy, Debug)]
struct Line {
    address: u64,
    line: u32,
    column: u32,
    /// Offset of the path in the file.
    file: usize,
}

/// A function that a JIT compiler generated, at an address and a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitted<'a> {
    /// Name and addresses.
    pub symbol: Symbol<'a>,
    /// Number of the record that loaded the code, by time.
    pub load: u32,
    /// Path of the source; `None` if the compiler wrote no lines.
    pub file: Option<&'a [u8]>,
    /// Line, from 1 on; `None` if the compiler wrote none.
    pub line: Option<u32>,
    /// Column; `None` if the compiler wrote none.
    pub column: Option<u32>,
}

const MAGIC: [u8; 4] = *b"JiTD";
const LOAD: u32 = 0;
const MOVE: u32 = 1;
const DEBUG_INFO: u32 = 2;
const CLOSE: u32 = 3;

/// `JITDUMP_FLAGS_ARCH_TIMESTAMP`.
const ARCH_TIMESTAMP: u64 = 1;

impl Jitdump {
    /// Reads the records of a file, of either byte order. Records that cannot be read are skipped and counted. What the
    /// program had not written completely is left out: see [`is_truncated`](Self::is_truncated).
    ///
    /// # Errors
    ///
    /// [`NoSymbols::Malformed`] if the header is not that of a jitdump of version 1.
    pub fn parse(bytes: FileBytes, limits: &SymbolLimits) -> Result<Self, NoSymbols> {
        Self::read(bytes, ReadBounds::new(limits, &Cancellation::default()))
    }

    /// Like [`parse`](Self::parse), up to the record at which it is cancelled.
    pub(crate) fn read(bytes: FileBytes, limits: ReadBounds<'_>) -> Result<Self, NoSymbols> {
        const HEADER: NoSymbols = NoSymbols::Malformed("header of the jitdump");
        let magic: [u8; 4] = *bytes.first_chunk().ok_or(HEADER)?;
        // The magic is a number, so that its bytes are in this order on big-endian machines.
        let is_little_endian = magic != MAGIC;
        if is_little_endian && !magic.iter().rev().eq(&MAGIC) {
            return Err(HEADER);
        }
        let mut it = Self { bytes, is_little_endian, ..Self::default() };
        let field = |at| it.u32(at).ok_or(HEADER);
        let (version, size) = (field(4)?, field(8)?);
        if version != 1 || size < 40 {
            return Err(HEADER);
        }
        it.has_arch_times = it.u64_in(32, 0, 40).is_some_and(|flags| flags & ARCH_TIMESTAMP != 0);
        it.read_records(usize::try_from(size).map_err(|_| HEADER)?, limits);
        // Their order is that of the file where times are equal.
        it.loads.sort_by_key(|load| load.time);
        let ranges: Vec<_> = it.loads.iter().map(|load| (load.start, load.end)).collect();
        it.overlay = Overlay::new(&ranges);
        Ok(it)
    }

    fn read_records(&mut self, mut at: usize, limits: ReadBounds<'_>) {
        // The last load of each index.
        let mut loaded = HashMap::new();
        // The lines that were written before the load that they belong to.
        let mut pending: Option<(u64, (usize, usize))> = None;
        let mut number = 0_usize;
        while at < self.bytes.len() && !limits.cancellation.is_cancelled_at(number) {
            number = number.wrapping_add(1);
            let Some((kind, size)) = self.u32(at).zip(self.u32(at.saturating_add(4))) else { break };
            let end = usize::try_from(size).ok().and_then(|size| at.checked_add(size));
            // A record without a prefix has no end.
            let Some(end) = end.filter(|&end| size >= 16 && end <= self.bytes.len()) else { break };
            let is_read = match kind {
                LOAD => self.read_load(at, end, &mut pending, &limits).map(|load| {
                    loaded.insert(load.index, load);
                }),
                MOVE => self.read_move(at, end, &loaded, &limits),
                DEBUG_INFO => self.read_lines(at, end, &limits).map(|lines| pending = Some(lines)),
                CLOSE => return,
                // Tables to unwind stacks, and what later versions add.
                _ => Some(()),
            };
            if is_read.is_none() {
                self.skipped = self.skipped.saturating_add(1);
            }
            at = end;
        }
        self.is_truncated = at < self.bytes.len();
    }

    fn read_load(
        &mut self,
        at: usize,
        end: usize,
        pending: &mut Option<(u64, (usize, usize))>,
        limits: &SymbolLimits,
    ) -> Option<Load> {
        let field = |offset: usize| self.u64_in(at, offset, end);
        let (time, start, size, index) = (field(8)?, field(32)?, field(40)?, field(48)?);
        let name = at.checked_add(56)?;
        // It ends before the code.
        self.text(name, end)?;
        let lines =
            pending.take().filter(|&(address, _)| address == start).map_or((0, 0), |(_, lines)| lines);
        let load = Load { time, start, end: start.saturating_add(size), name, index, lines, lines_at: start };
        self.push(load, limits).map(|()| load)
    }

    /// Code that moved has the name of its load.
    fn read_move(
        &mut self,
        at: usize,
        end: usize,
        loaded: &HashMap<u64, Load>,
        limits: &SymbolLimits,
    ) -> Option<()> {
        let field = |offset: usize| self.u64_in(at, offset, end);
        let (time, start, size, index) = (field(8)?, field(40)?, field(48)?, field(56)?);
        let loaded = loaded.get(&index)?;
        self.push(Load { time, start, end: start.saturating_add(size), ..*loaded }, limits)
    }

    fn push(&mut self, load: Load, limits: &SymbolLimits) -> Option<()> {
        (self.loads.len() < limits.symbols).then(|| self.loads.push(load))
    }

    /// Returns the address of the code, and the range of its lines.
    fn read_lines(&mut self, at: usize, end: usize, limits: &SymbolLimits) -> Option<(u64, (usize, usize))> {
        let (address, count) = (self.u64_in(at, 16, end)?, self.u64_in(at, 24, end)?);
        let first = self.lines.len();
        let mut at = at.checked_add(32)?;
        let mut file = at;
        for _ in 0..count {
            let path = at.checked_add(16)?;
            let (Some(start), Some(text)) = (self.u64_in(at, 0, end), self.text(path, end)) else { break };
            let (line, column) = (self.u32(at.checked_add(8)?)?, self.u32(at.checked_add(12)?)?);
            let size = text.len();
            // The path of the line before.
            if text != b"\xff" {
                file = path;
            }
            if self.lines.len() >= limits.symbols {
                break;
            }
            self.lines.push(Line { address: start, line, column, file });
            at = path.checked_add(size)?.checked_add(1)?;
        }
        let lines = self.lines.get_mut(first..)?;
        lines.sort_by_key(|line| line.address);
        Some((address, (first, self.lines.len())))
    }

    /// Returns the function at an address, at a time in nanoseconds of `CLOCK_MONOTONIC`, of which `perf record -k mono`
    /// makes the times of samples. Without a time, a function is returned only if all code that was ever loaded there has
    /// its name, and its line only if no other code was. `None` if no code was loaded there.
    ///
    /// The times of a jitdump with [other time stamps](Self::has_arch_times) cannot be compared with a time.
    #[must_use]
    pub fn find(&self, address: u64, time: Option<u64>) -> Option<Jitted<'_>> {
        let (number, has_lines) = match time {
            Some(time) => {
                let before = self.loads.partition_point(|load| load.time <= time);
                (self.overlay.find(address, u32::try_from(before).unwrap_or(u32::MAX))?, true)
            }
            None => {
                let sole = self.sole_names().find(&self.overlay, address)?;
                (sole.range, sole.is_only)
            }
        };
        let load = self.loads.get(usize::try_from(number).ok()?)?;
        let name = self.start_of_text(load.name);
        let line = if has_lines { self.line(load, address) } else { None };
        Some(Jitted {
            symbol: Symbol { name, start: load.start, end: load.end, source: NameSource::Jitdump },
            load: number,
            file: line.map(|line| self.start_of_text(line.file)),
            line: line.map(|line| line.line),
            column: line.map(|line| line.column),
        })
    }

    fn sole_names(&self) -> &SoleNames {
        self.sole_names.get_or_init(|| {
            SoleNames::new(&self.overlay, |number| {
                let load = usize::try_from(number).ok().and_then(|number| self.loads.get(number));
                let place = load.map_or(0, |load| load.name);
                (place, self.start_of_text(place))
            })
        })
    }

    fn line(&self, load: &Load, address: u64) -> Option<Line> {
        let lines = self.lines.get(load.lines.0..load.lines.1)?;
        let address = address.wrapping_sub(load.start).wrapping_add(load.lines_at);
        let after = lines.partition_point(|line| line.address <= address);
        lines.get(after.checked_sub(1)?).copied()
    }

    /// Returns whether the times are those of a clock of the processor, such as x86's time stamp counter, and not of
    /// `CLOCK_MONOTONIC`.
    #[must_use]
    pub fn has_arch_times(&self) -> bool {
        self.has_arch_times
    }

    /// Returns the number of records that were skipped.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Returns whether the file ends within a record.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    fn u32(&self, at: usize) -> Option<u32> {
        let bytes: [u8; 4] = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.is_little_endian { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    /// Returns a number of the record from `at` to `end`.
    fn u64_in(&self, at: usize, offset: usize, end: usize) -> Option<u64> {
        let bytes: [u8; 8] = *self.bytes.get(at.checked_add(offset)?..end)?.first_chunk()?;
        Some(if self.is_little_endian { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) })
    }

    /// Returns a text that has a zero byte, cut if it is long: any number of records may have one text, and each look-up
    /// reads it.
    fn start_of_text(&self, at: usize) -> &[u8] {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let rest = rest.get(..LONGEST_NAME).unwrap_or(rest);
        let end = rest.iter().position(|&byte| byte == 0).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    }

    /// Returns the text up to its zero byte, which is before `end`.
    fn text(&self, at: usize, end: usize) -> Option<&[u8]> {
        let rest = self.bytes.get(at..end)?;
        rest.get(..rest.iter().position(|&byte| byte == 0)?)
    }
}
