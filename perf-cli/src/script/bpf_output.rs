//! The bytes that a BPF program wrote with `bpf_perf_event_output`.

use crate::escape::push_hex as push_bytes;

/// The number of bytes on a line.
const WIDTH: usize = 8;

/// Appends the bytes of a sample, and the string that they are if they are one.
///
/// perf: `perf_sample__fprintf_bpf_output`, `tools/perf/builtin-script.c`.
pub(super) fn push(out: &mut Vec<u8>, raw: &[u8]) {
    let is_shown = |byte: &u8| matches!(byte, b' '..=b'~');
    out.push(b'\n');
    for (number, line) in raw.chunks(WIDTH).enumerate() {
        let title: &[u8] = if number == 0 { b"      BPF output: " } else { b"                  " };
        out.extend_from_slice(title);
        push_bytes(out, &((number * WIDTH) as u16).to_be_bytes());
        out.push(b':');
        for byte in line {
            out.push(b' ');
            push_bytes(out, &[*byte]);
        }
        out.resize(out.len() + 3 * (WIDTH - line.len()) + 2, b' ');
        out.extend(line.iter().map(|byte| if is_shown(byte) { *byte } else { b'.' }));
        out.resize(out.len() + WIDTH - line.len(), b' ');
        out.push(b'\n');
    }
    // Text, then at least one NUL, then nothing but NULs.
    let end = raw.iter().position(|&byte| byte == 0).unwrap_or(raw.len());
    if let Some((text, nuls)) = raw.split_at_checked(end).filter(|(_, nuls)| !nuls.is_empty())
        && text.iter().all(is_shown)
        && nuls.iter().all(|&byte| byte == 0)
    {
        out.extend_from_slice(b"      BPF string: \"");
        out.extend_from_slice(text);
        out.extend_from_slice(b"\"\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(raw: &[u8]) -> String {
        let mut out = Vec::new();
        push(&mut out, raw);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_string_is_printed_after_its_bytes() {
        let text = concat!(
            "\n      BPF output: 0000: 68 69 00 00              hi..    \n",
            "      BPF string: \"hi\"\n"
        );
        assert_eq!(pushed(b"hi\0\0"), text);
    }

    #[test]
    fn bytes_that_are_no_string() {
        let text = concat!(
            "\n      BPF output: 0000: 61 00 62 63 64 65 66 67  a.bcdefg\n",
            "                  0008: ff                       .       \n"
        );
        assert_eq!(pushed(b"a\0bcdefg\xff"), text);
        assert_eq!(pushed(b""), "\n");
        assert!(!pushed(b"no end").contains("string"));
    }
}
