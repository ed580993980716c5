//! The text of a perf map or of kallsyms. A perf map equals a plain model; every symbol of kallsyms is found at its start.

use perf_symbol::{FileBytes, Kallsyms, PerfMap, SymbolLimits, demangle};

/// The first byte of `data` selects the text.
pub fn run(data: &[u8]) -> bool {
    let Some((&kind, text)) = data.split_first() else { return false };
    let limits = SymbolLimits::default();
    let bytes = FileBytes::new(text.to_vec());
    match kind % 3 {
        0 => perf_map(text, bytes, &limits),
        1 => {
            let Ok(kallsyms) = Kallsyms::parse(bytes, &limits) else { return false };
            let table = kallsyms.symtab();
            for symbol in table.iter().filter(|symbol| symbol.start < symbol.end) {
                assert_eq!(table.find(symbol.start), Some(symbol));
            }
        }
        _ => assert!(demangle(text, 1000).len() <= text.len().max(1000)),
    }
    true
}

/// Compares with a look at each line.
fn perf_map(text: &[u8], bytes: FileBytes, limits: &SymbolLimits) {
    let map = PerfMap::parse(bytes, limits);
    let lines: Vec<_> = text.split(|&byte| byte == b'\n').filter_map(parse).collect();
    for &(start, end, _) in &lines {
        for address in [start, end.saturating_sub(1), end, start.wrapping_sub(1)] {
            let expected = lines.iter().rev().find(|line| line.0 <= address && address < line.1);
            assert_eq!(map.find(address).map(|symbol| symbol.name), expected.map(|line| line.2));
        }
    }
}

/// Parses a line by another way than the crate.
fn parse(line: &[u8]) -> Option<(u64, u64, &[u8])> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let is_blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    let number = |text: &'_ [u8]| -> Option<(u64, usize)> {
        let end = text.iter().position(is_blank)?;
        let head = core::str::from_utf8(&text[..end]).ok()?;
        let digits = head.strip_prefix("0x").or(head.strip_prefix("0X")).unwrap_or(head);
        let is_number = !digits.is_empty() && digits.len() <= 16 && !digits.starts_with('+');
        let rest = end + text[end..].iter().take_while(|byte| is_blank(byte)).count();
        Some((u64::from_str_radix(digits, 16).ok().filter(|_| is_number)?, rest))
    };
    let (start, at) = number(line)?;
    let (size, name) = number(&line[at..])?;
    let name = &line[at + name..];
    (!name.is_empty()).then_some((start, start.saturating_add(size.max(1)), name))
}
