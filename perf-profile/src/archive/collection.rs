//! The files that the names and stacks of a capture come from.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use perf_abi::sample_type::SampleType;
use perf_parse::Reader;
use perf_parse::file::Account;
use perf_session::{BuildId, DsoKind};
use perf_symbol::{ElfImage, FileBytes, Files, SymbolLookup, SymbolOptions};

use super::file_list::ListedFile;
use super::read_log::{FileReading, ReadLog, VDSOS};
use crate::error::ProfileError;
use crate::observer::Observer;
use crate::report::{Options, ReportPlan};
use crate::samples::{ProfileOptions, Samples};
use crate::symbols::Symbols;

/// The files that the names and stacks of a capture come from: see [`archive`](super).
///
/// # Examples
///
/// ```
/// use std::num::NonZero;
/// use std::sync::Arc;
///
/// use perf_parse::Reader;
/// use perf_profile::archive::{CapturePart, FileCollection, FileDetail};
/// use perf_symbol::{ReadFiles, SymbolOptions};
///
/// # let path = "examples/captures/plain.data";
/// let reader = Reader::open(path)?;
/// let files = FileCollection::of(&reader, SymbolOptions::default(), Arc::new(ReadFiles), NonZero::<usize>::MIN, &mut ())?;
/// // Compress it with Zstandard.
/// let mut tar = Vec::new();
/// files.write(&mut CapturePart::of(path.as_ref())?, FileDetail::Whole, &mut tar)?;
/// # assert!(!tar.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileCollection {
    /// The contents, by the names of entries.
    pub(super) entries: BTreeMap<String, FileBytes>,
    /// What was read, by the paths of this machine.
    pub(super) list: BTreeMap<PathBuf, ListedFile>,
    lookups: Vec<SymbolLookup>,
    account: Account,
    omitted: u64,
}

impl FileCollection {
    /// Finds the stacks of all samples, and the functions and lines of all frames, branches and data addresses, on several threads.
    /// Collects all files that were read for that: binaries, debug files, kernel symbols, vDSOs, perf maps, jitdumps.
    ///
    /// `options` say where files are looked for, and whether those for inlined functions are wanted. The files stay in memory or
    /// mapped, as `files` has them. A capture can name any file of this machine: what is neither an ELF file or an apk, nor a jitdump, a
    /// perf map or the kernel's, is not collected.
    ///
    /// # Errors
    ///
    /// [`ProfileError::Cancelled`].
    pub fn of(
        reader: &Reader<'_>,
        mut options: SymbolOptions,
        files: Arc<dyn Files>,
        threads: NonZero<usize>,
        observer: &mut dyn Observer,
    ) -> Result<Self, ProfileError> {
        let log = Arc::new(ReadLog::new(files));
        // All that names need is to be read.
        options.symbol_cache = None;
        let (kallsyms, symfs) = (options.kallsyms.clone(), options.symfs.clone());
        let profile = ProfileOptions { inlines: options.inlines, ..ProfileOptions::default() };
        let symbols = Symbols::with_files(reader.features(), options, Arc::clone(&log) as Arc<dyn Files>);
        let samples = || Samples::of(reader).threads(threads.get());
        let profile = samples().profile_with(&symbols, &profile, observer)?;
        for options in more_reports(reader) {
            if let Ok(plan) = ReportPlan::new(&options, reader) {
                samples().report_with(plan, &symbols, &mut ())?;
            }
        }
        let lookups = symbols.lookups();
        let (account, omitted) = (profile.account().clone(), profile.omitted());
        let mut collection =
            Self { entries: BTreeMap::new(), list: BTreeMap::new(), lookups, account, omitted };
        let kernel = collection.lookups.iter().find(|it| it.dso.kind() == DsoKind::Kernel);
        let kernel = kernel.and_then(|it| it.build_id);
        let mut readings = log.take();
        if let Some(root) = symfs {
            readings =
                readings.into_iter().map(|(path, reading)| of_recorder(&root, path, reading)).collect();
        }
        let used = processes(&readings);
        readings.retain(|path, reading| {
            let is_needed =
                |bytes: &FileBytes| is_needed(path, bytes, &used) || Some(path) == kallsyms.as_ref();
            reading.bytes.as_ref().is_none_or(is_needed)
        });
        for (path, reading) in readings {
            collection.add(path, reading, kernel);
        }
        Ok(collection)
    }

    /// Adds what was read at a path. `kernel` is the build id of the recorded kernel.
    fn add(&mut self, path: PathBuf, reading: FileReading, kernel: Option<BuildId>) {
        let FileReading { bytes, inode, modified } = reading;
        let entry = bytes.map(|bytes| {
            let entry = entry_name(&path, &bytes, kernel);
            self.entries.entry(entry.clone()).or_insert(bytes);
            entry
        });
        let is_by_id = path.components().any(|part| part == Component::Normal(".build-id".as_ref()));
        // It is looked up by its build id.
        if !is_by_id {
            self.list.insert(path, ListedFile { entry, inode, modified });
        }
    }

    /// Returns the number of files, each counted once.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there is no file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the names of the files in the archive with their contents, ordered by name.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &FileBytes)> {
        self.entries.iter().map(|(name, bytes)| (&**name, bytes))
    }

    /// Returns what was looked for. What has no [`path`](SymbolLookup::path) is not in the collection.
    #[must_use]
    pub fn lookups(&self) -> &[SymbolLookup] {
        &self.lookups
    }

    /// Returns what was read of the capture.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Returns the number of samples without the user part of their call chain: see [`Profile::omitted`](crate::Profile::omitted).
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.omitted
    }
}

/// Returns the reports that need files which no stack has: those of branches and of data addresses.
fn more_reports(reader: &Reader<'_>) -> Vec<Options> {
    let has = |field| reader.events().iter().any(|event| event.attr.sample_type.contains(field));
    let mut reports = Vec::new();
    if has(SampleType::BRANCH_STACK) {
        reports.push(Options { branches: Some(true), ..Options::default() });
    }
    if has(SampleType::DATA_SRC) {
        reports.push(Options { memory: true, ..Options::default() });
    }
    reports
}

/// Returns what was read below the root of the recording machine with the path that it had there. A copy has another inode and another
/// time, which say nothing about the recorded file.
fn of_recorder(root: &Path, path: PathBuf, reading: FileReading) -> (PathBuf, FileReading) {
    match path.strip_prefix(root) {
        Ok(rest) => {
            (Path::new("/").join(rest), FileReading { bytes: reading.bytes, ..FileReading::default() })
        }
        Err(_) => (path, reading),
    }
}

/// Returns the folders in `/proc` of the processes whose files were read.
fn processes(readings: &BTreeMap<PathBuf, FileReading>) -> BTreeSet<PathBuf> {
    let read = readings.iter().filter(|(_, reading)| reading.bytes.is_some());
    let of_process = read.filter_map(|(path, _)| {
        let mut parts = path.strip_prefix("/proc").ok()?.components();
        let folder = Path::new("/proc").join(parts.next()?);
        let is_text = matches!(parts.as_path().to_str(), Some("" | "maps" | "status"));
        (!is_text).then_some(folder)
    });
    of_process.collect()
}

/// Returns whether what was read at a path can be a source of names. `processes` are those whose files were read.
fn is_needed(path: &Path, bytes: &[u8], processes: &BTreeSet<PathBuf>) -> bool {
    const MAGICS: [&[u8]; 3] = [b"\x7fELF", b"JiTD", b"DTiJ"];
    if MAGICS.iter().any(|magic| bytes.starts_with(magic)) {
        return true;
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match name {
        "kallsyms" => path == Path::new("/proc/kallsyms") || in_build_id_folder(path).is_some(),
        "notes" => path == Path::new("/sys/kernel/notes"),
        "maps" | "status" => path.parent().is_some_and(|folder| processes.contains(folder)),
        _ => {
            let pid = name.strip_prefix("perf-").and_then(|name| name.strip_suffix(".map"));
            let is_perf_map = pid.is_some_and(|pid| pid.parse::<i32>().is_ok());
            let is_module = || [".ko.xz", ".ko.zst", ".ko.gz"].iter().any(|it| name.ends_with(it));
            // Its libraries are mapped from there.
            let is_apk = || bytes.starts_with(b"PK\x03\x04") && name.ends_with(".apk");
            is_perf_map || is_module() || is_apk()
        }
    }
}

/// Returns the name of the entry for a file.
fn entry_name(path: &Path, bytes: &FileBytes, kernel: Option<BuildId>) -> String {
    let name = path.file_name().unwrap_or_default();
    let by_id = |id: BuildId, what: &str| {
        let id = id.to_string();
        let (start, rest) = id.split_at_checked(2).filter(|(_, rest)| !rest.is_empty())?;
        Some(format!(".build-id/{start}/{rest}/{what}"))
    };
    let is_elf = bytes.starts_with(b"\x7fELF");
    let image = is_elf.then(|| ElfImage::parse(bytes.clone()).ok()).flatten();
    let of_image = image.as_ref().and_then(|image| {
        let is_debug = image.section(".text").is_some_and(|text| !text.has_bytes());
        let is_vdso = name == "vdso" || VDSOS.iter().any(|it| path == Path::new(it));
        by_id(
            image.build_id()?,
            if is_vdso {
                "vdso"
            } else if is_debug {
                "debug"
            } else {
                "elf"
            },
        )
    });
    let of_kernel = || by_id(kernel.filter(|_| path == Path::new("/proc/kallsyms"))?, "kallsyms");
    of_image.or_else(|| in_build_id_folder(path)).or_else(of_kernel).unwrap_or_else(|| below_files(path))
}

/// Returns the part of a path from `.build-id` on.
fn in_build_id_folder(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path
        .components()
        .skip_while(|part| *part != Component::Normal(".build-id".as_ref()))
        .map(|part| if let Component::Normal(name) = part { name.to_str() } else { None })
        .collect();
    parts.filter(|parts| parts.len() > 2).map(|parts| parts.join("/"))
}

/// Returns the name of what has no build id. Two paths never have one name.
fn below_files(path: &Path) -> String {
    let mut name = String::from("files");
    for part in path.components() {
        name.push('/');
        match part {
            Component::Normal(part) => {
                for &byte in part.as_encoded_bytes() {
                    let is_plain = (b' '..=b'~').contains(&byte) && byte != b'%' && byte != b'\\';
                    let escaped = || format!("%{byte:02x}");
                    if is_plain { name.push(byte.into()) } else { name.push_str(&escaped()) }
                }
            }
            Component::ParentDir => name.push_str("%2e%2e"),
            _ => drop(name.pop()),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_capture_may_take_along() {
        let reading = || FileReading { bytes: Some(FileBytes::default()), ..FileReading::default() };
        let readings = ["/proc/7/root/tmp/perf-1.map", "/proc/7/maps", "/proc/8/maps", "/proc/8/status"];
        let used = processes(&readings.map(|path| (path.into(), reading())).into());
        assert_eq!(used, [PathBuf::from("/proc/7")].into());
        let is_needed = |path: &str, bytes: &[u8]| is_needed(Path::new(path), bytes, &used);
        for needed in ["/tmp/perf-7.map", "/proc/kallsyms", "/sys/kernel/notes", "/proc/7/maps", "/m/a.ko.xz"]
        {
            assert!(is_needed(needed, b"text"), "{needed}");
        }
        assert!(is_needed("/h/.debug/.build-id/ab/cd/kallsyms", b"text"));
        assert!(is_needed("/data/app/a.apk", b"PK\x03\x04"));
        assert!(!is_needed("/data/app/a.apk", b"text") && !is_needed("/home/x/letters.zip", b"PK\x03\x04"));
        assert!(is_needed("/any", b"\x7fELF") && is_needed("/any", b"DTiJ") && is_needed("/any", b"JiTD"));
        for other in
            ["/etc/shadow", "/home/x/kallsyms", "/etc/notes", "/proc/8/maps", "/tmp/perf-x.map", "/a/status"]
        {
            assert!(!is_needed(other, b"text"), "{other}");
        }
    }

    #[test]
    fn names_of_entries() {
        let id = BuildId::new(&[0xab, 0xcd, 0xef]);
        let name =
            |path: &str, bytes: &'static [u8]| entry_name(Path::new(path), &FileBytes::new(bytes), Some(id));
        assert_eq!(name("/tmp/perf-7.map", b"1000 10 f\n"), "files/tmp/perf-7.map");
        assert_eq!(name("/proc/kallsyms", b"ffff T _text\n"), ".build-id/ab/cdef/kallsyms");
        assert_eq!(name("/h/.debug/.build-id/12/34/kallsyms", b""), ".build-id/12/34/kallsyms");
        assert_eq!(name("/usr/lib/debug/.build-id/12/34.debug", b"\x7fELF"), ".build-id/12/34.debug");
        // Neither leads out of the folder, nor is the name of another path.
        assert_eq!(name("/a/../../b", b""), "files/a/%2e%2e/%2e%2e/b");
        assert_eq!(name("/.build-id/../12/34", b""), "files/.build-id/%2e%2e/12/34");
        assert_eq!(name("/a%\n", b""), "files/a%25%0a");
        assert_eq!(name("[vdso]", b""), "files/[vdso]");
    }
}
