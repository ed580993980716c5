//! The letters of a common information entry (CIE) that gimli does not know.

use perf_abi::endian::Endianness;

use super::memory::number;
use crate::bytes::FileBytes;

/// Letters without data that say nothing of registers or memory: return addresses are signed with key B of pointer
/// authentication, and the frames are tagged (memory tagging extension).
///
/// DWARF for the Arm 64-bit Architecture, "Call frame information".
const PASSED_OVER: &[u8] = b"BG";

/// All others.
const KNOWN: &[u8] = b"zLPRS";

/// A letter without data that gimli knows: that of a signal trampoline.
const SIGNAL: u8 = b'S';

/// A section of unwind tables that gimli can read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Readable {
    pub(crate) bytes: FileBytes,
    /// The offsets of the entries that claim to be of signal trampolines although they are not, in ascending order.
    pub(crate) changed: Vec<usize>,
}

impl Readable {
    /// Returns a section of a file for 64-bit Arm, in which letters that gimli does not know are others. gimli (0.33) fails
    /// for an entry that has one, and so for all functions that `-mbranch-protection=pac-ret+b-key` protects.
    ///
    /// Takes time for each entry. The section is copied if an entry has to be changed.
    pub(crate) fn new(section: FileBytes, order: Endianness, is_eh_frame: bool) -> Self {
        let mut changed = Vec::new();
        let mut copy = None;
        let entries = CfiEntries { section: &section, order, is_eh_frame, at: 0 };
        for (entry, letters) in entries {
            let string = section.get(letters..).unwrap_or_default();
            let length = string.iter().position(|&byte| byte == 0).unwrap_or(0);
            let string = string.get(..length).unwrap_or_default();
            let is_readable =
                string.iter().all(|letter| KNOWN.contains(letter) || PASSED_OVER.contains(letter));
            if !is_readable || !string.iter().any(|letter| PASSED_OVER.contains(letter)) {
                continue;
            }
            if !string.contains(&SIGNAL) {
                changed.push(entry);
            }
            let copy: &mut Vec<u8> = copy.get_or_insert_with(|| section.to_vec());
            let string = copy.get_mut(letters..letters.saturating_add(length)).unwrap_or_default();
            string.iter_mut().filter(|it| PASSED_OVER.contains(it)).for_each(|it| *it = SIGNAL);
        }
        Self { bytes: copy.map_or(section, FileBytes::new), changed }
    }

    /// Returns whether functions with a CIE are signal trampolines, if gimli takes them for that.
    pub(crate) fn is_signal(&self, cie: usize) -> bool {
        self.changed.binary_search(&cie).is_err()
    }
}

/// The common information entries of a section: the offset of each, and that of its letters.
struct CfiEntries<'a> {
    section: &'a [u8],
    order: Endianness,
    is_eh_frame: bool,
    at: usize,
}

impl CfiEntries<'_> {
    /// Reads an entry, and goes on to the next one. The letters are those of a CIE.
    fn read(&mut self) -> Option<(usize, Option<usize>)> {
        let entry = self.at;
        let read = |at: usize, size: u8| number(self.section.get(at..)?, size, self.order);
        let (length, id_size, id_at) = match read(entry, 4)? {
            0xffff_ffff => (read(entry.checked_add(4)?, 8)?, 8, entry.checked_add(12)?),
            length => (length, 4, entry.checked_add(4)?),
        };
        self.at = id_at.checked_add(usize::try_from(length).ok()?)?;
        // An entry without a length ends a list. Linkers join lists.
        if length == 0 {
            return Some((entry, None));
        }
        // In `.eh_frame`, the id of the 64-bit form has 4 bytes, too.
        let size = if self.is_eh_frame { 4 } else { id_size };
        let of_cie =
            if self.is_eh_frame { 0 } else { u64::MAX >> (64_u32.saturating_sub(u32::from(size) * 8)) };
        let is_cie = read(id_at, size)? == of_cie;
        // After the version.
        let letters = id_at.checked_add(usize::from(size))?.checked_add(1)?;
        Some((entry, is_cie.then_some(letters)))
    }
}

impl Iterator for CfiEntries<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        loop {
            if let (entry, Some(letters)) = self.read()? {
                return Some((entry, letters));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: u32, letters: &[u8]) -> Vec<u8> {
        let rest = [&id.to_le_bytes()[..], &[1], letters, &[0, 7, 7]].concat();
        [&(rest.len() as u32).to_le_bytes()[..], &rest].concat()
    }

    fn changed(section: &[Vec<u8>], is_eh_frame: bool) -> (Vec<u8>, Vec<usize>) {
        let it = Readable::new(FileBytes::new(section.concat()), Endianness::Little, is_eh_frame);
        (it.bytes.to_vec(), it.changed)
    }

    #[test]
    fn letters_of_arm() {
        let section =
            [entry(0, b"zR"), entry(20, b"zRB"), entry(0, b"zRB"), vec![0; 4], entry(0, b"zPLRSBG")];
        let (bytes, offsets) = changed(&section, true);
        let expected =
            [entry(0, b"zR"), entry(20, b"zRB"), entry(0, b"zRS"), vec![0; 4], entry(0, b"zPLRSSS")];
        assert_eq!((bytes, offsets), (expected.concat(), vec![29]));
        let (bytes, offsets) = changed(&[entry(u32::MAX, b"B"), entry(0, b"B")], false);
        assert_eq!((bytes, offsets), ([entry(u32::MAX, b"S"), entry(0, b"B")].concat(), vec![0]));
        // The 64-bit form.
        let long = |letters: &[u8]| {
            [&[0xff; 4][..], &[11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], letters, &[0; 3]].concat()
        };
        assert_eq!(changed(&[long(b"zRB"), entry(0, b"zRB")], true).1, [0, 23]);
    }

    #[test]
    fn other_letters_and_damage() {
        for section in [entry(0, b"zRX"), entry(0, b"eh"), entry(0, b""), entry(0, b"zRB")[..12].to_vec()] {
            assert_eq!(changed(core::slice::from_ref(&section), true), (section, vec![]));
        }
        for length in 0..20 {
            let section = entry(0, b"zRB");
            changed(&[section[..length.min(section.len())].to_vec()], true);
            changed(&[vec![0xff; length]], false);
        }
    }
}
