//! The kernel: kallsyms, vmlinux, modules, KSYMBOL records, the vDSO.

use std::sync::Arc;

use perf_parse::abi::record::CpuMode;
use perf_session::{Frame, Session};
use perf_symbol::{FileOrigin, NoSymbols, Symbolizer};

use crate::elf::{Elf, FUNC, SYMTAB};
use crate::{KERNEL, Memory, Records, names, options, symbolizer, text};

const TEXT: u64 = 0xffff_ffff_9000_0000;
const MODULE: u64 = 0xffff_ffff_c000_0000;
const ID: [u8; 20] = [0xab; 20];
const ID_PATH: &str = "ab/ababababababababababababababababababab";
const KALLSYMS: &str = "ffffffff90000000 T _text\nffffffff90001000 T f\nffffffff90002000 T _etext\n\
    ffffffffc0000010 t init\t[ext4]\nffffffffc0000040 t exit\t[ext4]\n";

/// A kernel that was recorded at [`TEXT`], with a build id of 20 bytes.
fn records(byte: u8) -> Records {
    let build_id = text(Records::bytes().i32(-1).raw(&[byte; 20]).zeros(4), "[kernel.kallsyms]");
    Records::default()
        .record(67, KERNEL, build_id)
        .kernel(TEXT, 0x100_0000, TEXT, "[kernel.kallsyms]_text")
        .kernel(MODULE, 0x1000, 0, "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko")
}

/// `/sys/kernel/notes`.
fn notes(byte: u8) -> Vec<u8> {
    let other = [4u32, 4, 7].map(u32::to_ne_bytes).concat();
    let head = [4u32, 20, 3].map(u32::to_ne_bytes).concat();
    [&other[..], b"Xen\0", &[0; 4], &head, b"GNU\0", &[byte; 20]].concat()
}

fn running(byte: u8) -> Memory {
    Memory::default().with("/sys/kernel/notes", notes(byte)).with("/proc/kallsyms", KALLSYMS)
}

#[test]
fn kallsyms_of_the_running_kernel() {
    let session = records(0xab).session();
    let mut it = symbolizer(running(0xab));
    assert_eq!(names(&mut it, &session, 0, TEXT + 0x1010), ["f+0x10 kallsyms"]);
    assert_eq!(names(&mut it, &session, 0, MODULE + 0x14), ["init+0x4 kallsyms"]);
    // Of another build id, they are not used.
    let mut it = symbolizer(running(0xcd));
    assert!(names(&mut it, &session, 0, TEXT + 0x1010).is_empty());
    assert!(
        matches!(it.lookups()[0].why, Some(NoSymbols::WrongBuildId(Some(id))) if id.as_bytes() == [0xcd; 20])
    );
    // Nor for another machine.
    let mut options = options();
    options.symfs = Some("/root".into());
    let mut it = Symbolizer::with_files(options, Arc::new(running(0xab)));
    assert!(names(&mut it, &session, 0, TEXT + 0x1010).is_empty());
}

/// perf records the kernel up to the end of its text. What follows has symbols too, but a module that is not mapped may
/// have been loaded later.
#[test]
fn addresses_after_the_text_of_the_kernel() {
    let text = format!(
        "{KALLSYMS}ffffffff91000000 T start_kernel\nffffffff91000100 T after\nffffffffc1000000 t other\t[x]\n"
    );
    let session = records(0xab).session();
    let mut it = symbolizer(running(0xab).with("/proc/kallsyms", text));
    let mut names = |ip, mode| {
        let frame = Frame { ip, mode, mapping: None };
        it.functions(&session, &frame, true, None).iter().map(crate::shown).collect::<Vec<_>>()
    };
    let after = TEXT + 0x100_0000;
    assert_eq!(names(after + 0x44, CpuMode::KERNEL), ["start_kernel+0x44 kallsyms"]);
    assert!(names(after + 0x44, CpuMode::USER).is_empty());
    assert!(names(after + 0x44, CpuMode::GUEST_KERNEL).is_empty());
    assert!(names(TEXT - 0x10, CpuMode::KERNEL).is_empty());
    assert!(names(MODULE + 0x100_0008, CpuMode::KERNEL).is_empty());
}

#[test]
fn hidden_addresses() {
    let hidden = "0000000000000000 T _text\n0000000000000000 T f\n";
    let session = records(0xab).session();
    let mut it = symbolizer(running(0xab).with("/proc/kallsyms", hidden));
    assert!(names(&mut it, &session, 0, TEXT + 0x1010).is_empty());
    assert_eq!(it.lookups()[0].why, Some(NoSymbols::Hidden));
}

#[test]
fn kallsyms_of_the_cache_and_those_that_are_given() {
    let session = records(0xab).session();
    let path = format!("/cache/.build-id/{ID_PATH}/kallsyms");
    let mut it = symbolizer(Memory::default().with(&path, KALLSYMS));
    assert_eq!(names(&mut it, &session, 0, TEXT + 0x1010), ["f+0x10 kallsyms"]);
    // The kernel was at another address when these were copied.
    let moved = KALLSYMS.replace("ffffffff9", "ffffffff8");
    let mut options = options();
    options.kallsyms = Some("/copy".into());
    let mut it = Symbolizer::with_files(options, Arc::new(Memory::default().with("/copy", moved)));
    assert_eq!(names(&mut it, &session, 0, TEXT + 0x1010), ["f+0x10 kallsyms"]);
}

fn vmlinux() -> Vec<u8> {
    let symbols = [(FUNC, 0xffff_ffff_8100_1000, 0, "_text"), (FUNC, 0xffff_ffff_8100_2000, 0x20, "g")];
    Elf::new(0xffff_ffff_8100_0000).symbols(SYMTAB, &symbols).build_id(&ID).build()
}

/// perf lists the build id of the kernel under the path of the file that it found.
#[test]
fn vmlinux_at_the_recorded_path() {
    const PATH: &str = "/usr/lib/debug/boot/vmlinux-6.1.0";
    let listed = |byte: u8| {
        let build_id = text(Records::bytes().i32(-1).raw(&[byte; 20]).zeros(4), PATH);
        let kernel = Records::default().record(67, KERNEL, build_id);
        kernel.kernel(TEXT, 0x100_0000, TEXT, "[kernel.kallsyms]_text").session()
    };
    let mut it = symbolizer(Memory::default().with(PATH, vmlinux()));
    assert_eq!(names(&mut it, &listed(0xab), 0, TEXT + 0x1008), ["g+0x8 symtab"]);
    let looked = &it.lookups()[0];
    assert_eq!((looked.path.to_str(), looked.origin), (Some(PATH), Some(FileOrigin::Path)));
    // A newer kernel is at the path by now.
    let mut it = symbolizer(Memory::default().with(PATH, vmlinux()));
    assert!(names(&mut it, &listed(0xcd), 0, TEXT + 0x1008).is_empty());
    // Below the root of another machine, it is not at the path of this one.
    let at_root = |path: &str| {
        let mut options = options();
        options.symfs = Some("/root".into());
        Symbolizer::with_files(options, Arc::new(Memory::default().with(path, vmlinux())))
    };
    assert!(names(&mut at_root(PATH), &listed(0xab), 0, TEXT + 0x1008).is_empty());
    let mut it = at_root(&format!("/root{PATH}"));
    assert_eq!(names(&mut it, &listed(0xab), 0, TEXT + 0x1008), ["g+0x8 symtab"]);
}

#[test]
fn vmlinux_relocated() {
    let session = records(0xab).session();
    let mut options = options();
    options.vmlinux = Some("/vmlinux".into());
    let files = || Arc::new(Memory::default().with("/vmlinux", vmlinux()));
    let mut it = Symbolizer::with_files(options.clone(), files());
    assert_eq!(names(&mut it, &session, 0, TEXT + 0x1004), ["g+0x4 symtab"]);
    // Of another build id, it is not used.
    let session = records(0xcd).session();
    let mut it = Symbolizer::with_files(options, files());
    assert!(names(&mut it, &session, 0, TEXT + 0x1004).is_empty());
    // By its build id.
    let path = format!("/usr/lib/debug/.build-id/{ID_PATH}.debug");
    let session = records(0xab).session();
    let mut it = symbolizer(Memory::default().with(&path, vmlinux()));
    assert_eq!(names(&mut it, &session, 0, TEXT + 0x1004), ["g+0x4 symtab"]);
}

#[test]
fn a_module_by_its_file() {
    let module = &include_bytes!("../fixtures/module-x86_64.o")[..];
    let session = records(0xab).session();
    let path = "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko";
    let mut it = symbolizer(Memory::default().with(path, module));
    assert_eq!(names(&mut it, &session, 0, MODULE + 0x24), ["_start+0x4 symtab"]);
    let functions = it.functions(&session, &crate::frame(&session, 0, MODULE + 8), false, None);
    let shown: Vec<_> = functions.iter().map(|it| (it.line, it.is_inlined)).collect();
    assert_eq!(shown, [(Some(6), true), (Some(12), true), (Some(17), false)]);
    // kallsyms, which have all modules, are preferred for the name. The lines are those of the file.
    let mut it = symbolizer(running(0xab).with(path, module));
    let functions = it.functions(&session, &crate::frame(&session, 0, MODULE + 0x12), false, None);
    assert_eq!(functions.iter().map(crate::shown).collect::<Vec<_>>(), ["init+0x2 kallsyms"]);
    assert_eq!(functions[0].line, Some(18));
}

/// The frame of an address in the guest of the process 70.
fn guest_frame(session: &Session, ip: u64) -> Frame<'_> {
    let (misc, mode) = match ip {
        ..0x8000_0000_0000 => (5, CpuMode::GUEST_USER),
        _ => (4, CpuMode::GUEST_KERNEL),
    };
    let records = Records::default().record(9, misc, Records::bytes().u64(ip).i32(70).i32(70));
    let reader = records.reader();
    let record = reader.records().next().unwrap().unwrap();
    Frame { ip, mode, mapping: session.at(&record).unwrap().find(mode, ip) }
}

/// A guest has kernel, modules, files and processes of its own. The host's have the same paths, addresses and numbers here.
#[test]
fn guests_get_no_names_from_the_host() {
    const GUEST_KERNEL: u16 = 4;
    const GUEST_USER: u16 = 5;
    let module = "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko";
    let map =
        |start, size, pgoff, name| text(Records::bytes().i32(70).i32(70).u64s(&[start, size, pgoff]), name);
    let library = |misc, start, id: &[u8]| {
        let fixed = Records::bytes().i32(70).i32(70).u64s(&[start, 0x2000, 0]);
        let (bit, fixed) = match id.len() {
            0 => (0, fixed.u32(8).u32(1).u64(7).u64(0)),
            size => (1 << 14, fixed.u8(size as u8).zeros(3).padded(id, 20)),
        };
        (misc | bit, text(fixed.u32(5).u32(2), "/lib/a.so"))
    };
    let (host, host_library) = library(2, 0x7000_0000, &[]);
    let (guest, guest_library) = library(GUEST_USER, 0x7000_0000, &[]);
    let (guest_with_id, library_with_id) = library(GUEST_USER, 0x7001_0000, &ID[..4]);
    let id_of_path = text(Records::bytes().i32(70).raw(&ID).zeros(4), "/lib/a.so");
    let session = records(0xab)
        .record(67, 2, id_of_path)
        .record(1, GUEST_KERNEL, map(TEXT, 0x100_0000, TEXT, "[guest.kernel.kallsyms.70]_text"))
        .record(1, GUEST_KERNEL, map(MODULE, 0x1000, 0, module))
        .record(10, host, host_library)
        .record(10, guest, guest_library)
        .record(10, guest_with_id, library_with_id)
        .record(1, GUEST_USER, map(0x5000_0000, 0x1000, 0x5000_0000, "//anon"))
        .record(1, 2, map(0x5000_0000, 0x1000, 0x5000_0000, "//anon"))
        .session();
    let elf = |id: &[u8]| Elf::new(0).symbols(SYMTAB, &[(FUNC, 0x1010, 0x10, "f")]).build_id(id).build();
    let files = running(0xab)
        .with(module, &include_bytes!("../fixtures/module-x86_64.o")[..])
        .with("/lib/a.so", elf(&ID))
        .with("/cache/.build-id/ab/ababab/elf", elf(&ID[..4]))
        .with("/tmp/perf-70.map", "50000010 20 jitted\n");
    let mut it = symbolizer(files);
    let cases = [
        (0, TEXT + 0x1010, "f+0x10 kallsyms"),
        (0, MODULE + 0x14, "init+0x4 kallsyms"),
        (70, 0x7000_1014, "f+0x4 symtab"),
        (70, 0x5000_0014, "jitted+0x4 perf-map"),
    ];
    for (pid, ip, name) in cases {
        assert_eq!(names(&mut it, &session, pid, ip), [name]);
    }
    for (_, ip, _) in cases {
        let frame = guest_frame(&session, ip);
        assert!(frame.mapping.is_some(), "{ip:#x}");
        let functions = it.functions(&session, &frame, false, None);
        assert!(functions.is_empty(), "{ip:#x}: {functions:?}");
    }
    // A file of the same build id is the same file.
    let functions = it.functions(&session, &guest_frame(&session, 0x7001_1014), false, None);
    assert_eq!(functions.iter().map(crate::shown).collect::<Vec<_>>(), ["f+0x4 symtab"]);
    assert!(it.lookups().iter().any(|looked| looked.why == Some(NoSymbols::NotFound)));
}

#[test]
fn a_bpf_program_has_its_own_name() {
    let payload = text(Records::bytes().u64(MODULE + 0x10_0000).u32(0x100).u16(1).u16(0), "bpf_prog_1_f");
    let session = records(0xab).record(17, 0, payload).session();
    let mut it = symbolizer(Memory::default());
    assert_eq!(names(&mut it, &session, 0, MODULE + 0x10_0004), ["bpf_prog_1_f+0x4 ksymbol"]);
}

#[test]
fn the_vdso() {
    let id = [7, 7, 7, 7];
    let vdso = |name| Elf::new(0).symbols(SYMTAB, &[(FUNC, 0x1010, 0x10, name)]).build_id(&id).build();
    let session = Records::default().map(5, 0x7fff_7000_0000, 0x2000, &id, "[vdso]").session();
    let mut it = symbolizer(Memory { vdso: Some(vdso("running")), ..Memory::default() });
    assert_eq!(names(&mut it, &session, 5, 0x7fff_7000_1014), ["running+0x4 symtab"]);
    let mut it = symbolizer(Memory::default().with("/cache/.build-id/07/070707/vdso", vdso("cached")));
    assert_eq!(names(&mut it, &session, 5, 0x7fff_7000_1014), ["cached+0x4 symtab"]);
    // The running kernel has another one.
    let session = Records::default().map(5, 0x7fff_7000_0000, 0x2000, &[8, 8], "[vdso]").session();
    let mut it = symbolizer(Memory { vdso: Some(vdso("running")), ..Memory::default() });
    assert!(names(&mut it, &session, 5, 0x7fff_7000_1014).is_empty());
}

/// That of 32-bit processes is another one, though the kernel's name of it is the same.
#[test]
fn the_vdso_of_32_bit_processes() {
    let vdso = |name| Elf::new(0).symbols(SYMTAB, &[(FUNC, 0x1010, 0x10, name)]).build_id(&[7; 4]).build();
    let memory =
        || Memory { vdso: Some(vdso("of_64_bits")), vdso32: Some(vdso("of_32_bits")), ..Memory::default() };
    let session = Records::default().map(5, 0xf7f8_0000, 0x2000, &[7; 4], "[vdso]").session();
    let mut it = symbolizer(memory());
    assert_eq!(names(&mut it, &session, 5, 0xf7f8_1014), ["of_32_bits+0x4 symtab"]);
    let mut it = symbolizer(memory().with("/cache/.build-id/07/070707/vdso", vdso("cached")));
    assert_eq!(names(&mut it, &session, 5, 0xf7f8_1014), ["cached+0x4 symtab"]);
    let mut it = symbolizer(Memory { vdso: Some(vdso("of_64_bits")), ..Memory::default() });
    assert!(names(&mut it, &session, 5, 0xf7f8_1014).is_empty());
}
