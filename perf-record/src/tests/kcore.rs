//! Copies of a kernel's code, from a made `/proc`.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt};

use super::Folder;
use crate::copy_kcore;

const SYMBOLS: &str = "ffffffff81000000 T _stext\nffffffff81000010 T schedule\nffffffff81002ff0 T _etext\n\
    ffffffffa0001004 t work\t[mod]\n";
const MODULES: &str = "mod 16384 0 - Live 0xffffffffa0000000\n";

/// Returns an ELF image of 64 bits in this machine's byte order: segments with their addresses, sizes, offsets and flags.
fn kcore(segments: &[(u64, u64, u64, u32)]) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x00\x01".to_vec();
    bytes[5] = if cfg!(target_endian = "little") { 1 } else { 2 };
    bytes.resize(16, 0);
    let half = |bytes: &mut Vec<u8>, number: u16| bytes.extend(number.to_ne_bytes());
    half(&mut bytes, 4);
    half(&mut bytes, 62);
    bytes.extend(1_u32.to_ne_bytes());
    // e_entry, e_phoff, e_shoff
    [0_u64, 64, 0].iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    bytes.extend(0_u32.to_ne_bytes());
    for number in [64, 56, u16::try_from(segments.len()).unwrap(), 0, 0, 0] {
        half(&mut bytes, number);
    }
    for &(address, size, offset, flags) in segments {
        bytes.extend(1_u32.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        [offset, address, 0, size, size, 4096].iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    }
    bytes
}

/// Returns a machine whose kernel starts 0x1000 bytes into the first segment of its memory.
fn machine() -> Folder {
    let folder = Folder::with(&[("proc/kallsyms", SYMBOLS), ("proc/modules", MODULES)]);
    let code = [
        (0xffff_ffff_8100_0000 - 0x1000, 0x10000, 0x2000, 7),
        (0xffff_8880_0000_0000, 0x1000, 0x1000, 6),
        // Ends before the last module.
        (0xffff_ffff_a000_0000, 0x2000, 0x20000, 7),
    ];
    folder.put("proc/kcore", &kcore(&code));
    let file = File::options().write(true).open(folder.0.join("proc/kcore")).unwrap();
    file.write_all_at(b"the first page", 0x3000).unwrap();
    file.write_all_at(b"the last byte", 0x3000 + 0x3000 - 13).unwrap();
    file.write_all_at(b"a module", 0x20000).unwrap();
    file.set_len(0x30000).unwrap();
    folder
}

#[test]
fn the_code_and_nothing_else() {
    let machine = machine();
    let folder = machine.0.join("kcore_dir");
    copy_kcore(&machine.0.join("proc"), &folder).unwrap();
    assert_eq!(fs::read_to_string(folder.join("kallsyms")).unwrap(), SYMBOLS);
    assert_eq!(fs::read_to_string(folder.join("modules")).unwrap(), MODULES);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&folder), 0o700);
    assert!(["kcore", "kallsyms", "modules"].iter().all(|name| mode(&folder.join(name)) == 0o400));

    let copy = fs::read(folder.join("kcore")).unwrap();
    let page = perf_open::ring::page_bytes();
    let (first, second) = (page as u64, (page + 0x3000_usize.next_multiple_of(page)) as u64);
    let expected = kcore(&[
        (0xffff_ffff_8100_0000, second - first, first, 7),
        (0xffff_ffff_a000_0000, 0x2000, second, 7),
    ]);
    if page == 4096 {
        let (head, rest) = copy.split_at(expected.len());
        // The alignment of segments is that of pages.
        assert_eq!(head, expected);
        assert!(rest[..page - head.len()].iter().all(|&byte| byte == 0));
        assert!(copy[page..].starts_with(b"the first page"));
        assert!(copy[..page + 0x3000].ends_with(b"the last byte"));
        assert!(copy[page + 0x3000..].starts_with(b"a module"));
        assert_eq!(copy.len(), page + 0x3000 + 0x2000);
    }
}

/// Returns the error of a copy, after changes of the machine.
fn error(change: impl Fn(&Folder)) -> String {
    let machine = machine();
    change(&machine);
    copy_kcore(&machine.0.join("proc"), &machine.0.join("kcore_dir")).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_copied() {
    let missing = error(|machine| fs::remove_file(machine.0.join("proc/kcore")).unwrap());
    assert!(
        missing.contains("proc/kcore: No such file") && missing.contains("CONFIG_PROC_KCORE"),
        "{missing}"
    );
    let hidden = error(|machine| machine.put("proc/kallsyms", b"0000000000000000 T _stext\n"));
    assert!(hidden.contains("kptr_restrict"), "{hidden}");
    assert!(error(|machine| machine.put("proc/kcore", b"")).contains("is not an ELF file"));
    assert!(error(|machine| machine.put("proc/kcore", &[0x7f; 4096])).contains("is not an ELF file"));
    // Its table of segments is cut off.
    let cut = kcore(&[(0, 1, 0, 7)])[..64].to_vec();
    assert!(error(|machine| machine.put("proc/kcore", &cut)).contains("is not an ELF file"));
    let elsewhere = kcore(&[(0, 0x1000, 0, 7)]);
    assert!(error(|machine| machine.put("proc/kcore", &elsewhere)).contains("does not have the code"));
    let huge = kcore(&[(0xffff_0000_0000_0000, 0xffff_ffff_ffff, 0, 7)]);
    let apart = SYMBOLS
        .replace("ffffffff81002ff0", "ffffffffff000000")
        .replace("ffffffff81000000", "ffff000000000000");
    let large = error(|machine| {
        machine.put("proc/kcore", &huge);
        machine.put("proc/kallsyms", apart.as_bytes());
    });
    assert!(large.contains("more than 4 GiB"), "{large}");
    let exists = error(|machine| fs::create_dir(machine.0.join("kcore_dir")).unwrap());
    assert!(exists.contains("File exists"), "{exists}");
}
