//! The addresses of the kernel and its modules.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The text of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KernelText {
    /// The symbol that marks the load address: `_text`, or `_stext` if there is none.
    pub(crate) symbol: &'static str,
    /// The address of the symbol and of the text.
    pub(crate) start: u64,
    /// Bytes up to the end of the kernel's data, or of its text if the end of the data is not known.
    pub(crate) len: u64,
}

/// Returns the kernel's text from `/proc/kallsyms`; `None` if the kernel hides the addresses
/// (`/proc/sys/kernel/kptr_restrict`).
///
/// perf: `machine__get_running_kernel_start`, `tools/perf/util/machine.c`.
pub(crate) fn text(root: &Path) -> Option<KernelText> {
    let mut source = BufReader::new(File::open(root.join("proc/kallsyms")).ok()?);
    let names = ["_text", "_stext", "_edata", "_etext"];
    let mut addresses = [None; 4];
    let mut line = Vec::new();
    while source.read_until(b'\n', &mut line).ok()? > 0 {
        for (name, known) in names.iter().zip(&mut addresses) {
            if known.is_none() {
                *known = address(&line, name);
            }
        }
        line.clear();
    }
    let [text, stext, data_end, text_end] = addresses;
    let (symbol, start) = match (text, stext) {
        (Some(start), _) => ("_text", start),
        (None, start) => ("_stext", start?),
    };
    Some(KernelText { symbol, start, len: data_end.or(text_end)?.checked_sub(start)? })
}

/// Returns the address in a line of kallsyms, if its symbol is `name`. A hidden address is 0.
fn address(line: &[u8], name: &str) -> Option<u64> {
    let line = line.trim_ascii_end().strip_suffix(name.as_bytes())?.strip_suffix(b" ")?;
    let (address, _kind) = core::str::from_utf8(line).ok()?.split_once(' ')?;
    u64::from_str_radix(address, 16).ok().filter(|&address| address != 0)
}

/// Returns the addresses and names of BPF trampolines and dispatchers, from `/proc/kallsyms`; empty if the kernel hides
/// the addresses. They belong to no program.
///
/// perf: `kallsyms_process_symbol`, `tools/perf/util/bpf-event.c`.
pub(crate) fn bpf_images(root: &Path) -> Vec<(u64, Vec<u8>)> {
    let Ok(file) = File::open(root.join("proc/kallsyms")) else { return Vec::new() };
    let mut source = BufReader::new(file);
    let (mut images, mut line) = (Vec::new(), Vec::new());
    while source.read_until(b'\n', &mut line).is_ok_and(|size| size > 0) {
        images.extend(bpf_image(&line));
        line.clear();
    }
    images
}

/// Returns the address and the name in a line of kallsyms, if it is that of a BPF trampoline or dispatcher.
fn bpf_image(line: &[u8]) -> Option<(u64, Vec<u8>)> {
    let line = core::str::from_utf8(line.trim_ascii_end().strip_suffix(b"\t[bpf]")?).ok()?;
    let mut fields = line.splitn(3, ' ');
    let (address, _kind, name) = (fields.next()?, fields.next()?, fields.next()?);
    let is_image =
        name.strip_prefix("bpf_trampoline_").is_some_and(|id| id.starts_with(|it: char| it.is_ascii_digit()))
            || name.strip_prefix("bpf_dispatcher_").is_some_and(|id| !id.is_empty());
    let address = u64::from_str_radix(address, 16).ok().filter(|&address| address != 0)?;
    is_image.then(|| (address, name.as_bytes().to_vec()))
}

/// A module of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoadedModule {
    /// The address.
    pub(crate) start: u64,
    /// The size in bytes.
    pub(crate) len: u64,
    /// Its file, or `[name]` if the file is not known.
    pub(crate) file: Vec<u8>,
}

/// Returns the modules in ascending order of address, from `/proc/modules`; empty if the kernel has none or hides the
/// addresses.
///
/// perf: `machine__create_modules`, `tools/perf/util/machine.c`.
pub(crate) fn modules(root: &Path) -> Vec<LoadedModule> {
    let list = fs::read_to_string(root.join("proc/modules")).unwrap_or_default();
    let files = module_files(root);
    let module = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (name, len) = (fields.next()?, fields.next()?.parse().ok()?);
        let start = u64::from_str_radix(fields.nth(3)?.strip_prefix("0x")?, 16).ok()?;
        let file = files.iter().find(|file| module_name(file.as_bytes()) == name.as_bytes());
        let file = file.cloned().unwrap_or_else(|| format!("[{name}]")).into_bytes();
        (start != 0).then_some(LoadedModule { start, len, file })
    };
    let mut modules: Vec<_> = list.lines().filter_map(module).collect();
    modules.sort_by_key(|module| module.start);
    modules
}

/// Returns the files of all modules that are installed for the running kernel.
fn module_files(root: &Path) -> Vec<String> {
    let release = fs::read_to_string(root.join("proc/sys/kernel/osrelease")).unwrap_or_default();
    let folder = format!("lib/modules/{}", release.trim());
    let list = fs::read_to_string(root.join(&folder).join("modules.dep")).unwrap_or_default();
    list.lines().filter_map(|line| Some(format!("/{folder}/{}", line.split_once(':')?.0))).collect()
}

/// Returns the name of a module, from `[name]` or from a path to `name.ko`, possibly compressed.
///
/// The kernel writes `_` where the file has `-`.
pub(crate) fn module_name(file: &[u8]) -> Vec<u8> {
    if let Some(name) = file.strip_prefix(b"[").and_then(|name| name.strip_suffix(b"]")) {
        return name.to_vec();
    }
    let name = file.rsplit(|&byte| byte == b'/').next().unwrap_or(file);
    let end = name.windows(3).position(|part| part == b".ko").unwrap_or(name.len());
    name[..end].iter().map(|&byte| if byte == b'-' { b'_' } else { byte }).collect()
}
