//! Folders with the code of the kernel: `--kcore`.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

use super::perf::perf;
use super::workload::command;
use super::{OWN_MOUNTS, dump, in_own_mounts, record, run};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    the_code_or_the_reason,
    perf_disassembles_a_made_kernel,
    what_has_no_folder,
];

/// Returns whether a folder has the code of the kernel, for its owner alone.
fn has_code(capture: &Path) -> bool {
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let folder = capture.join("kcore_dir");
    let files = ["kcore", "kallsyms", "modules"].map(|name| folder.join(name));
    assert_eq!((mode(capture), mode(&folder)), (0o700, 0o700));
    assert!(files.iter().all(|file| mode(file) == 0o400));
    fs::metadata(&files[0]).unwrap().len() > 1 << 20
}

/// Where the code may be read, it is; elsewhere the reason is said, and nothing is left.
fn the_code_or_the_reason() {
    let folder = needs::folder();
    let (status, _, err) =
        run(&mut record(&folder, &["-q", "--kcore", "-e", "page-faults"], &command("touch", 10)));
    if status == 0 {
        assert!(has_code(&folder.join("perf.data")));
        return;
    }
    let reason = err.strip_prefix("perfdata: --kcore: ").unwrap_or_else(|| panic!("{err}"));
    let reasons = ["CONFIG_PROC_KCORE", "is for root", "kptr_restrict"];
    assert!(status == 1 && reasons.iter().any(|known| reason.contains(known)), "{err}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing is left");
}

/// Writes an image of a kernel at the addresses of this one, which consists of the starts of functions.
fn make_kcore(path: &Path) {
    let symbols = fs::read_to_string("/proc/kallsyms").unwrap();
    let address = |name: &str| {
        let line = symbols.lines().find(|line| line.ends_with(&format!(" {name}"))).unwrap();
        u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
    };
    let start = address("_stext") / 4096 * 4096;
    let size = (address("_etext") - start).next_multiple_of(4096);
    let mut head = b"\x7fELF\x02\x01\x01".to_vec();
    head.resize(16, 0);
    for half in [4_u16, 62, 1, 0] {
        head.extend(half.to_ne_bytes());
    }
    [0_u64, 64, 0].iter().for_each(|word| head.extend(word.to_ne_bytes()));
    for half in [0_u16, 0, 64, 56, 1, 0, 0, 0, 1, 0, 7, 0] {
        head.extend(half.to_ne_bytes());
    }
    [4096, start, 0, size, size, 4096].iter().for_each(|word| head.extend(word.to_ne_bytes()));
    let file = File::create(path).unwrap();
    file.write_all_at(&head, 0).unwrap();
    let code = [0x55, 0x48, 0x89, 0xe5].repeat(usize::try_from(size / 4).unwrap());
    file.write_all_at(&code, 4096).unwrap();
}

/// Records on a machine whose `/proc/kcore` is a made one. perf names the kernel's code `kcore` then, and disassembles it.
fn perf_disassembles_a_made_kernel() {
    needs::all(&[
        needs::Need::KernelEvents,
        needs::Need::PERF,
        OWN_MOUNTS,
        needs::Need::Runs(&["objdump", "--version"]),
    ]);
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let folder = needs::folder();
    make_kcore(&folder.join("made"));
    let script = "mkdir real fake && mount --rbind /proc real && mount -t tmpfs none fake || exit 99
         for file in real/*; do ln -s \"$PWD/$file\" fake/; done
         rm -f fake/kcore fake/modules && cp made fake/kcore && : >fake/modules || exit 99
         mount --rbind fake /proc || exit 99
         exec \"$0\" record -q -N --kcore -e cpu-clock:k -F 20000 -- dd if=/dev/zero of=/dev/null bs=64k count=20000";
    let (status, _, err) = run(&mut in_own_mounts(&folder, script));
    assert_eq!(status, 0, "{err}");

    let capture = folder.join("perf.data");
    assert!(has_code(&capture));
    let dump = dump(&capture);
    assert_eq!((dump.status, &*dump.err), (0, ""));
    assert!(!dump.samples().is_empty());
    assert!(dump.header["attrs"].as_array().unwrap().iter().any(|attr| attr["text_poke"] == 1));
    let (status, report, err) = run(perf(&["report", "--stdio", "--sort", "dso", "-i"]).arg(&capture));
    assert!(status == 0 && report.contains("[kernel.kallsyms]"), "{report}{err}");
    let (status, code, err) = run(perf(&["annotate", "--stdio", "-i"]).arg(&capture));
    assert_eq!(status, 0, "{err}");
    assert!(code.contains("Disassembly of kcore for cpu-clock:k"), "{code}{err}");
    assert!(code.lines().any(|line| line.trim_end().ends_with("mov    %rsp,%rbp")), "{code}{err}");
}

fn what_has_no_folder() {
    let folder = needs::folder();
    for (options, hint) in [
        (&["--kcore", "-o", "-"][..], "--kcore writes a folder; give --output its name"),
        (&["--kcore", "--overwrite"], "--kcore writes a folder while the rings are read"),
        (&["--kcore", "--switch-output"], "--kcore writes one folder"),
    ] {
        let (status, out, err) = run(&mut record(&folder, options, &command("touch", 10)));
        assert_eq!((status, &*out), (1, ""), "{options:?}: {err}");
        assert!(err.contains(hint), "{options:?}: {err}");
    }
}
