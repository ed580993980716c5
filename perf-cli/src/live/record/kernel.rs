//! Where the kernel and its modules are.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The text of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    /// The symbol that tells where it was loaded to: `_text`, or `_stext` where there is none.
    pub(crate) symbol: &'static str,
    /// Address of the symbol, and of the text.
    pub(crate) start: u64,
    /// Bytes up to the end of the kernel's data, or of its text where it does not tell the former.
    pub(crate) len: u64,
}

/// Where the kernel is, by `/proc/kallsyms`; `None` where it hides that (`/proc/sys/kernel/kptr_restrict`).
///
/// perf: `machine__get_running_kernel_start`, `tools/perf/util/machine.c`.
pub(crate) fn text(root: &Path) -> Option<Text> {
    let mut source = BufReader::new(File::open(root.join("proc/kallsyms")).ok()?);
    let names = ["_text", "_stext", "_edata", "_etext"];
    let mut found = [None; 4];
    let mut line = Vec::new();
    while source.read_until(b'\n', &mut line).ok()? > 0 {
        for (name, found) in names.iter().zip(&mut found) {
            if found.is_none() {
                *found = address(&line, name);
            }
        }
        line.clear();
    }
    let [text, stext, data_end, text_end] = found;
    let (symbol, start) = match (text, stext) {
        (Some(start), _) => ("_text", start),
        (None, start) => ("_stext", start?),
    };
    Some(Text { symbol, start, len: data_end.or(text_end)?.checked_sub(start)? })
}

/// The address in a line of kallsyms, if the symbol is `name`; a hidden one is 0.
fn address(line: &[u8], name: &str) -> Option<u64> {
    let line = line.trim_ascii_end().strip_suffix(name.as_bytes())?.strip_suffix(b" ")?;
    let (address, _kind) = core::str::from_utf8(line).ok()?.split_once(' ')?;
    u64::from_str_radix(address, 16).ok().filter(|&address| address != 0)
}

/// A module of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    /// Address.
    pub(crate) start: u64,
    /// Bytes.
    pub(crate) len: u64,
    /// Its file, or `[name]` where that is not known.
    pub(crate) file: Vec<u8>,
}

/// The modules, by rising address, by `/proc/modules`; none where the kernel has none, or hides where they are.
///
/// perf: `machine__create_modules`, `tools/perf/util/machine.c`.
pub(crate) fn modules(root: &Path) -> Vec<Module> {
    let list = fs::read_to_string(root.join("proc/modules")).unwrap_or_default();
    let files = module_files(root);
    let module = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (name, len) = (fields.next()?, fields.next()?.parse().ok()?);
        let start = u64::from_str_radix(fields.nth(3)?.strip_prefix("0x")?, 16).ok()?;
        let file = files.iter().find(|file| module_name(file.as_bytes()) == name.as_bytes());
        let file = file.cloned().unwrap_or_else(|| format!("[{name}]")).into_bytes();
        (start != 0).then_some(Module { start, len, file })
    };
    let mut modules: Vec<_> = list.lines().filter_map(module).collect();
    modules.sort_by_key(|module| module.start);
    modules
}

/// The files of all modules that are installed for the kernel that runs.
fn module_files(root: &Path) -> Vec<String> {
    let release = fs::read_to_string(root.join("proc/sys/kernel/osrelease")).unwrap_or_default();
    let folder = format!("lib/modules/{}", release.trim());
    let list = fs::read_to_string(root.join(&folder).join("modules.dep")).unwrap_or_default();
    list.lines().filter_map(|line| Some(format!("/{folder}/{}", line.split_once(':')?.0))).collect()
}

/// The name of a module by its file: `[name]`, or a path to `name.ko`, maybe compressed.
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
