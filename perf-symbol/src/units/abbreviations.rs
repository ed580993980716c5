//! Tables of abbreviations, without parsing more than is needed.

use gimli::{
    Abbreviations, DebugAbbrev, DebugAbbrevOffset, DwForm, Dwarf, EndianSlice, Error, LittleEndian, Reader,
    Section, UnitHeader, constants,
};

use crate::budget::Metered;

/// Returns the abbreviation of the root of a unit, without the others; `None` if the unit has no root.
pub(super) fn of_root(
    dwarf: &Dwarf<Metered<'_>>,
    header: &UnitHeader<Metered<'_>>,
) -> Result<Option<Abbreviations>, Error> {
    let mut root = *dwarf.debug_info.reader();
    root.skip(header.debug_info_offset().map_or(0, |offset| offset.0))?;
    root.skip(header.header_size())?;
    let code = root.read_uleb128()?;
    let table = AbbreviationTable::of(dwarf, header.debug_abbrev_offset())?;
    let Some(declaration) = table.find(code)? else { return Ok(None) };
    // With the end of a table.
    let alone = [declaration, &[0]].concat();
    let alone = DebugAbbrev::from(EndianSlice::new(&alone, LittleEndian));
    alone.abbreviations(DebugAbbrevOffset(0)).map(Some)
}

/// Returns whether a form is that of a reference to another unit or another file, or may be.
fn is_of_others(form: DwForm) -> bool {
    matches!(
        form,
        constants::DW_FORM_ref_addr
            | constants::DW_FORM_ref_sup4
            | constants::DW_FORM_ref_sup8
            | constants::DW_FORM_GNU_ref_alt
            | constants::DW_FORM_indirect
    )
}

/// Returns whether entries of a unit may refer to other units.
pub(super) fn refers_to_others(
    dwarf: &Dwarf<Metered<'_>>,
    header: &UnitHeader<Metered<'_>>,
) -> Result<bool, Error> {
    AbbreviationTable::of(dwarf, header.debug_abbrev_offset())?.refers_to_others()
}

/// A table of abbreviations, and all that is after it in its section.
struct AbbreviationTable<'a>(Metered<'a>);

impl<'a> AbbreviationTable<'a> {
    fn of(dwarf: &Dwarf<Metered<'a>>, offset: DebugAbbrevOffset) -> Result<Self, Error> {
        let mut reader = *dwarf.debug_abbrev.reader();
        reader.skip(offset.0)?;
        Ok(Self(reader))
    }

    /// Returns the bytes of the abbreviation with a code; `None` if the table has none.
    fn find(&self, code: u64) -> Result<Option<&'a [u8]>, Error> {
        let mut found = None;
        self.each(|it, bytes, _| {
            found = Some(bytes).filter(|_| it == code);
            found.is_none()
        })?;
        Ok(found)
    }

    /// Returns whether entries may refer to other units.
    fn refers_to_others(&self) -> Result<bool, Error> {
        let mut refers = false;
        self.each(|_, _, of_this| {
            refers |= of_this;
            !refers
        })?;
        Ok(refers)
    }

    /// Calls `each` for each abbreviation until that returns false: with the code, the bytes, and whether a form is that of a
    /// reference to others.
    fn each(&self, mut each: impl FnMut(u64, &'a [u8], bool) -> bool) -> Result<(), Error> {
        let all = self.0.slice();
        let mut at = Leb128Reader(all);
        let mut next = || {
            let start = at.0;
            let code = at.next()?;
            if code == 0 {
                return Some(false);
            }
            let (_tag, _has_children) = (at.next()?, at.byte()?);
            let mut refers = false;
            loop {
                let (name, form) = (at.next()?, at.next()?);
                // What does not fit is no form.
                let form = DwForm(u16::try_from(form).unwrap_or(u16::MAX));
                if form == constants::DW_FORM_implicit_const {
                    at.next()?;
                }
                if (name, form) == (0, constants::DW_FORM_null) {
                    break;
                }
                refers |= is_of_others(form);
            }
            let length = start.len().checked_sub(at.0.len())?;
            Some(each(code, start.get(..length)?, refers))
        };
        let is_whole = loop {
            match next() {
                Some(true) => {}
                ended => break ended.is_some(),
            }
        };
        self.0.take(all.len().saturating_sub(at.0.len()))?;
        if is_whole { Ok(()) } else { Err(Error::UnexpectedEof(self.0.offset_id())) }
    }
}

/// Numbers in LEB128.
struct Leb128Reader<'a>(&'a [u8]);

impl Leb128Reader<'_> {
    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    /// Returns the next number, without the bits that 64 have no room for. A number with a sign is another one, but as long.
    #[inline]
    fn next(&mut self) -> Option<u64> {
        let mut byte = self.byte()?;
        let mut number = u64::from(byte & 0x7f);
        let mut shift = 0_u32;
        while byte & 0x80 != 0 {
            byte = self.byte()?;
            shift = shift.saturating_add(7);
            number |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use gimli::RunTimeEndian;

    use super::*;
    use crate::budget::Budget;

    fn table(bytes: &[u8], test: impl FnOnce(AbbreviationTable<'_>)) {
        let budget = Budget::new(0);
        budget.begin();
        test(AbbreviationTable(Metered::new(bytes, RunTimeEndian::Little, &budget)));
    }

    /// Two abbreviations: a unit with a name, and a call with a reference in its unit and with a constant.
    const TWO: &[u8] = &[
        1, 0x11, 1, 0x03, 0x0e, 0, 0, // DW_TAG_compile_unit, DW_AT_name in DW_FORM_strp
        0x82, 1, 0x2e, 0, 0x31, 0x13, 0x3b, 0x21, 0xff, 0x7f, 0,
        0, // code 130, DW_FORM_ref4, DW_FORM_implicit_const -129
        0,
    ];

    #[test]
    fn abbreviations_are_found_by_their_codes() {
        table(TWO, |it| {
            assert_eq!(it.find(1), Ok(Some(&TWO[..7])));
            assert_eq!(it.find(130), Ok(Some(&TWO[7..19])));
            assert_eq!(it.find(2), Ok(None));
        });
        // One that was cut is an error, unless what is wanted is before.
        table(&TWO[..18], |it| {
            assert_eq!(it.find(1), Ok(Some(&TWO[..7])));
            assert!(it.find(130).is_err() && it.refers_to_others().is_err());
        });
    }

    #[test]
    fn references_to_others_are_found() {
        table(TWO, |it| assert_eq!(it.refers_to_others(), Ok(false)));
        for (form, refers) in
            [(0x10, true), (0x1c, true), (0x24, true), (0x16, true), (0x20, false), (0x11, false)]
        {
            let mut bytes = TWO.to_vec();
            bytes[12] = form;
            table(&bytes, |it| assert_eq!(it.refers_to_others(), Ok(refers), "{form:#x}"));
        }
    }
}
