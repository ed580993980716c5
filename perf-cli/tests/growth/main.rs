//! Memory and work of the verbs that answer: both grow with the capture, and not faster. See SECURITY.md.
//!
//! Each kind of capture has n and 4n of one thing, and in thorough tests n, 2n, 4n and 8n. Memory is the maximum resident
//! size that the kernel reports after the program ends. Work is the ratio of two times of the processor, as nothing else counts
//! all of it: with 4 times as many things, work that grows with the square takes 16 times as long, and linear work 4 times.

#![cfg(target_os = "linux")]

mod captures;
#[path = "../memory/ended.rs"]
mod ended;

use std::path::Path;
use std::process::{Command, Stdio};

use captures::KINDS;

const MIB: usize = 1 << 20;

/// A verb, and how many times the size of its input may be resident in addition to the memory for a small capture.
struct Verb {
    args: &'static [&'static str],
    times: usize,
    /// Whether it reads the capture twice.
    is_diff: bool,
}

const fn verb(args: &'static [&'static str], times: usize) -> Verb {
    Verb { args, times, is_diff: false }
}

/// The factors of SECURITY.md.
const VERBS: [Verb; 8] = [
    verb(&["report", "--stdio"], 48),
    verb(&["fold"], 24),
    verb(&["annotate", "--format", "json", "-i"], 24),
    verb(&["script"], 32),
    Verb { is_diff: true, ..verb(&["diff"], 24) },
    verb(&["export", "--to", "firefox", "-o"], 32),
    verb(&["export", "--to", "pprof", "-o"], 24),
    verb(&["export", "--to", "perfetto", "-o"], 24),
];

/// The additional memory that may be resident: buffers for the output, and for each thread.
const SLACK: usize = 8 * MIB;

/// With 4 times as many things, work may take so many times as long: half of what the square would.
const MOST_WORK: f64 = 8.0;

/// Seconds between two ticks, by which some kernels count times: a run may have taken nearly as much as one more.
const TICK: f64 = 0.01;

/// What a run took.
#[derive(Clone, Copy)]
struct Used {
    bytes: usize,
    seconds: f64,
}

/// Runs `perfdata`. Returns its maximum resident size, and the time of the processor in the program itself.
fn run(verb: &Verb, capture: &Path, out: &Path) -> Used {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args(verb.args).stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null());
    if verb.args.last() == Some(&"-o") {
        command.arg(out);
    }
    command.args([capture].repeat(1 + usize::from(verb.is_diff)));
    // Without the files of this machine, such as the names of its kernel.
    command.args(["--symfs", "/nonexistent"]);
    let ended = ended::run(&mut command);
    assert_eq!(ended.code, Some(0), "{:?}: status {:#x}", verb.args, ended.status);
    let seconds = ended.usage.ru_utime.tv_sec as f64 + ended.usage.ru_utime.tv_usec as f64 / 1e6;
    Used { bytes: ended.resident(), seconds }
}

/// This takes longer than other tests, as the largest captures must be large against the memory of an empty program, and each
/// verb answers for each of four sizes of each kind. It is one test because the resident memory of this process counts for the
/// processes that it starts: see `getrusage(2)`.
#[test]
fn memory_and_work_grow_with_the_capture() {
    let folder = needs::folder();
    let (file, out) = (folder.join("capture"), folder.join("out"));
    std::fs::write(&file, KINDS[0].capture(1)).unwrap();
    let empty = VERBS.each_ref().map(|verb| run(verb, &file, &out).bytes);
    let mut over = Vec::new();
    for kind in &KINDS {
        let mut first = [0.0; VERBS.len()];
        // Of a run of n, other programs disturb the time most.
        let (sizes, smaller, larger) =
            if testdata::is_thorough() { (&[1, 2, 4, 8][..], 2, 8) } else { (&[1, 4][..], 1, 4) };
        for &times in sizes {
            let capture = kind.capture(times * kind.count);
            std::fs::write(&file, &capture).unwrap();
            let size = capture.len();
            drop(capture);
            for ((verb, empty), first) in VERBS.iter().zip(empty).zip(&mut first) {
                let used = run(verb, &file, &out);
                let (name, verb_name) = (kind.name, verb.args.join(" "));
                let size = size * (1 + usize::from(verb.is_diff));
                let most = empty + SLACK + verb.times * size;
                let factor = used.bytes.saturating_sub(empty) as f64 / size as f64;
                println!("{name} x {times}, {verb_name}: {factor:.1} x {size} bytes, {:.2} s", used.seconds);
                if used.bytes > most {
                    over.push(format!(
                        "{name} x {times}, {verb_name}: {} bytes, more than {most}",
                        used.bytes
                    ));
                }
                if times == smaller {
                    *first = used.seconds;
                }
                let is_more = |seconds: f64| seconds > MOST_WORK * first.max(TICK);
                // Other programs disturb a run.
                if times == larger
                    && is_more(used.seconds)
                    && (0..3).all(|_| is_more(run(verb, &file, &out).seconds))
                {
                    over.push(format!(
                        "{name}, {verb_name}: work grows faster: {first} s, then {} s",
                        used.seconds
                    ));
                }
            }
        }
    }
    assert!(over.is_empty(), "{over:#?}");
}
