//! Files from a debuginfod server: those with the most samples first, within limits.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use perf_parse::record::{FileId, Mmap2};
use perf_parse::sample::Reading;
use testdata::Bytes;
use testdata::elf::{Elf, TEXT_OFFSET};

use crate::Run;
use crate::made::Made;

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![hot_files_come_first, what_is_beyond_the_limits_is_reported];

const PID: i32 = 4_194_000;
/// Files in the order in which they are first sampled: first byte of the build id, name of the function, samples.
const FILES: [(u8, &str, u64); 3] = [(0xa0, "rare", 1), (0xb0, "hot", 5), (0xc0, "warm", 3)];

fn id(first: u8) -> [u8; 20] {
    [first; 20]
}

fn elf(first: u8, name: &'static str) -> Vec<u8> {
    let owner = Bytes::new(false).u32(4).u32(20).u32(3).raw(b"GNU\0").raw(&id(first));
    let mut elf = Elf::new(62, true).section(".note.gnu.build-id", owner.out);
    elf.functions = vec![(name, 0, 0x100)];
    elf.build()
}

/// A server of the files, and the build ids of executables that it was asked for.
fn server() -> (String, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    // It ends with the test program.
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let request = lines.next().unwrap_or_default();
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            let rest = request.strip_prefix("GET /buildid/").unwrap_or_default();
            let is_executable = rest.contains("/executable");
            let first = u8::from_str_radix(rest.get(..2).unwrap_or_default(), 16).unwrap_or(0);
            if is_executable {
                log.lock().unwrap().push(first);
            }
            let file = FILES.iter().find(|(it, ..)| *it == first && is_executable);
            let (status, body) = match file {
                Some(&(first, name, _)) => ("200 OK", elf(first, name)),
                None => ("404 Not Found", Vec::new()),
            };
            let head =
                format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            // The client may have gone.
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    (url, asked)
}

/// Runs a verb on a capture of samples in all files, with an empty cache.
fn run(verb: &str, url: &str, args: &[&str]) -> Run {
    let mut capture = Made::new().comm(PID, "prog");
    let address = |index: u64| 0x10_0000 + index * 0x1_0000;
    for ((first, name, _), index) in FILES.into_iter().zip(0..) {
        let (path, bytes) = (format!("/nowhere/{name}"), id(first));
        capture = capture.map2(
            PID,
            Mmap2 {
                pid: PID,
                tid: PID,
                addr: address(index),
                len: 0x1000,
                pgoff: TEXT_OFFSET,
                id: FileId::BuildId { size: 20, bytes },
                prot_flags: Some((5, 2)),
                filename: path.as_bytes(),
                reading: Reading::Certain,
            },
        );
    }
    for ((_, _, samples), index) in FILES.into_iter().zip(0..) {
        for _ in 0..samples {
            capture = capture.sample(PID, 1, &[address(index) + 4]);
        }
    }
    let cache = tempfile::tempdir_in(needs::folder()).unwrap();
    let file = capture.file(&format!("debuginfod-{verb}.data"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.arg(verb).arg(format!("--debuginfod={url}")).args(args).arg(file);
    command.env("DEBUGINFOD_CACHE_PATH", cache.path());
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

fn hot_files_come_first() {
    for (verb, args) in [("report", &["--stdio"][..]), ("fold", &[])] {
        let (url, asked) = server();
        let done = run(verb, &url, args);
        // Progress is for terminals.
        assert_eq!((done.status, &*done.err), (0, ""), "{verb}");
        assert_eq!(*asked.lock().unwrap(), [0xb0, 0xc0, 0xa0], "{verb}");
        for (_, name, _) in FILES {
            assert!(done.out.contains(name), "{verb}: {}", done.out);
        }
        assert!(!done.out.contains("not fetched"), "{verb}: {}", done.out);
    }
}

fn what_is_beyond_the_limits_is_reported() {
    let (url, asked) = server();
    let bytes = format!("--debuginfod-size={}B", elf(0xb0, "hot").len() + 10);
    let done = run("report", &url, &["--stdio", &bytes]);
    assert_eq!((done.status, &*done.err), (0, ""));
    assert_eq!(*asked.lock().unwrap(), [0xb0, 0xc0, 0xa0], "each once");
    let line =
        "# not fetched, because --debuginfod-time or --debuginfod-size was reached: symbols of 2 files\n";
    let cause =
        "3 frames without a name: it was not fetched, because all that may be fetched was reached. Run";
    assert!(done.out.contains(line) && done.out.contains(cause), "{}", done.out);
    let json = run("report", &url, &["--format", "json", &bytes]).out;
    assert!(json.contains("it was not fetched: the limit of what may be fetched was reached"), "{json}");
    let error = run("report", &url, &["--debuginfod-time=0"]);
    assert!(error.status == 1 && error.err.contains("--debuginfod-time"), "{}", error.err);
}
