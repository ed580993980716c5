//! Tracing data: the parts of perf's copy of the kernel's tracing directory.

use perf_abi::endian::{BigEndian, Endianness, LittleEndian, U32, U64};

use super::error::TracingError;
#[cfg(feature = "tracepoint")]
use super::grammar;
use crate::cursor::Cursor;

/// Tracing data: the feature `TRACING_DATA` of a file, or the payload after the HEADER_TRACING_DATA record of a pipe.
///
/// The position of every part is checked; nothing is parsed or copied. Numbers are in the byte order that the data
/// itself states, which is the recorder's. It should equal the byte order of the capture, but is not taken from
/// there.
///
/// perf: `trace_report`, `tools/perf/util/trace-event-read.c`.
#[derive(Clone, Copy, Debug)]
pub struct TracingData<'a> {
    /// Version of the layout: `0.5`, or `0.6`, which has `saved_cmdlines`.
    pub version: &'a [u8],
    /// Byte order of the recorder.
    pub endianness: Endianness,
    /// Bytes of a `long` on the recorder: 4 or 8.
    pub long_size: u8,
    /// Bytes of a page on the recorder.
    pub page_size: u32,
    /// Format of a page of the kernel's tracing ring.
    pub header_page: &'a [u8],
    /// Format of an event header in the kernel's tracing ring.
    pub header_event: &'a [u8],
    /// `/proc/kallsyms`; empty since perf 4.
    pub kallsyms: &'a [u8],
    /// `printk_formats`: the addresses and texts of the formats of `trace_printk`.
    pub printk_formats: &'a [u8],
    /// `saved_cmdlines`: the pids and names of tasks; `None` before version 0.6.
    pub saved_cmdlines: Option<&'a [u8]>,
    /// The remaining bytes: in a pipe, zeros up to a multiple of 8 bytes.
    pub rest: &'a [u8],
    formats: FormatTexts<'a>,
}

/// The format of a tracepoint, as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatText<'a> {
    /// Subsystem, such as `sched`; `ftrace` for the formats of the tracers.
    pub system: &'a [u8],
    /// Text of the file `format`.
    pub text: &'a [u8],
    /// Start of the text, in bytes from the start of the tracing data.
    pub offset: u32,
}

pub(super) const MAGIC: &[u8] = b"\x17\x08\x44tracing";

impl<'a> TracingData<'a> {
    /// Finds the parts. The time is proportional to the number of formats; allocates nothing.
    ///
    /// # Errors
    ///
    /// The field that is missing or invalid, with its offset in `bytes`.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, TracingError> {
        let mut at = TracingCursor { at: Cursor::new(bytes, 0), endianness: Endianness::Little };
        at.tag(MAGIC, "magic", "17 08 44 \"tracing\"")?;
        let version = at.string("version")?;
        at.endianness = match at.byte("endian", "0 for little or 1 for big", |byte| byte < 2)? {
            0 => Endianness::Little,
            _ => Endianness::Big,
        };
        let long_size = at.byte("long_size", "4 or 8", |byte| byte == 4 || byte == 8)?;
        let page_at = at.at.offset();
        let page_size = at.number("page_size")?;
        if page_size == 0 {
            return Err(TracingError::invalid("page_size", Some(0), "more than 0", page_at));
        }
        at.tag(b"header_page\0", "header_page", "the text \"header_page\"")?;
        let header_page = at.file("header_page")?;
        at.tag(b"header_event\0", "header_event", "the text \"header_event\"")?;
        let header_event = at.file("header_event")?;
        let formats = FormatTexts::new(&mut at)?;
        let mut walked = formats;
        while walked.next_text()?.is_some() {}
        at = walked.at;
        let kallsyms = at.short_file("kallsyms")?;
        let printk_formats = at.short_file("printk_formats")?;
        let has_cmdlines = is_at_least_0_6(version);
        let saved_cmdlines = has_cmdlines.then(|| at.file("saved_cmdlines")).transpose()?;
        let rest = at.at.rest();
        Ok(Self {
            version,
            endianness: at.endianness,
            long_size,
            page_size,
            header_page,
            header_event,
            kallsyms,
            printk_formats,
            saved_cmdlines,
            rest,
            formats,
        })
    }

    /// Returns the formats as texts: first those of the tracers, then those of each system.
    #[must_use]
    pub fn formats(&self) -> FormatTexts<'a> {
        self.formats
    }

    /// Returns the bytes of a `long` of the kernel: 4 or 8.
    ///
    /// This is the size of `commit` in the kernel's ring page. If that is unknown, it is the recorder's `long_size`;
    /// the recorder may be a 32-bit program on a 64-bit kernel.
    #[cfg(feature = "tracepoint")]
    #[must_use]
    pub fn kernel_long_size(&self) -> u8 {
        let lines = self.header_page.split(|&byte| byte == b'\n');
        let commit = lines.filter_map(grammar::field).find(|field| field.declaration.name == b"commit");
        match commit.map(|field| field.size) {
            Some(4) => 4,
            Some(8) => 8,
            _ => self.long_size,
        }
    }
}

/// Returns whether the version, read as a number, is at least 0.6. perf decides in the same way.
fn is_at_least_0_6(version: &[u8]) -> bool {
    let mut halves = version.splitn(2, |&byte| byte == b'.');
    let whole = halves.next().unwrap_or_default();
    let tenth = halves.next().and_then(|half| half.first()).copied().unwrap_or(b'0');
    whole.iter().any(|byte| (b'1'..=b'9').contains(byte)) || (b'6'..=b'9').contains(&tenth)
}

/// The formats of [`TracingData`], as texts; made by [`TracingData::formats`].
#[derive(Clone, Copy, Debug)]
pub struct FormatTexts<'a> {
    at: TracingCursor<'a>,
    system: &'a [u8],
    formats_left: u32,
    /// `None` before the end of the tracers' formats, which have no system name.
    systems_left: Option<u32>,
}

impl<'a> FormatTexts<'a> {
    fn new(at: &mut TracingCursor<'a>) -> Result<Self, TracingError> {
        let formats_left = at.number("ftrace.count")?;
        Ok(Self { at: *at, system: b"ftrace", formats_left, systems_left: None })
    }

    fn next_text(&mut self) -> Result<Option<FormatText<'a>>, TracingError> {
        loop {
            if let Some(left) = self.formats_left.checked_sub(1) {
                self.formats_left = left;
                let text = self.at.file("format")?;
                let end = self.at.at.offset();
                let offset = end.saturating_sub(u32::try_from(text.len()).unwrap_or(u32::MAX));
                return Ok(Some(FormatText { system: self.system, text, offset }));
            }
            let systems_left = match self.systems_left {
                Some(left) => left,
                None => self.at.number("systems.count")?,
            };
            let Some(left) = systems_left.checked_sub(1) else {
                self.systems_left = Some(0);
                return Ok(None);
            };
            self.systems_left = Some(left);
            self.system = self.at.string("system")?;
            self.formats_left = self.at.number("system.count")?;
        }
    }
}

impl<'a> Iterator for FormatTexts<'a> {
    type Item = FormatText<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        // An error is impossible: `TracingData::parse` has read all formats.
        self.next_text().ok().flatten()
    }
}

/// Takes fields from the front, with numbers in the byte order of the recorder.
#[derive(Clone, Copy, Debug)]
struct TracingCursor<'a> {
    at: Cursor<'a>,
    endianness: Endianness,
}

impl<'a> TracingCursor<'a> {
    fn tag(
        &mut self,
        tag: &'static [u8],
        field: &'static str,
        must: &'static str,
    ) -> Result<(), TracingError> {
        let offset = self.at.offset();
        let bytes = self.at.bytes(tag.len() as u64, field)?;
        match bytes.iter().zip(tag).position(|(byte, tag)| byte != tag) {
            None => Ok(()),
            Some(wrong) => {
                let at = offset.saturating_add(u32::try_from(wrong).unwrap_or(u32::MAX));
                Err(TracingError::invalid(field, bytes.get(wrong).copied(), must, at))
            }
        }
    }

    fn byte(
        &mut self,
        field: &'static str,
        must: &'static str,
        is: impl FnOnce(u8) -> bool,
    ) -> Result<u8, TracingError> {
        let offset = self.at.offset();
        let byte = *self.at.fixed::<u8>(field)?;
        if is(byte) { Ok(byte) } else { Err(TracingError::invalid(field, Some(byte), must, offset)) }
    }

    fn number(&mut self, field: &'static str) -> Result<u32, TracingError> {
        Ok(match self.endianness {
            Endianness::Little => self.at.fixed::<U32<LittleEndian>>(field)?.get(),
            Endianness::Big => self.at.fixed::<U32<BigEndian>>(field)?.get(),
        })
    }

    /// Takes a string up to its NUL.
    fn string(&mut self, field: &'static str) -> Result<&'a [u8], TracingError> {
        let mut string = self.at;
        let string = string.string(field)?;
        let _with_nul = self.at.bytes((string.len() as u64).saturating_add(1), field)?;
        Ok(string)
    }

    /// Takes a 64-bit size and that number of bytes.
    fn file(&mut self, field: &'static str) -> Result<&'a [u8], TracingError> {
        let size = match self.endianness {
            Endianness::Little => self.at.fixed::<U64<LittleEndian>>(field)?.get(),
            Endianness::Big => self.at.fixed::<U64<BigEndian>>(field)?.get(),
        };
        Ok(self.at.bytes(size, field)?)
    }

    /// Takes a 32-bit size and that number of bytes.
    fn short_file(&mut self, field: &'static str) -> Result<&'a [u8], TracingError> {
        let size = self.number(field)?;
        Ok(self.at.bytes(u64::from(size), field)?)
    }
}
