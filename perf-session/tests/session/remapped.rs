//! Memory that was laid over the code of a file.

use crate::{EXEC, Id, READ, Records, USER, session};

/// Executable memory without a file, as a program maps it.
fn memory(records: Records, start: u64, end: u64) -> Records {
    records.mmap2(USER, 5, (start, end - start, 0), &Id::Inode(0), (READ | EXEC, 0x32), "//anon")
}

/// The file below the mapping at an address of the process 5, and its addresses.
fn below(records: impl Fn(Records) -> Records, addr: u64) -> Option<(String, u64, u64)> {
    let it = session(records);
    let file = it.maps(it.thread(5).unwrap()).unwrap().find(addr)?.remapped()?;
    let name = String::from_utf8(file.dso().name().to_vec()).unwrap();
    assert!(file.remapped().is_none());
    Some((name, file.range().start, file.range().end))
}

fn file(records: Records) -> Records {
    records.map(5, 0x1_0000, 0x2_0000, "/bin/x")
}

#[test]
fn memory_over_the_code_of_a_file() {
    let whole = Some(("/bin/x".into(), 0x1_0000, 0x2_0000));
    assert_eq!(below(|it| memory(file(it), 0x1_0000, 0x2_0000), 0x1_8000), whole);
    assert_eq!(below(|it| memory(file(it), 0x1_2000, 0x1_4000), 0x1_3000), whole);
    // The rest of the file is as it was.
    assert_eq!(below(|it| memory(file(it), 0x1_2000, 0x1_4000), 0x1_4000), None);
    // `mprotect` maps it again, as a whole or in part.
    let again = |it| memory(memory(file(it), 0x1_2000, 0x1_8000), 0x1_4000, 0x1_6000);
    for addr in [0x1_3000, 0x1_5000, 0x1_7000] {
        assert_eq!(below(again, addr), whole);
    }
    // The copy of a process has it too.
    let forked = |it| memory(file(it), 0x1_2000, 0x1_4000).fork(6, 6, 5, 5);
    let it = session(forked);
    let maps = it.maps(it.thread(6).unwrap()).unwrap();
    assert!(maps.find(0x1_2000).unwrap().remapped().is_some());
}

#[test]
fn memory_elsewhere_has_no_file_below() {
    // It begins before the file, ends after it, or is beside it.
    for (start, end) in [(0xf000, 0x1_8000), (0x1_8000, 0x2_1000), (0x2_0000, 0x2_1000), (0xf000, 0x2_1000)] {
        assert_eq!(below(|it| memory(file(it), start, end), start), None, "{start:x}");
    }
    // Another process has the file there.
    let other = |it: Records| memory(it.map(6, 0x1_0000, 0x2_0000, "/bin/x"), 0x1_0000, 0x2_0000);
    assert_eq!(below(other, 0x1_0000), None);
    // The image of before an exec is gone.
    assert_eq!(below(|it| memory(file(it).exec(5, 5, "y"), 0x1_0000, 0x2_0000), 0x1_0000), None);
    // A file of data, memory without code over a file, and a file over a file.
    let data = |it: Records| it.mmap2(USER, 5, (0x1_0000, 0x1_0000, 0), &Id::Inode(7), (READ, 2), "/bin/x");
    assert_eq!(below(|it| memory(data(it), 0x1_0000, 0x2_0000), 0x1_0000), None);
    let heap =
        |it: Records| file(it).mmap2(USER, 5, (0x1_0000, 0x1000, 0), &Id::Inode(0), (READ, 2), "//anon");
    assert_eq!(below(heap, 0x1_0000), None);
    assert_eq!(below(|it| memory(heap(it), 0x1_0000, 0x1_1000), 0x1_0000), None);
    assert_eq!(below(|it| file(it).map(5, 0x1_0000, 0x1_1000, "/bin/y"), 0x1_0000), None);
}
