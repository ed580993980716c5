//! Lines of `/proc/PID/maps`.

use alloc::borrow::Cow;
use std::io::{self, BufReader, Read};

use crate::maps::{self, ProcMapping};

/// Returns a typical mapping with this name.
fn named(name: &[u8]) -> ProcMapping<'_> {
    ProcMapping {
        start: 0x40_0000,
        len: 0xc000,
        prot: 5,
        flags: 2,
        pgoff: 0x2000,
        maj: 0xfe,
        min: 1,
        ino: 41038,
        name: Cow::Borrowed(name),
    }
}

#[test]
fn lines_and_their_fields() {
    const HEAD: &[u8] = b"00400000-0040c000 r-xp 00002000 fe:01 41038";
    for (tail, name) in [
        (&b"                      /bin/cat"[..], &b"/bin/cat"[..]),
        (b" /a b  c", b"/a b  c"),
        (b" /ends with a space ", b"/ends with a space "),
        (b" /two\\012lines\\012", b"/two\nlines\n"),
        (b" \\012", b"\n"),
        (b" /back\\slash\\01", b"/back\\slash\\01"),
        (b" /gone (deleted)", b"/gone (deleted)"),
        (b" //deleted", b"//deleted"),
        (b" [heap]", b"[heap]"),
        (b" [anon:a name]", b"[anon:a name]"),
        (b" /not \xff utf-8", b"/not \xff utf-8"),
        (b" ", b""),
        (b"", b""),
    ] {
        let line = [HEAD, tail].concat();
        assert_eq!(ProcMapping::parse(&line), Some(named(name)), "{}", line.escape_ascii());
    }
    let line = b"ffffffffff600000-ffffffffffffffff ---s ffffffffffffffff fffff:fffff 18446744073709551615 x";
    let largest = ProcMapping {
        start: 0xffff_ffff_ff60_0000,
        len: 0x9f_ffff,
        prot: 0,
        flags: 1,
        pgoff: u64::MAX,
        maj: 0xf_ffff,
        min: 0xf_ffff,
        ino: u64::MAX,
        name: Cow::Borrowed(b"x"),
    };
    assert_eq!(ProcMapping::parse(line), Some(largest));
    assert_eq!(ProcMapping::parse(b"0-1 -w-p 0 0:0 0").map(|it| (it.prot, it.flags)), Some((2, 2)));
}

/// Lines that do not describe a mapping, each for a different reason.
const UNREADABLE: [&[u8]; 16] = [
    b"",
    b"00400000",
    b"00400000-0040c000",
    b"00400000-0040c000 r-xp 00002000 fe:01",
    b"00400000-0040c000 r-xp 00002000 fe01 41038 /bin/cat",
    b"-0040c000 r-xp 00002000 fe:01 41038 /bin/cat",
    b"0040c000-00400000 r-xp 00002000 fe:01 41038 /bin/cat",
    b"+400000-0040c000 r-xp 00002000 fe:01 41038 /bin/cat",
    b"00400000-10000000000000000 r-xp 00002000 fe:01 41038 /bin/cat",
    b"00400000-0040c000 r-x 00002000 fe:01 41038 /bin/cat",
    b"00400000-0040c000 xr-p 00002000 fe:01 41038 /bin/cat",
    b"00400000-0040c000 r-x- 00002000 fe:01 41038 /bin/cat",
    b"00400000-0040c000 r-xp 0000200g fe:01 41038 /bin/cat",
    b"00400000-0040c000 r-xp 00002000 100000000:01 41038 /bin/cat",
    b"00400000-0040c000 r-xp 00002000 fe:01 18446744073709551616 /bin/cat",
    b"00400000-0040c000 r-xp 00002000 fe:01 41038 /bin/\0cat",
];

/// Returns the names that were parsed, and the number of lines that were not.
fn names(source: impl Read) -> (Vec<Vec<u8>>, u64) {
    let mut names = Vec::new();
    let unreadable = maps::each(BufReader::new(source), |mapping| {
        names.push(mapping.name.into_owned());
        Ok::<_, core::convert::Infallible>(())
    });
    (names, unreadable.unwrap())
}

#[test]
fn lines_that_cannot_be_read_are_counted() {
    for line in UNREADABLE {
        assert_eq!(ProcMapping::parse(line), None, "{}", line.escape_ascii());
    }
    let lines = UNREADABLE.iter().map(|line| [line, &b"\n0-1 r-xp 0 0:0 0 good\n"[..]].concat());
    let text = lines.collect::<Vec<_>>().concat();
    assert_eq!(names(&text[..]), (vec![b"good".to_vec(); 16], 16));
    assert_eq!(names(&b"0-1 r-xp 0 0:0 0 no newline"[..]), (vec![b"no newline".to_vec()], 0));
}

#[test]
fn a_line_without_end_takes_bounded_memory() {
    let head = &b"0-1 r-xp 0 0:0 0 "[..];
    let text = head.chain(io::repeat(b'a').take(1 << 24)).chain(&b"\n0-1 r-xp 0 0:0 0 next\n"[..]);
    let (names, unreadable) = names(text);
    assert_eq!(unreadable, 0);
    assert_eq!(names.len(), 2);
    assert_eq!(names[0].len(), (1 << 15) - head.len());
    assert_eq!(names[1], b"next");
}

#[test]
fn a_process_that_ends_has_no_more_mappings() {
    struct Ends;
    impl Read for Ends {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            // ESRCH.
            Err(io::Error::from_raw_os_error(3))
        }
    }
    assert_eq!(names((&b"0-1 r-xp 0 0:0 0 first\n"[..]).chain(Ends)), (vec![b"first".to_vec()], 0));
}
