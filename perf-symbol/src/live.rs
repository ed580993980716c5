//! Processes of the capture that still run, and what they have mapped now.
//!
//! The path of a file is that of its process, which may be in another mount namespace, as in a container. While the process
//! runs, `/proc/PID/root` leads there, and `/proc/PID/exe` and `/proc/PID/map_files` lead to files that were replaced or
//! deleted since they were mapped. The capture may be of another machine, so a file is used only if it is proven to be the
//! one that was mapped.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use perf_session::{FirstMapping, Inode};

use crate::bytes::FileBytes;
use crate::decompressed::lock;
use crate::files::{Files, below, path_of};

/// The maximum number of processes whose mappings are read.
const MAX_PROCESSES: usize = 4096;
/// What the kernel appends to the path of a file that has no name any more.
const DELETED: &[u8] = b" (deleted)";

/// The processes whose mappings were read, by their ids; `None` for one that does not run.
#[derive(Debug, Default)]
pub(crate) struct Processes(Mutex<HashMap<i32, Option<Arc<LiveMaps>>>>);

impl Processes {
    /// Returns the mappings of a process, which are read once, if `limit` bytes suffice.
    pub(crate) fn maps(&self, files: &dyn Files, pid: i32, limit: u64) -> Option<Arc<LiveMaps>> {
        let mut processes = lock(&self.0);
        if let Some(maps) = processes.get(&pid) {
            return maps.clone();
        }
        if pid <= 0 || processes.len() >= MAX_PROCESSES {
            return None;
        }
        let text = files.read_kernel(Path::new(&format!("/proc/{pid}/maps")), limit).ok();
        let maps = text.map(LiveMaps::parse).filter(|maps| !maps.list.is_empty()).map(Arc::new);
        processes.insert(pid, maps.clone());
        maps
    }
}

/// The mappings that a process has now, ordered by address.
#[derive(Debug)]
pub(crate) struct LiveMaps {
    text: FileBytes,
    list: Vec<LiveMapping>,
}

/// A line of `/proc/PID/maps`.
#[derive(Clone, Debug)]
pub(crate) struct LiveMapping {
    pub(crate) range: Range<u64>,
    /// The file, as `stat` in the namespace of the process has it; inode 0 for memory without a file.
    pub(crate) inode: Inode,
    /// The place of the path in the text.
    name: Range<usize>,
}

impl LiveMaps {
    fn parse(text: FileBytes) -> Self {
        let mut list = Vec::new();
        let mut at = 0_usize;
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            list.extend(parse_line(line, at));
            at = at.saturating_add(line.len());
        }
        Self { text, list }
    }

    /// Returns the mapping that has an address.
    pub(crate) fn find(&self, addr: u64) -> Option<&LiveMapping> {
        let after = self.list.partition_point(|mapping| mapping.range.start <= addr);
        self.list.get(after.checked_sub(1)?).filter(|mapping| mapping.range.contains(&addr))
    }

    /// Returns the mapping at the recorded address, if it has the file of this path.
    fn of_file(&self, start: u64, path: &[u8]) -> Option<&LiveMapping> {
        let mapping = self.find(start)?;
        let name = self.text.get(mapping.name.clone())?;
        let (name, path) = (undeleted(name), undeleted(path));
        (mapping.range.start == start && mapping.inode.ino != 0 && name == path).then_some(mapping)
    }
}

/// Returns a path without what the kernel appends if the file was deleted.
fn undeleted(path: &[u8]) -> &[u8] {
    path.strip_suffix(DELETED).unwrap_or(path)
}

/// Parses `START-END PERM OFFSET MAJ:MIN INODE NAME`. `at` is the place of the line in its text.
///
/// Kernel: `show_map_vma`, `fs/proc/task_mmu.c`.
fn parse_line(line: &[u8], at: usize) -> Option<LiveMapping> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let mut end = 0_usize;
    let mut field = || {
        let rest = line.get(end..)?;
        let len = rest.iter().position(|&byte| byte == b' ').unwrap_or(rest.len());
        end = end.saturating_add(len).saturating_add(1);
        std::str::from_utf8(rest.get(..len)?).ok()
    };
    let (range, _permissions, _offset, device, ino) = (field()?, field()?, field()?, field()?, field()?);
    let hex = |text| u64::from_str_radix(text, 16).ok();
    let (start, stop) = range.split_once('-')?;
    let (maj, min) = device.split_once(':')?;
    let number = |text| u32::from_str_radix(text, 16).ok();
    let inode = Inode { maj: number(maj)?, min: number(min)?, ino: ino.parse().ok()?, ino_generation: 0 };
    let name = line
        .iter()
        .skip(end)
        .position(|&byte| byte != b' ')
        .map_or(line.len(), |blanks| end.saturating_add(blanks));
    let name = at.saturating_add(name)..at.saturating_add(line.len());
    Some(LiveMapping { range: hex(start)?..hex(stop)?, inode, name })
}

/// Places at which the file of a mapping may be, and what its process says about it.
#[derive(Debug, Default)]
pub(crate) struct LivePlaces {
    pub(crate) paths: Vec<PathBuf>,
    /// The file that the process has now mapped by this path at the recorded address; `None` if it has none there.
    pub(crate) mapped: Option<Inode>,
}

/// Returns the places at which a process that runs may have the file of its first mapping: in its own root folder, and the
/// files that it has mapped now. No places if the process does not run.
pub(crate) fn places(
    processes: &Processes,
    files: &dyn Files,
    (path, first): (&[u8], FirstMapping),
    limit: u64,
) -> LivePlaces {
    let Some(maps) = processes.maps(files, first.pid, limit) else { return LivePlaces::default() };
    let folder = PathBuf::from(format!("/proc/{}", first.pid));
    let mut paths: Vec<_> = below(&folder.join("root"), &path_of(undeleted(path))).into_iter().collect();
    let mapping = maps.of_file(first.start, path);
    if let Some(LiveMapping { range, inode, .. }) = mapping {
        paths.push(folder.join(format!("map_files/{:x}-{:x}", range.start, range.end)));
        // Only root may read the mapped files.
        let exe = folder.join("exe");
        paths.extend(is_same(Some(*inode), files.inode(&exe)).then_some(exe));
    }
    LivePlaces { paths, mapped: mapping.map(|mapping| mapping.inode) }
}

/// Returns the map of generated code that a process which runs has by its own number in its own root folder, if it is the
/// process that has memory without a file at the first recorded address.
///
/// perf: `dso__find_perf_map`, `tools/perf/util/symbol.c`.
pub(crate) fn perf_map(
    processes: &Processes,
    files: &dyn Files,
    first: FirstMapping,
    limit: u64,
) -> Option<PathBuf> {
    let maps = processes.maps(files, first.pid, limit)?;
    maps.find(first.start).filter(|mapping| mapping.inode.ino == 0)?;
    let status = files.read_kernel(Path::new(&format!("/proc/{}/status", first.pid)), 1 << 16).ok()?;
    let number = namespace_pid(&status)?;
    Some(format!("/proc/{}/root/tmp/perf-{number}.map", first.pid).into())
}

/// Returns the number of a process in its innermost namespace, from `/proc/PID/status`.
fn namespace_pid(status: &[u8]) -> Option<i32> {
    let numbers = std::str::from_utf8(status).ok()?.lines().find_map(|line| line.strip_prefix("NStgid:"))?;
    numbers.split_whitespace().next_back()?.parse().ok()
}

/// Returns whether two inodes are those of one file. Generations differ if the number of an inode was reused; 0 is one that is
/// not known.
pub(crate) fn is_same(one: Option<Inode>, other: Option<Inode>) -> bool {
    let place = |it: Inode| (it.maj, it.min, it.ino);
    one.zip(other).is_some_and(|(one, other)| {
        let generations = [one.ino_generation, other.ino_generation];
        place(one) == place(other) && (generations.contains(&0) || one.ino_generation == other.ino_generation)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
        00400000-00401000 r-xp 00000000 08:10 77                                 /srv/a program\n\
        7f0000000000-7f0000002000 r-xp 00001000 00:2a 78                         /lib/x (deleted)\n\
        7f0000002000-7f0000003000 rwxp 00000000 00:00 0 \n\
        no mapping\n";

    #[test]
    fn mappings_of_a_process() {
        let maps = LiveMaps::parse(FileBytes::new(MAPS));
        let file = |addr, path: &str| maps.of_file(addr, path.as_bytes()).map(|it| it.inode);
        let inode = |maj, min, ino| Some(Inode { maj, min, ino, ino_generation: 0 });
        assert_eq!(file(0x40_0000, "/srv/a program"), inode(8, 16, 77));
        assert_eq!(file(0x7f00_0000_0000, "/lib/x"), inode(0, 42, 78));
        assert_eq!(file(0x7f00_0000_0000, "/lib/x (deleted)"), inode(0, 42, 78));
        // Another file, another address, and no file.
        assert_eq!(file(0x40_0000, "/srv/other"), None);
        assert_eq!(file(0x7f00_0000_1000, "/lib/x"), None);
        assert_eq!(file(0x7f00_0000_2000, ""), None);
        assert!(maps.find(0x7f00_0000_2fff).is_some());
        assert!(maps.find(0x7f00_0000_3000).is_none() && maps.find(0).is_none());
    }

    #[test]
    fn numbers_in_namespaces() {
        assert_eq!(namespace_pid(b"Name:\tx\nNStgid:\t31337\t7\nNSpid:\t31337\t9\n"), Some(7));
        assert_eq!(namespace_pid(b"Name:\tx\n"), None);
    }
}
