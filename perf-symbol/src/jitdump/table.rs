//! The functions of a jitdump, by address and time.

use std::collections::HashMap;
use std::io::Read;
use std::sync::OnceLock;

use super::error::JitdumpError;
use super::header::JitdumpHeader;
use super::reader::JitdumpReader;
use super::record::{JitDebugInfo, JitLoad, JitMove, JitRecord, JitRecordBody};
use crate::bounds::ReadBounds;
use crate::bytes::FileBytes;
use crate::cancellation::Cancellation;
use crate::limits::SymbolLimits;
use crate::no_symbols::NoSymbols;
use crate::overlay::Overlay;
use crate::sole_names::SoleNames;
use crate::symtab::{LONGEST_NAME, NameSource, Symbol};

/// The functions that a JIT compiler generated, by address and time, as a program writes them to `jit-PID.dump`.
///
/// It has names and lines, and not the code: its memory grows with the number of functions, lines and bytes of names.
///
/// perf: `tools/perf/Documentation/jitdump-specification.txt`.
#[derive(Clone, Debug, Default)]
pub struct Jitdump {
    /// In the order of the file.
    loads: Vec<CodeLoad>,
    lines: Vec<CodeLine>,
    /// Names and paths, each with a NUL.
    texts: Vec<u8>,
    /// The last load of each index.
    by_index: HashMap<u64, usize>,
    /// The lines that were written before the load that they belong to, and the address of its code.
    pending: Option<(u64, (usize, usize))>,
    /// Made when the first address is looked up.
    index: OnceLock<CodeIndex>,
    has_arch_times: bool,
    skipped: u64,
    is_truncated: bool,
}

/// Code that was loaded to an address, or moved there.
#[derive(Clone, Copy, Debug)]
struct CodeLoad {
    time: u64,
    start: u64,
    end: u64,
    /// Place of the name in the texts.
    name: usize,
    /// The lines of the code, and the address at which it was when they were written.
    lines: (usize, usize),
    lines_at: u64,
}

/// The line from which on code was made.
#[derive(Clone, Copy, Debug)]
struct CodeLine {
    address: u64,
    line: u32,
    column: u32,
    /// Place of the path in the texts.
    file: usize,
}

/// Loads by time and address.
#[derive(Clone, Debug)]
struct CodeIndex {
    /// The loads in the order of their times, and in that of the file where times are equal.
    by_time: Vec<u32>,
    /// Their addresses, in this order.
    overlay: Overlay,
    /// Made when the first address is looked up without a time.
    sole_names: OnceLock<SoleNames>,
}

/// A function that a JIT compiler generated, at an address and a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JitFunction<'a> {
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

impl Jitdump {
    /// Creates a table without functions, for the records of a file with this header.
    #[must_use]
    pub fn new(header: &JitdumpHeader) -> Self {
        Self { has_arch_times: header.has_arch_times(), ..Self::default() }
    }

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
        let header =
            JitdumpHeader::parse(&bytes).map_err(|_| NoSymbols::Malformed("header of the jitdump"))?;
        let mut it = Self::new(&header);
        let mut records = header.records(&bytes);
        for (number, record) in records.by_ref().enumerate() {
            if limits.cancellation.is_cancelled_at(number) {
                break;
            }
            match record {
                Ok(record) => it.add(&record, &limits),
                Err(JitdumpError::RecordSize { .. }) => {}
                Err(_) => it.skipped = it.skipped.saturating_add(1),
            }
        }
        it.is_truncated = records.is_truncated();
        Ok(it)
    }

    /// Adds what the program has written since the last call. Returns the number of records that were read. Records that
    /// cannot be read are skipped and counted.
    ///
    /// The first look-up after it takes time for all functions, and not only for the new ones. It may change the
    /// [numbers of loads](JitFunction::load).
    ///
    /// # Errors
    ///
    /// [`JitdumpError::Header`], [`JitdumpError::RecordSize`] and [`JitdumpError::Io`]: what was read before is there.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_symbol::jitdump::{Jitdump, JitdumpReader};
    /// use perf_symbol::SymbolLimits;
    ///
    /// # let mut file = b"DTiJ\x01\0\0\0\x28\0\0\0\x3e\0\0\0\0\0\0\0\x07\0\0\0".to_vec();
    /// # file.resize(40, 0);
    /// # let file = &file[..];
    /// // `file` is an open jit-PID.dump of a program that runs.
    /// let mut reader = JitdumpReader::new(file);
    /// let mut functions = Jitdump::default();
    /// // From time to time:
    /// functions.read_more(&mut reader, &SymbolLimits::default())?;
    /// let function = functions.find(0x7f00_0000_1234, None);
    /// # assert!(function.is_none());
    /// # Ok::<(), perf_symbol::jitdump::JitdumpError>(())
    /// ```
    pub fn read_more<R: Read>(
        &mut self,
        reader: &mut JitdumpReader<R>,
        limits: &SymbolLimits,
    ) -> Result<u64, JitdumpError> {
        let Some(header) = reader.header()? else { return Ok(0) };
        self.has_arch_times = header.has_arch_times();
        let mut count = 0_u64;
        loop {
            match reader.next_record() {
                Ok(Some(record)) => self.add(&record, limits),
                Ok(None) => break,
                Err(JitdumpError::Record { .. } | JitdumpError::TooLarge { .. }) => {
                    self.skipped = self.skipped.saturating_add(1);
                }
                Err(error) => return Err(error),
            }
            count = count.saturating_add(1);
        }
        self.is_truncated = reader.is_within_record();
        Ok(count)
    }

    /// Adds a record. Those of one file must be added in its order. A move of code that no record loaded, and what exceeds
    /// [`SymbolLimits::symbols`], is skipped and counted.
    pub fn add(&mut self, record: &JitRecord<'_>, limits: &SymbolLimits) {
        let is_added = match &record.body {
            JitRecordBody::Load(load) => self.add_load(record.time, load, limits),
            JitRecordBody::Move(moved) => self.add_move(record.time, moved, limits),
            JitRecordBody::DebugInfo(lines) => {
                self.add_lines(lines, limits);
                true
            }
            // Tables to unwind stacks, and what later versions add.
            _ => true,
        };
        if !is_added {
            self.skipped = self.skipped.saturating_add(1);
        }
    }

    fn add_load(&mut self, time: u64, load: &JitLoad<'_>, limits: &SymbolLimits) -> bool {
        let start = load.code_addr;
        let lines = self.pending.take().filter(|&(address, _)| address == start);
        let lines = lines.map_or((0, 0), |(_, lines)| lines);
        if self.loads.len() >= limits.symbols {
            return false;
        }
        let name = self.add_text(load.name);
        let end = start.saturating_add(load.code_size);
        self.by_index.insert(load.code_index, self.loads.len());
        self.push(CodeLoad { time, start, end, name, lines, lines_at: start });
        true
    }

    /// Code that moved has the name of its load.
    fn add_move(&mut self, time: u64, moved: &JitMove, limits: &SymbolLimits) -> bool {
        let loaded = self.by_index.get(&moved.code_index).and_then(|&number| self.loads.get(number));
        let Some(&loaded) = loaded.filter(|_| self.loads.len() < limits.symbols) else { return false };
        let start = moved.new_code_addr;
        self.push(CodeLoad { time, start, end: start.saturating_add(moved.code_size), ..loaded });
        true
    }

    fn push(&mut self, load: CodeLoad) {
        self.loads.push(load);
        self.index = OnceLock::new();
    }

    fn add_lines(&mut self, info: &JitDebugInfo<'_>, limits: &SymbolLimits) {
        let first = self.lines.len();
        // The path of the line before.
        let mut last: Option<(&[u8], usize)> = None;
        for it in info.lines() {
            if self.lines.len() >= limits.symbols {
                break;
            }
            let file = match last {
                Some((path, place)) if path == it.file => place,
                _ => self.add_text(it.file),
            };
            last = Some((it.file, file));
            self.lines.push(CodeLine { address: it.code_addr, line: it.line, column: it.discrim, file });
        }
        if let Some(lines) = self.lines.get_mut(first..) {
            lines.sort_by_key(|line| line.address);
        }
        self.pending = Some((info.code_addr, (first, self.lines.len())));
    }

    /// Adds a text, and returns its place. A long one is cut.
    fn add_text(&mut self, text: &[u8]) -> usize {
        let place = self.texts.len();
        self.texts.extend_from_slice(text.get(..LONGEST_NAME).unwrap_or(text));
        self.texts.push(0);
        place
    }

    /// Returns the text at a place.
    fn text(&self, place: usize) -> &[u8] {
        let rest = self.texts.get(place..).unwrap_or_default();
        let end = rest.iter().position(|&byte| byte == 0).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    }

    /// Returns the function at an address, at a time in nanoseconds of `CLOCK_MONOTONIC`, of which `perf record -k mono`
    /// makes the times of samples. Without a time, a function is returned only if all code that was ever loaded there has
    /// its name, and its line only if no other code was. `None` if no code was loaded there.
    ///
    /// The times of a jitdump with [other time stamps](Self::has_arch_times) cannot be compared with a time.
    #[must_use]
    pub fn find(&self, address: u64, time: Option<u64>) -> Option<JitFunction<'_>> {
        let index = self.index.get_or_init(|| CodeIndex::new(&self.loads));
        let (number, has_lines) = match time {
            Some(time) => {
                let is_before = |&number: &u32| {
                    usize::try_from(number)
                        .ok()
                        .and_then(|number| self.loads.get(number))
                        .is_some_and(|load| load.time <= time)
                };
                let before = index.by_time.partition_point(is_before);
                (index.overlay.find(address, u32::try_from(before).unwrap_or(u32::MAX))?, true)
            }
            None => {
                let sole = self.sole_names(index).find(&index.overlay, address)?;
                (sole.range, sole.is_only)
            }
        };
        let load = self.load(index, number)?;
        let name = self.text(load.name);
        let line = if has_lines { self.line(load, address) } else { None };
        Some(JitFunction {
            symbol: Symbol { name, start: load.start, end: load.end, source: NameSource::Jitdump },
            load: number,
            file: line.map(|line| self.text(line.file)),
            line: line.map(|line| line.line),
            column: line.map(|line| line.column),
        })
    }

    /// Returns a load by its number by time.
    fn load(&self, index: &CodeIndex, number: u32) -> Option<&CodeLoad> {
        let number = *index.by_time.get(usize::try_from(number).ok()?)?;
        self.loads.get(usize::try_from(number).ok()?)
    }

    fn sole_names<'i>(&self, index: &'i CodeIndex) -> &'i SoleNames {
        index.sole_names.get_or_init(|| {
            SoleNames::new(&index.overlay, |number| {
                let place = self.load(index, number).map_or(0, |load| load.name);
                (place, self.text(place))
            })
        })
    }

    fn line(&self, load: &CodeLoad, address: u64) -> Option<CodeLine> {
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
}

impl CodeIndex {
    fn new(loads: &[CodeLoad]) -> Self {
        let mut sorted: Vec<_> = (0..u32::MAX).zip(loads).collect();
        // Their order is that of the file where times are equal.
        sorted.sort_by_key(|(_, load)| load.time);
        let ranges: Vec<_> = sorted.iter().map(|(_, load)| (load.start, load.end)).collect();
        let by_time = sorted.into_iter().map(|(number, _)| number).collect();
        Self { by_time, overlay: Overlay::new(&ranges), sole_names: OnceLock::new() }
    }
}
