//! A program of Go without symbols, by the parts that its lines are read from.

use perf_symbol::{ElfImage, FileBytes, GoLines};

/// The text, the table, the inlined calls, and the data of the runtime.
const TEXT: u64 = 0x40_1000;
const TABLE: u64 = 0x50_0000;
const TREES: u64 = 0x51_0000;
const DATA: u64 = 0x52_0000;

/// Number of bytes of code.
const CODE: u64 = 0x1000;

/// The first byte of `data` has the size of addresses and the byte order. Two numbers of two bytes follow, which are the lengths
/// of the table and of the inlined calls, and then these and the data of the runtime.
pub fn run(data: &[u8]) -> bool {
    let [flags, a, b, c, d, rest @ ..] = data else { return false };
    let (is_64, is_little_endian) = (flags & 1 == 0, flags & 2 == 0);
    let length = |low: u8, high: u8| usize::from(u16::from_le_bytes([low, high])).min(rest.len());
    let (table, rest) = rest.split_at(length(*a, *b));
    let (trees, data) = rest.split_at(length(*c, *d).min(rest.len()));
    let file = elf(is_64, is_little_endian, [(TABLE, table, 4), (TREES, trees, 4), (DATA, data, 6)]);
    let Ok(image) = ElfImage::parse(FileBytes::new(file)) else { return false };
    let Some(mut lines) = GoLines::load(&image) else { return false };
    let mut look_up = |address| {
        let mut frames = Vec::new();
        lines.look_up(address, &mut |frame| {
            frames.push((frame.name.map(<[u8]>::to_vec), frame.file.map(<[u8]>::to_vec), frame.line));
        });
        frames
    };
    for address in
        [0, TEXT.wrapping_sub(1), TEXT + CODE, TABLE, u64::MAX].into_iter().chain(TEXT..TEXT + 0x100)
    {
        let frames = look_up(address);
        assert!(frames.len() <= 256);
        assert!(frames.iter().all(|(_, _, line)| *line != Some(0)));
        assert!(frames.is_empty() || (TEXT..TEXT + CODE).contains(&address));
        assert_eq!(look_up(address), frames);
    }
    true
}

/// Returns a file without section headers: its code, and segments with their addresses, bytes and flags.
fn elf(is_64: bool, is_little_endian: bool, parts: [(u64, &[u8], u64); 3]) -> Vec<u8> {
    let number = |value: u64, size: usize| match is_little_endian {
        true => value.to_le_bytes()[..size].to_vec(),
        false => value.to_be_bytes()[8 - size..].to_vec(),
    };
    let word = |value| number(value, if is_64 { 8 } else { 4 });
    let (header, program) = if is_64 { (64_u64, 56_u64) } else { (52, 32) };
    let mut out = b"\x7fELF".to_vec();
    out.extend([
        if is_64 { 2 } else { 1 },
        if is_little_endian { 1 } else { 2 },
        1,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    ]);
    out.extend(
        [number(2, 2), number(62, 2), number(1, 4), word(TEXT), word(header), word(0), number(0, 4)].concat(),
    );
    for value in [header, program, 4, 0, 0, 0] {
        out.extend(number(value, 2));
    }
    let code = vec![0xcc; CODE as usize];
    let segments = [(TEXT, &code[..], 5)].into_iter().chain(parts);
    let mut offset = 0x200;
    let mut body = Vec::new();
    for (address, bytes, flags) in segments {
        let size = word(bytes.len() as u64);
        let place = [word(offset), word(address), word(address), size.clone(), size].concat();
        out.extend(number(1, 4));
        out.extend(match is_64 {
            true => [number(flags, 4), place, word(8)].concat(),
            false => [place, number(flags, 4), word(8)].concat(),
        });
        offset += bytes.len() as u64;
        body.extend_from_slice(bytes);
    }
    out.resize(0x200, 0);
    out.extend(body);
    out
}
