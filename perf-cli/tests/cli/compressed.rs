//! Captures that are compressed whole.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::{perfdata, scratch, scratch_folder};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// Compresses by xz; `None` where there is no such program.
fn xz(bytes: &[u8]) -> Option<Vec<u8>> {
    let path = needs::folder().join("to-compress");
    std::fs::write(&path, bytes).unwrap();
    let output = Command::new("xz").arg("-c").arg(&path).output().ok()?;
    output.status.success().then_some(output.stdout)
}

/// Returns what a verb prints of a capture, without its name.
fn printed(verb: &str, path: &Path) -> (i32, String) {
    let run = perfdata([verb.as_ref(), path.as_os_str()]);
    let name = path.to_str().unwrap();
    (run.status, run.out.replace(name, "CAPTURE"))
}

fn capture(name: &str) -> (Vec<u8>, PathBuf) {
    let path = testdata::path(name);
    (std::fs::read(&path).unwrap(), path)
}

#[test]
fn they_are_read_as_what_is_in_them() {
    for name in ["plain.data", "buildid.pipe.data", "touch.zstd.data"] {
        let (bytes, path) = capture(name);
        let halves = bytes.split_at(bytes.len() / 2);
        let mut compressed = vec![
            ("gz", gzip(&bytes)),
            ("2.gz", [gzip(halves.0), gzip(halves.1)].concat()),
            ("zst", zstd(&bytes)),
            ("2.zst", [zstd(halves.0), zstd(halves.1)].concat()),
        ];
        compressed.extend(xz(&bytes).map(|bytes| ("xz", bytes)));
        let two = xz(halves.0).zip(xz(halves.1));
        compressed.extend(two.map(|(first, second)| ("2.xz", [first, second].concat())));
        let expected = printed("dump", &path);
        assert_eq!(expected.0, 0);
        for (ending, compressed) in compressed {
            let file = scratch(&format!("{name}.{ending}"), &compressed);
            assert_eq!(printed("dump", &file), expected, "{name}.{ending}");
        }
    }
}

#[test]
fn what_is_before_a_fault_is_read() {
    let (bytes, _) = capture("plain.data");
    for (ending, compressed) in [("gz", Some(gzip(&bytes))), ("xz", xz(&bytes)), ("zst", Some(zstd(&bytes)))]
    {
        let Some(compressed) = compressed else { continue };
        let cut = &compressed[..compressed.len() - 5];
        let file = scratch(&format!("cut.{ending}"), cut);
        let run = perfdata(["dump".as_ref(), file.as_os_str()]);
        let said = "the compressed bytes are damaged or cut off";
        assert!(run.status != 0 && run.err.contains(said) || run.status == 1, "{ending}: {}", run.err);
    }
    // The end of gzip is a checksum: all bytes of the capture are there.
    let compressed = gzip(&bytes);
    let file = scratch("sum.gz", &compressed[..compressed.len() - 5]);
    let run = perfdata(["dump".as_ref(), file.as_os_str()]);
    assert!(run.status == 3 && run.out.lines().count() > 100, "{}", run.err);
}

#[test]
fn a_capture_that_is_far_larger_than_its_file_is_refused() {
    // Zeros shrink to a thousandth or less.
    let bomb = zstd(&[b"PERFILE2".as_slice(), &vec![0; 70 << 20]].concat());
    assert!(bomb.len() < 64 << 10);
    let file = scratch("bomb.zst", &bomb);
    let run = perfdata(["info".as_ref(), file.as_os_str()]);
    assert!(
        run.status == 1 && run.err.contains("more than 67108864 bytes are compressed in it"),
        "{}",
        run.err
    );
}

#[test]
fn other_compressed_files_are_no_captures() {
    for (name, bytes) in
        [("text.gz", gzip(b"no capture")), ("empty.gz", gzip(b"")), ("magic.gz", b"\x1f\x8b".to_vec())]
    {
        let file = scratch(name, &bytes);
        let run = perfdata(["info".as_ref(), file.as_os_str()]);
        assert_eq!((run.status, &*run.out), (1, ""), "{name}");
        assert!(run.err.contains(name), "{name}: {}", run.err);
    }
}

/// An output may not be the file that is read.
#[test]
fn the_compressed_file_is_an_input() {
    let (bytes, _) = capture("plain.data");
    let file = scratch_folder("compressed-input").join("perf.data.gz");
    std::fs::write(&file, gzip(&bytes)).unwrap();
    let run = perfdata(["repair".as_ref(), file.as_os_str(), "-o".as_ref(), file.as_os_str()]);
    assert_eq!(run.status, 1, "{}", run.err);
    let run = perfdata(["repair".as_ref(), file.as_os_str()]);
    assert_eq!(run.status, 0, "{}", run.err);
    let repaired = file.with_extension("gz.repaired");
    assert_eq!(printed("script", &repaired).0, 0);
}

/// Runs a verb on bytes of standard input.
fn of_stdin(verb: &str, bytes: &[u8]) -> crate::Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args([verb, "-"]).stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may end before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(bytes);
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    crate::Run { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn standard_input_may_be_compressed() {
    for name in ["plain.data", "buildid.pipe.data"] {
        let (bytes, _) = capture(name);
        for verb in ["dump", "script"] {
            let expected = of_stdin(verb, &bytes);
            assert_eq!(expected.status, 0, "{name}: {}", expected.err);
            for compressed in [Some(gzip(&bytes)), Some(zstd(&bytes)), xz(&bytes)].into_iter().flatten() {
                let run = of_stdin(verb, &compressed);
                assert_eq!((run.status, run.out), (0, expected.out.clone()), "{verb} {name}");
            }
        }
    }
}

#[test]
fn bombs_on_standard_input_end() {
    // gzip cannot shrink a file to less than a thousandth.
    let zeros = [&b"PERFILE2"[..], &vec![0; 65 << 20]].concat();
    for bomb in [Some(zstd(&zeros)), xz(&zeros)].into_iter().flatten() {
        let run = of_stdin("info", &bomb);
        assert!(run.status == 1 && run.out.is_empty(), "{}", run.err);
        let said = "more than 67108864 bytes are compressed in it";
        assert!(run.err.contains(said), "{}", run.err);
    }
    let run = of_stdin("info", &zstd(b"no capture"));
    assert!(run.status == 1 && run.err.contains("what is compressed in it is no capture"), "{}", run.err);
    let (bytes, _) = capture("plain.data");
    assert_eq!(of_stdin("info", &gzip(&bytes)[..5]).status, 1, "its head is cut off");
}
