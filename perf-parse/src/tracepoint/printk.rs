//! The strings whose addresses the kernel writes to events.

use alloc::vec::Vec;

/// The strings of `printk_formats`, by their addresses.
///
/// Kernel: `/sys/kernel/tracing/printk_formats`.
///
/// # Examples
///
/// ```
/// use perf_parse::tracepoint::PrintkFormats;
///
/// let strings = PrintkFormats::new(b"0xffffffff82a3b2c1 : \"Start context switch\"\n");
/// assert_eq!(strings.get(0xffff_ffff_82a3_b2c1), Some(&b"Start context switch"[..]));
/// assert_eq!(strings.get(0), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintkFormats<'a> {
    /// In ascending order of addresses.
    strings: Vec<(u64, &'a [u8])>,
}

impl<'a> PrintkFormats<'a> {
    /// Reads the text of [`TracingData::printk_formats`](super::TracingData::printk_formats), which has a line
    /// `0xADDRESS : "STRING"` for each string. Other lines are skipped. As perf does, this removes the quotes and a `\n`
    /// at the end.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        let mut strings: Vec<_> = text.split(|&byte| byte == b'\n').filter_map(line).collect();
        strings.sort_by_key(|(address, _)| *address);
        Self { strings }
    }

    /// Returns the string at an address; the first one if the text has several.
    #[must_use]
    pub fn get(&self, address: u64) -> Option<&'a [u8]> {
        let first = self.strings.partition_point(|(of, _)| *of < address);
        self.strings.get(first).filter(|(of, _)| *of == address).map(|(_, string)| *string)
    }
}

fn line(line: &[u8]) -> Option<(u64, &[u8])> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    let (address, string) = line.split_at_checked(colon)?;
    let address = core::str::from_utf8(address.trim_ascii()).ok()?;
    let address = u64::from_str_radix(address.strip_prefix("0x").unwrap_or(address), 16).ok()?;
    let string = string.strip_prefix(b":")?;
    let string = string.strip_prefix(b" ").unwrap_or(string);
    let string = string.strip_prefix(b"\"").unwrap_or(string);
    let string = string.strip_suffix(b"\"").unwrap_or(string);
    Some((address, string.strip_suffix(b"\\n").unwrap_or(string)))
}
