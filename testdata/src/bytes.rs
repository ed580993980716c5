//! Bytes in either byte order, appended field by field.

use byteorder::{BE, ByteOrder, LE};
use perf_abi::attr::Attr;
use perf_abi::endian::{Endian, Endianness};

/// Bytes of a capture in one byte order. One description makes both:
///
/// ```
/// let [little, big] = [false, true].map(|big| testdata::Bytes::new(big).u16(0x1234).raw(b"ab").out);
/// assert_eq!((&*little, &*big), (&b"\x34\x12ab"[..], &b"\x12\x34ab"[..]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes {
    big: bool,
    /// The bytes so far.
    pub out: Vec<u8>,
}

impl Bytes {
    /// Starts with no bytes; `big` means big-endian byte order.
    #[must_use]
    pub const fn new(big: bool) -> Self {
        Self { big, out: Vec::new() }
    }

    /// Starts with no bytes, in the byte order `O`.
    #[must_use]
    pub fn of<O: Endian>() -> Self {
        Self::new(O::ENDIANNESS == Endianness::Big)
    }

    /// Returns the number of bytes so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Returns whether there are no bytes yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// Appends bytes as they are.
    #[must_use]
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.out.extend_from_slice(bytes);
        self
    }

    /// Appends the `width` low bytes of a number: 1, 2, 4 or 8.
    #[must_use]
    pub fn number(self, width: usize, value: u64) -> Self {
        let mut bytes = [0; 8];
        if self.big {
            BE::write_u64(&mut bytes, value);
            self.raw(&bytes[8 - width..])
        } else {
            LE::write_u64(&mut bytes, value);
            self.raw(&bytes[..width])
        }
    }

    /// Appends a byte.
    #[must_use]
    pub fn u8(self, value: u8) -> Self {
        self.number(1, value.into())
    }

    /// Appends a 16-bit number.
    #[must_use]
    pub fn u16(self, value: u16) -> Self {
        self.number(2, value.into())
    }

    /// Appends a 32-bit number.
    #[must_use]
    pub fn u32(self, value: u32) -> Self {
        self.number(4, value.into())
    }

    /// Appends a process id, thread id or CPU.
    #[must_use]
    pub fn i32(self, value: i32) -> Self {
        self.u32(value as u32)
    }

    /// Appends a 64-bit number.
    #[must_use]
    pub fn u64(self, value: u64) -> Self {
        self.number(8, value)
    }

    /// Appends 64-bit numbers.
    #[must_use]
    pub fn u64s(self, values: &[u64]) -> Self {
        values.iter().fold(self, |bytes, &value| bytes.u64(value))
    }

    /// Appends this number of zeros.
    #[must_use]
    pub fn zeros(mut self, count: usize) -> Self {
        self.out.resize(self.out.len() + count, 0);
        self
    }

    /// Appends bytes, padded with zeros to `size`.
    #[must_use]
    pub fn padded(self, bytes: &[u8], size: usize) -> Self {
        self.raw(bytes).zeros(size - bytes.len())
    }

    /// Appends a string of a feature section as perf writes it: the length with padding, and the bytes with a NUL,
    /// padded with zeros to a multiple of 64.
    #[must_use]
    pub fn string(self, text: &str) -> Self {
        let len = (text.len() + 1).next_multiple_of(64);
        self.u32(len as u32).padded(text.as_bytes(), len)
    }

    /// Appends the first `size` bytes of an event's attr, and zeros after the last field that is known.
    ///
    /// The fields are those of `struct perf_event_attr`; `size` is also the value of its field `size`.
    #[must_use]
    pub fn attr(self, attr: &Attr, size: usize) -> Self {
        let whole = Self::new(self.big)
            .u32(attr.kind.0)
            .u32(size as u32)
            .u64s(&[attr.config, attr.sample_period, attr.sample_type.0, attr.read_format.0])
            .u64(if self.big { precise_ip_reversed(attr.flags.0).reverse_bits() } else { attr.flags.0 })
            .u32(attr.wakeup_events)
            .u32(attr.bp_type.0)
            .u64s(&[attr.config1, attr.config2, attr.branch_sample_type.0, attr.sample_regs_user])
            .u32(attr.sample_stack_user)
            .i32(attr.clockid)
            .u64(attr.sample_regs_intr)
            .u32(attr.aux_watermark)
            .u16(attr.sample_max_stack)
            .u16(attr.reserved_2)
            .u32(attr.aux_sample_size)
            .u32(if self.big { attr.aux_action.0.reverse_bits() } else { attr.aux_action.0 })
            .u64s(&[attr.sig_data, attr.config3, attr.config4]);
        let known = size.min(whole.len());
        self.padded(&whole.out[..known], size)
    }

    /// Makes a record with the bytes as its payload.
    ///
    /// # Panics
    ///
    /// If there are more bytes than a record can have.
    #[must_use]
    pub fn record(self, kind: u32, misc: u16) -> Vec<u8> {
        let size = u16::try_from(self.len() + 8).expect("a record has at most 65535 bytes");
        Self::new(self.big).u32(kind).u16(misc).u16(size).raw(&self.out).out
    }
}

/// Exchanges the two bits of `precise_ip`, the only flag of an attr with more than one bit.
///
/// A big-endian compiler allocates bit-fields from the highest bit, so the order of all flags is reversed. The order of
/// these two bits is not reversed, because they are one number.
pub(crate) fn precise_ip_reversed(flags: u64) -> u64 {
    const PRECISE_IP: u64 = 0b11 << 15;
    let bits = flags & PRECISE_IP;
    flags & !PRECISE_IP | bits << 1 & PRECISE_IP | bits >> 1 & PRECISE_IP
}

#[cfg(test)]
mod tests {
    use super::Bytes;

    /// Compares the encoder with literal bytes in both byte orders.
    #[test]
    fn numbers_in_both_orders() {
        let all = |big| {
            let bytes = Bytes::new(big).u8(1).u16(0x203).u32(0x405_0607).u64(0x809_0a0b_0c0d_0e0f).i32(-2);
            bytes.u64s(&[1, 2]).number(4, 0xff_1122_3344).padded(b"a", 2).zeros(1).out
        };
        #[rustfmt::skip]
        let little = [
            1, 3, 2, 7, 6, 5, 4, 15, 14, 13, 12, 11, 10, 9, 8, 0xfe, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 0, 0, 0,
            2, 0, 0, 0, 0, 0, 0, 0, 0x44, 0x33, 0x22, 0x11, b'a', 0, 0,
        ];
        #[rustfmt::skip]
        let big = [
            1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 0, 0, 0, 0, 1,
            0, 0, 0, 0, 0, 0, 0, 2, 0x11, 0x22, 0x33, 0x44, b'a', 0, 0,
        ];
        assert_eq!(all(false), little);
        assert_eq!(all(true), big);
        assert_eq!(Bytes::new(true).u8(7).record(9, 2), [0, 0, 0, 9, 0, 2, 0, 9, 7]);
        assert_eq!(Bytes::new(false).string("").out.len(), 68);
    }
}
