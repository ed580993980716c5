//! Any bytes as a capture for the verbs of `perfdata`: they agree on whether it is clean, their output has the
//! promised properties, and a repair leaves nothing to repair.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use perf_cli::Streams;

/// Bytes of output for each decompressed byte of the capture, in addition to [`FLOOR`].
const EACH: usize = 2000;
/// Bytes of output permitted for any capture.
const FLOOR: usize = 1 << 16;

/// The commands that read a capture; each decodes all of it.
const LOOKS: [(&[&str], Kind); 6] = [
    (&["info"], Kind::Text),
    (&["dump", "--threads", "1"], Kind::Text),
    (&["dump", "--threads", "1", "--order", "time", "--fields", "offset,time,tid,event,ip"], Kind::Text),
    (&["dump", "--threads", "1", "--format", "jsonl"], Kind::Json),
    (&["dump", "--threads", "1", "--format", "jsonl", "--order", "time"], Kind::Json),
    (
        &["dump", "--threads", "1", "--format", "jsonl", "--fields", "type,raw,sample_id,callchain"],
        Kind::Json,
    ),
];

/// The commands that also read a pipe.
const BY_PIPE: [usize; 2] = [0, 4];

/// The kind of output on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Json,
}

/// Maximum size of a capture in bytes.
const MOST: usize = 1 << 16;

/// `data` is a capture of at most 64 KiB.
pub fn run(data: &[u8]) -> bool {
    if data.len() > MOST {
        return false;
    }
    let folder = Folder::new();
    let capture = folder.0.join("capture.data");
    fs::write(&capture, data).expect("a file can be written");
    check(&folder.0, &capture, data.len(), Some(data)) != 1
}

/// Reads a capture with every command and repairs it; returns the common exit status. `size` is the size of all its
/// files, `whole` the bytes to send through a pipe. Output files are written to `folder`.
pub fn check(folder: &Path, capture: &Path, size: usize, whole: Option<&[u8]>) -> u8 {
    let status = look(capture, size, whole);
    let (first, second) = (folder.join("first.data"), folder.join("second.data"));
    let repair = perfdata(&["repair"], &[capture.as_ref(), "-o".as_ref(), first.as_ref()], &[]);
    repair.check(Kind::Text, size);
    assert_eq!(repair.status, status, "repair and info disagree: {repair:?}");
    if status == 1 {
        return status;
    }
    let mended = fs::read(&first).expect("repair has written it");
    assert!(mended.len() <= FLOOR + 1100 * size, "{} bytes of {size}", mended.len());
    assert_eq!(look(&first, mended.len(), Some(&mended)), 0, "a repaired capture is clean");
    let again = perfdata(&["repair"], &[first.as_ref(), "-o".as_ref(), second.as_ref()], &[]);
    assert_eq!(again.status, 0, "{again:?}");
    assert!(fs::read(&second).expect("repair has written it") == mended, "a second repair changes the file");
    status
}

/// Reads a capture with every command; returns the common exit status.
fn look(capture: &Path, size: usize, whole: Option<&[u8]>) -> u8 {
    let mut of_all = None;
    let files = LOOKS.iter().map(|look| (look, capture.as_os_str(), &[][..]));
    let by_pipe =
        whole.into_iter().flat_map(|whole| BY_PIPE.map(|look| (&LOOKS[look], OsStr::new("-"), whole)));
    for (&(args, kind), name, input) in files.chain(by_pipe) {
        let ended = perfdata(args, &[name], input);
        ended.check(kind, size);
        let status = *of_all.get_or_insert(ended.status);
        assert_eq!(ended.status, status, "{args:?} {name:?} and info disagree: {ended:?}");
    }
    of_all.unwrap_or_default()
}

/// The result of a run.
struct Ended {
    status: u8,
    output: Vec<u8>,
    errors: String,
}

impl core::fmt::Debug for Ended {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "status {}, {} bytes of output\n{}", self.status, self.output.len(), self.errors)
    }
}

impl Ended {
    /// Checks that the run met its contract. `size` is the size of the capture.
    fn check(&self, kind: Kind, size: usize) {
        assert!([0, 1, 3].contains(&self.status), "{self:?}");
        assert!(self.status == 0 || !self.errors.is_empty(), "standard error reports no reason: {self:?}");
        assert!(
            self.status != 1 || (self.output.is_empty() && self.errors.starts_with("perfdata: ")),
            "{self:?}"
        );
        for line in self.errors.lines() {
            let is_of_form = line.starts_with("0x") || line.starts_with("perfdata: ");
            assert!(is_of_form && !line.contains(char::is_control), "{line:?}");
        }
        assert!(self.output.len() <= FLOOR + EACH * size, "of {size} bytes: {self:?}");
        let output = core::str::from_utf8(&self.output).expect("the output is UTF-8");
        assert!(output.is_empty() || output.ends_with('\n'));
        for line in output.lines() {
            match kind {
                Kind::Text => assert!(!line.contains(|it: char| it.is_control() && it != '\t'), "{line:?}"),
                Kind::Json => {
                    let value: serde_json::Value = serde_json::from_str(line).expect(line);
                    assert!(value.is_object(), "{line}");
                }
            }
        }
    }
}

/// Runs the program in this process.
fn perfdata(args: &[&str], files: &[&OsStr], input: &[u8]) -> Ended {
    let ((output, printed), (errors, said)) = (mpsc::channel(), mpsc::channel());
    let streams = Streams {
        input: Box::new(io::Cursor::new(input.to_vec())),
        output: Box::new(Sent(output)),
        errors: Box::new(Sent(errors)),
    };
    let args = ["perfdata"].iter().chain(args).map(OsStr::new).chain(files.iter().copied());
    let status = perf_cli::run(args.map(OsStr::to_owned), Some(streams));
    let errors = String::from_utf8(said.iter().flatten().collect()).expect("diagnostics are UTF-8");
    Ended { status, output: printed.iter().flatten().collect(), errors }
}

/// Sends the written bytes.
struct Sent(mpsc::Sender<Vec<u8>>);

impl Write for Sent {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes.to_vec()).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A folder for this thread alone, which is removed on drop.
#[derive(Debug)]
pub struct Folder(pub PathBuf);

impl Folder {
    /// Creates the folder.
    #[must_use]
    pub fn new() -> Self {
        let number = std::thread::current().id();
        let name = format!("perfdata-fuzz-{}-{number:?}", std::process::id());
        let path = std::env::temp_dir().join(name.replace(['(', ')'], "-"));
        fs::create_dir_all(&path).expect("a folder can be made");
        Self(path)
    }
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
