//! The BPF programs that are loaded during a recording.

mod btf;

use alloc::collections::BTreeMap;

use perf_abi::ksymbol::NAME_LEN;
use perf_open::bpf::{self, BpfFunction, LoadedProgram};
use perf_parse::feature::{BpfBtf, Entries, FeatureData};
use perf_parse::file::write::FeaturePayloads;

use crate::Error;

/// The maximum number of bytes of programs and types that are kept. They are in memory until the end of the recording.
const MAX_KEPT: usize = 256 << 20;

/// The programs of a recording, with what perf records of them.
#[derive(Clone, Debug, Default)]
pub struct BpfPrograms {
    /// By their ids. `None` for a program that was read, and that the recording has nothing of: it is not read again.
    programs: BTreeMap<u32, Option<LoadedProgram>>,
    /// The types of the programs, by their ids.
    types: BTreeMap<u32, Vec<u8>>,
    kept: usize,
}

impl BpfPrograms {
    /// Begins with no programs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads all programs that are loaded now and that are not known yet.
    ///
    /// A program that cannot be read is left out: it may have been unloaded in the meantime. So is a program without
    /// visible machine code, and what would exceed 256 MiB.
    ///
    /// # Errors
    ///
    /// If the programs cannot be listed: `EPERM` without `CAP_SYS_ADMIN`, `EINVAL` before Linux 4.13.
    pub fn load_all(&mut self) -> Result<(), perf_open::Error> {
        bpf::programs().try_for_each(|id| {
            self.load(id?);
            Ok(())
        })
    }

    /// Reads a program, unless it is known.
    pub fn load(&mut self, id: u32) {
        if self.programs.contains_key(&id) {
            return;
        }
        let program = LoadedProgram::read(id).ok().filter(|program| program.functions().next().is_some());
        let size = program
            .as_ref()
            .and_then(LoadedProgram::as_feature)
            .map_or(0, |it| it.info.len() + it.data.len());
        if self.kept + size > MAX_KEPT {
            return;
        }
        self.kept += size;
        let btf_id = program.as_ref().and_then(|program| {
            // Types without those of the functions are not used.
            program.functions().next()?.type_id?;
            program.btf_id()
        });
        self.programs.insert(id, program);
        if let Some(id) = btf_id
            && !self.types.contains_key(&id)
            && let Ok(types) = bpf::types(id)
            && self.kept + types.len() <= MAX_KEPT
        {
            self.kept += types.len();
            self.types.insert(id, types);
        }
    }

    /// Adds other programs. Those that are known stay as they are.
    pub(crate) fn add(&mut self, others: Self) {
        let size = |program: &Option<LoadedProgram>| {
            program.as_ref().and_then(LoadedProgram::as_feature).map_or(0, |it| it.info.len() + it.data.len())
        };
        for (id, program) in others.programs {
            let size = size(&program);
            if !self.programs.contains_key(&id) && self.kept + size <= MAX_KEPT {
                self.kept += size;
                self.programs.insert(id, program);
            }
        }
        for (id, types) in others.types {
            if !self.types.contains_key(&id) && self.kept + types.len() <= MAX_KEPT {
                self.kept += types.len();
                self.types.insert(id, types);
            }
        }
    }

    /// Returns whether there are no programs.
    pub(crate) fn is_empty(&self) -> bool {
        self.each().next().is_none()
    }

    /// Returns the programs in ascending order of their ids.
    pub(crate) fn each(&self) -> impl Iterator<Item = &LoadedProgram> {
        self.programs.values().flatten()
    }

    /// Returns the functions of a program with their names.
    pub(crate) fn functions(&self, program: &LoadedProgram) -> Vec<(BpfFunction, Vec<u8>)> {
        let types = program.btf_id().and_then(|id| self.types.get(&id));
        let functions: Vec<BpfFunction> = program.functions().collect();
        let name = program.as_feature().map(|it| it.name().to_vec()).unwrap_or_default();
        let typed: Vec<u32> = functions.iter().filter_map(|function| function.type_id).collect();
        let names = types.map(|types| btf::names(types, &typed)).unwrap_or_default();
        let is_whole = functions.len() == 1;
        let named = functions.into_iter().map(|function| {
            let of_type = function.type_id.filter(|_| types.is_some());
            let short = match of_type {
                Some(id) => names.get(&id).cloned().unwrap_or_default(),
                None if is_whole => name.clone(),
                None => b"F".to_vec(),
            };
            (function, symbol(&function.tag, &short))
        });
        named.collect()
    }

    /// Adds `BPF_PROG_INFO` and `BPF_BTF` to `features`, unless there are no programs.
    ///
    /// # Errors
    ///
    /// The same as [`FeaturePayloads::set`].
    pub fn describe(&self, features: &mut FeaturePayloads) -> Result<(), Error> {
        let programs: Vec<_> = self.each().filter_map(LoadedProgram::as_feature).collect();
        if !programs.is_empty() {
            features.set(&FeatureData::BpfProgInfo(Entries::from(&programs)))?;
        }
        let types = self.types.iter().map(|(&id, bytes)| BpfBtf { id, bytes });
        let types: Vec<_> = types.collect();
        if !types.is_empty() {
            features.set(&FeatureData::BpfBtf(Entries::from(&types)))?;
        }
        Ok(())
    }
}

/// Returns the kernel's symbol of a function.
///
/// Kernel: `bpf_get_prog_name`, `kernel/bpf/core.c`. perf: `synthesize_bpf_prog_name`, `tools/perf/util/bpf-event.c`.
fn symbol(tag: &[u8; 8], short: &[u8]) -> Vec<u8> {
    let mut name = format!("bpf_prog_{:016x}", u64::from_be_bytes(*tag)).into_bytes();
    if !short.is_empty() {
        name.push(b'_');
        name.extend(short);
    }
    name.truncate(NAME_LEN - 1);
    name
}

#[cfg(test)]
mod tests {
    #[test]
    fn symbols() {
        let tag = [0xf3, 0, 0, 0, 0, 0, 0, 1];
        assert_eq!(super::symbol(&tag, b"main"), b"bpf_prog_f300000000000001_main");
        assert_eq!(super::symbol(&tag, b""), b"bpf_prog_f300000000000001");
        assert_eq!(super::symbol(&tag, &[b'x'; 600]).len(), 511);
    }
}
