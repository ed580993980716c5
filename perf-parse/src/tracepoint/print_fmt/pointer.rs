//! The kernel's formats of pointers: `%p` and the letters after it.
//!
//! Kernel: `pointer`, `lib/vsprintf.c`.

use perf_abi::endian::Endianness;

use super::ast::NodeId;
use super::error::PrintError;
use super::eval::Eval;
use super::num::CInteger;
use super::printf::{Conversion, FieldWidth, Flags};

const AF_INET: u64 = 2;
const AF_INET6: u64 = 10;

impl<'a> Eval<'_, 'a> {
    /// Prints an argument of `%p`.
    pub(super) fn pointer(
        &mut self,
        letters: &[u8],
        argument: NodeId,
        size: FieldWidth,
    ) -> Result<(), PrintError<'a>> {
        match letters {
            [b'S' | b'F', ..] => self.function(argument, true),
            [b'B', ..] => self.caller(argument),
            [b's' | b'f', ..] => self.function(argument, false),
            [b'M', b'F', ..] => self.mac(argument, b"-", false),
            [b'M', rest @ ..] => self.mac(argument, b":", rest.first() == Some(&b'R')),
            [b'm', rest @ ..] => self.mac(argument, b"", rest.first() == Some(&b'R')),
            [kind @ (b'I' | b'i'), b'4', ..] => {
                let address = self.fixed(argument)?;
                self.ipv4(address, *kind == b'i')
            }
            [kind @ (b'I' | b'i'), b'6', rest @ ..] => {
                let address = self.fixed(argument)?;
                self.ipv6(address, *kind == b'i', rest.first() == Some(&b'c'))
            }
            [b'I' | b'i', b'S', rest @ ..] => {
                let bytes = self.place(argument)?;
                self.socket(bytes, rest)
            }
            [b'U', rest @ ..] => {
                let uuid = self.fixed(argument)?;
                self.uuid(uuid, rest.first().copied().unwrap_or(b'b'))
            }
            [b'h', rest @ ..] => {
                let bytes = self.place(argument)?;
                // The width is the number of bytes.
                let len = if size.width == 0 { 1 } else { size.width as usize };
                let must = "no longer than the bytes";
                let bytes = bytes.get(..len).ok_or(PrintError::Argument { must })?;
                let between: &[u8] = match rest.first() {
                    Some(b'C') => b":",
                    Some(b'D') => b"-",
                    Some(b'N') => b"",
                    _ => b" ",
                };
                self.bytes(bytes, between)
            }
            [b'b', b'l', ..] => {
                let mask = self.place(argument)?;
                self.mask_list(mask, size.width)
            }
            [b'b', ..] => {
                let mask = self.place(argument)?;
                self.bitmask(mask)
            }
            _ => {
                let value = self.address(argument)?;
                // As in C.
                if value == 0 { self.put(b"(nil)") } else { self.hex(value) }
            }
        }
    }

    /// Returns the bytes of an argument that has a fixed size.
    fn fixed<const N: usize>(&mut self, argument: NodeId) -> Result<[u8; N], PrintError<'a>> {
        let must = match N {
            4 => "an IPv4 address of 4 bytes",
            6 => "a MAC address of 6 bytes",
            _ => "an address of 16 bytes",
        };
        self.place(argument)?.first_chunk().copied().ok_or(PrintError::Argument { must })
    }

    /// Returns an argument as an address of the kernel.
    fn address(&mut self, argument: NodeId) -> Result<u64, PrintError<'a>> {
        Ok(CInteger::new(self.number(argument)?, self.long_size, false).value)
    }

    fn function(&mut self, argument: NodeId, with_offset: bool) -> Result<(), PrintError<'a>> {
        let address = self.address(argument)?;
        match self.addresses.function(address) {
            Some((name, offset)) => {
                self.put(&name)?;
                if with_offset {
                    self.put(b"+")?;
                    self.hex(offset)?;
                }
                Ok(())
            }
            None => self.hex(address),
        }
    }

    /// Prints a return address. The call is before it, so the byte before it is looked up.
    ///
    /// Kernel: `sprint_backtrace`, `kernel/kallsyms.c`.
    fn caller(&mut self, argument: NodeId) -> Result<(), PrintError<'a>> {
        let address = self.address(argument)?;
        match self.addresses.function(address.wrapping_sub(1)) {
            Some((name, offset)) => {
                self.put(&name)?;
                self.put(b"+")?;
                self.hex(offset.wrapping_add(1))
            }
            None => self.hex(address),
        }
    }

    fn mac(&mut self, argument: NodeId, between: &[u8], is_reversed: bool) -> Result<(), PrintError<'a>> {
        let mut address: [u8; 6] = self.fixed(argument)?;
        if is_reversed {
            address.reverse();
        }
        self.bytes(&address, between)
    }

    fn ipv4(&mut self, address: [u8; 4], with_zeros: bool) -> Result<(), PrintError<'a>> {
        let conversion = Conversion::Unsigned { bytes: 1, radix: 10, upper: false };
        let precision = with_zeros.then_some(3);
        for (index, byte) in address.into_iter().enumerate() {
            if index > 0 {
                self.put(b".")?;
            }
            self.integer(conversion, byte.into(), Flags::default(), FieldWidth { width: 0, precision })?;
        }
        Ok(())
    }

    fn ipv6(&mut self, address: [u8; 16], is_bare: bool, is_short: bool) -> Result<(), PrintError<'a>> {
        if is_short {
            return self.short_ipv6(address);
        }
        for (index, group) in address.chunks_exact(2).enumerate() {
            if index > 0 && !is_bare {
                self.put(b":")?;
            }
            self.bytes(group, b"")?;
        }
        Ok(())
    }

    /// Prints an address without the longest run of zeros. The last 4 bytes of a mapped or ISATAP address are printed
    /// as IPv4.
    fn short_ipv6(&mut self, address: [u8; 16]) -> Result<(), PrintError<'a>> {
        let mut groups = [0_u16; 8];
        for (group, bytes) in groups.iter_mut().zip(address.chunks_exact(2)) {
            *group = bytes.iter().fold(0, |all, &byte| all << 8 | u16::from(byte));
        }
        let is_mapped = matches!(groups, [0, 0, 0, 0, 0, 0xffff, _, _]);
        let is_isatap = matches!(groups, [_, _, _, _, of, 0x5efe, _, _] if of | 0x0200 == 0x0200);
        let with_ipv4 = is_mapped || is_isatap;
        let groups = groups.get(..if with_ipv4 { 6 } else { 8 }).unwrap_or_default();
        // The first of the longest runs, of two groups or more.
        let run = |start: usize| groups.iter().skip(start).take_while(|group| **group == 0).count();
        let longest = (0..groups.len()).rev().max_by_key(|&start| run(start)).filter(|&start| run(start) > 1);
        let conversion = Conversion::Unsigned { bytes: 2, radix: 16, upper: false };
        let mut index = 0;
        let mut needs_colon = false;
        while let Some(group) = groups.get(index) {
            if longest == Some(index) {
                self.put(b"::")?;
                needs_colon = false;
                index = index.saturating_add(run(index));
                continue;
            }
            if needs_colon {
                self.put(b":")?;
            }
            self.integer(conversion, (*group).into(), Flags::default(), FieldWidth::default())?;
            needs_colon = true;
            index = index.saturating_add(1);
        }
        if with_ipv4 {
            if needs_colon {
                self.put(b":")?;
            }
            self.ipv4(address.last_chunk().copied().unwrap_or_default(), false)?;
        }
        Ok(())
    }

    /// Prints a `struct sockaddr`. `letters` are those after `%pIS`: `p` adds the port, `c` shortens.
    pub(super) fn socket(&mut self, bytes: &[u8], letters: &[u8]) -> Result<(), PrintError<'a>> {
        let must = "a socket address of IPv4 or IPv6";
        let family = bytes.first_chunk::<2>().map(|family| self.unsigned(family));
        let port =
            bytes.get(2..4).map_or(0, |port| port.iter().fold(0, |all, &byte| all << 8 | u64::from(byte)));
        let with_port = letters.contains(&b'p');
        match family {
            Some(AF_INET) => {
                let address = bytes.get(4..).and_then(|rest| rest.first_chunk().copied());
                self.ipv4(address.ok_or(PrintError::Argument { must })?, false)?;
            }
            Some(AF_INET6) => {
                let address = bytes.get(8..).and_then(|rest| rest.first_chunk().copied());
                let address = address.ok_or(PrintError::Argument { must })?;
                if with_port {
                    self.put(b"[")?;
                }
                self.ipv6(address, false, letters.contains(&b'c'))?;
                if with_port {
                    self.put(b"]")?;
                }
            }
            // As in the kernel.
            Some(_) => return self.put(b"(einval)"),
            None => return Err(PrintError::Argument { must }),
        }
        if with_port {
            self.put(b":")?;
            self.decimal(port)?;
        }
        Ok(())
    }

    fn uuid(&mut self, uuid: [u8; 16], kind: u8) -> Result<(), PrintError<'a>> {
        const BIG: [usize; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
        const LITTLE: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
        let order = if matches!(kind, b'l' | b'L') { LITTLE } else { BIG };
        let start = self.out.len();
        for (count, index) in order.into_iter().enumerate() {
            if matches!(count, 4 | 6 | 8 | 10) {
                self.put(b"-")?;
            }
            self.bytes(uuid.get(index..=index).unwrap_or_default(), b"")?;
        }
        if matches!(kind, b'L' | b'B') {
            self.out.get_mut(start..).unwrap_or_default().make_ascii_uppercase();
        }
        Ok(())
    }

    /// Prints the numbers of the set bits, and their ranges.
    fn mask_list(&mut self, mask: &[u8], bits: u32) -> Result<(), PrintError<'a>> {
        let bits = if bits == 0 { mask.len().saturating_mul(8) } else { bits as usize };
        let long = usize::from(self.long_size);
        let flip = match self.order {
            Endianness::Little => 0,
            Endianness::Big => long.saturating_sub(1),
        };
        let is_set = |bit: usize| mask.get((bit / 8) ^ flip).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
        self.spend(bits.min(mask.len().saturating_mul(8)))?;
        let mut bit = 0;
        let mut is_first = true;
        while bit < bits.min(mask.len().saturating_mul(8)) {
            let mut end = bit;
            while end < bits && is_set(end) {
                end = end.saturating_add(1);
            }
            if end > bit {
                if !is_first {
                    self.put(b",")?;
                }
                is_first = false;
                self.decimal(bit as u64)?;
                let last = end.saturating_sub(1);
                if last > bit {
                    self.put(b"-")?;
                    self.decimal(last as u64)?;
                }
            }
            bit = end.saturating_add(1);
        }
        Ok(())
    }
}
