//! Lines for units whose lines are not wanted.

/// Returns a line number program without files and rows. A unit with lines has to have a program that can be parsed.
///
/// DWARF 2, 6.2.4: each version of DWARF may have programs of this one.
pub(super) fn program(is_little_endian: bool) -> Vec<u8> {
    // The version; the number of bytes of the header after its length.
    let (version, header_length) = (2_u16, 7_u32);
    // The length of instructions, whether rows are statements, the base and the range of lines, the first special opcode;
    // the end of the folders, and that of the files.
    let header = [1, 1, 0, 1, 1, 0, 0];
    // That of what follows it.
    let length = 13_u32;
    let numbers = if is_little_endian {
        (length.to_le_bytes(), version.to_le_bytes(), header_length.to_le_bytes())
    } else {
        (length.to_be_bytes(), version.to_be_bytes(), header_length.to_be_bytes())
    };
    [&numbers.0[..], &numbers.1, &numbers.2, &header].concat()
}

#[cfg(test)]
mod tests {
    use gimli::{DebugLine, DebugLineOffset, RunTimeEndian};

    use super::*;

    #[test]
    fn it_has_no_rows() {
        for (is_little_endian, endian) in [(true, RunTimeEndian::Little), (false, RunTimeEndian::Big)] {
            let bytes = program(is_little_endian);
            let section = DebugLine::new(&bytes, endian);
            for address_size in [4, 8] {
                let program = section.program(DebugLineOffset(0), address_size, None, None).unwrap();
                assert!(program.header().file_names().is_empty());
                assert!(program.header().raw_program_buf().is_empty());
                assert!(program.rows().next_row().unwrap().is_none());
            }
            assert!(DebugLine::new(&bytes[..16], endian).program(DebugLineOffset(0), 8, None, None).is_err());
        }
    }
}
