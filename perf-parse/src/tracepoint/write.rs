//! Writing tracing data in the layout of perf's copy of the kernel's tracing directory.

use alloc::vec::Vec;

use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian, U32, U64};
use zerocopy::IntoBytes;

use super::data::MAGIC;
use crate::write::WriteError;

/// Tracing data to write, version 0.6: the texts of files from the tracing directory of the recording kernel.
///
/// perf: `tracing_data_get`, `tools/perf/util/trace-event-info.c`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracingDataFields {
    /// Bytes of a `long` on the recorder: 4 or 8.
    pub long_size: u8,
    /// Bytes of a page on the recorder.
    pub page_size: u32,
    /// `events/header_page`.
    pub header_page: Vec<u8>,
    /// `events/header_event`.
    pub header_event: Vec<u8>,
    /// Formats of the tracers: `events/ftrace/*/format`. perf copies the formats of recorded events, so it writes none
    /// here.
    pub ftrace: Vec<Vec<u8>>,
    /// The other systems by name, each with the formats of its recorded tracepoints: `events/SYSTEM/*/format`.
    pub systems: Vec<(Vec<u8>, Vec<Vec<u8>>)>,
    /// `/proc/kallsyms`; perf leaves it empty since version 4.
    pub kallsyms: Vec<u8>,
    /// `printk_formats`.
    pub printk_formats: Vec<u8>,
    /// `saved_cmdlines`.
    pub saved_cmdlines: Vec<u8>,
}

impl TracingDataFields {
    /// Appends the tracing data to `out`, in this byte order: the payload of the feature `TRACING_DATA`.
    ///
    /// # Errors
    ///
    /// [`WriteError::Invalid`] for a system name that contains a NUL, and for more formats or bytes than a 32-bit
    /// count allows. After an error `out` is unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::endian::Endianness;
    /// use perf_parse::tracepoint::{TracingData, TracingDataFields};
    ///
    /// let fields = TracingDataFields {
    ///     long_size: 8,
    ///     page_size: 4096,
    ///     systems: vec![(b"sched".to_vec(), vec![b"name: sched_switch\n".to_vec()])],
    ///     ..TracingDataFields::default()
    /// };
    /// let mut bytes = Vec::new();
    /// fields.write(&mut bytes, Endianness::NATIVE)?;
    /// let data = TracingData::parse(&bytes)?;
    /// assert_eq!(data.formats().next().map(|format| format.system), Some(&b"sched"[..]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn write(&self, out: &mut Vec<u8>, endianness: Endianness) -> Result<(), WriteError> {
        let start = out.len();
        let written = match endianness {
            Endianness::Little => self.append::<LittleEndian>(out),
            Endianness::Big => self.append::<BigEndian>(out),
        };
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    fn append<O: Endian>(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(b"0.6\0");
        out.extend_from_slice(&[u8::from(O::ENDIANNESS == Endianness::Big), self.long_size]);
        out.extend_from_slice(U32::<O>::new(self.page_size).as_bytes());
        out.extend_from_slice(b"header_page\0");
        file::<O>(out, &self.header_page);
        out.extend_from_slice(b"header_event\0");
        file::<O>(out, &self.header_event);
        formats::<O>(out, "ftrace", &self.ftrace)?;
        count::<O>(out, "systems", self.systems.len())?;
        for (system, texts) in &self.systems {
            if system.contains(&0) {
                return Err(WriteError::Invalid { field: "system", must: "free of NULs" });
            }
            out.extend_from_slice(system);
            out.push(0);
            formats::<O>(out, "system", texts)?;
        }
        for (field, text) in [("kallsyms", &self.kallsyms), ("printk_formats", &self.printk_formats)] {
            count::<O>(out, field, text.len())?;
            out.extend_from_slice(text);
        }
        file::<O>(out, &self.saved_cmdlines);
        Ok(())
    }
}

/// Appends a count of things or bytes in 32 bits.
fn count<O: Endian>(out: &mut Vec<u8>, field: &'static str, count: usize) -> Result<(), WriteError> {
    let must = "fewer than 2^32";
    let count = u32::try_from(count).map_err(|_| WriteError::Invalid { field, must })?;
    out.extend_from_slice(U32::<O>::new(count).as_bytes());
    Ok(())
}

/// Appends a 64-bit size and the bytes of `text`.
fn file<O: Endian>(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice(U64::<O>::new(text.len() as u64).as_bytes());
    out.extend_from_slice(text);
}

fn formats<O: Endian>(out: &mut Vec<u8>, field: &'static str, texts: &[Vec<u8>]) -> Result<(), WriteError> {
    count::<O>(out, field, texts.len())?;
    texts.iter().for_each(|text| file::<O>(out, text));
    Ok(())
}
