//! Names of functions in assembly. Go's linker appends `.abi0` to those that have a second entry for the calling convention of Go;
//! the table has their names without it.

use object::elf;

use super::function_record::FunctionRecord;
use super::pclntab_header::PclntabVersion;

/// What the linker appends.
pub(crate) const ABI0: &[u8] = b".abi0";

/// Number of bytes of a name that [`is_abi0`] needs.
pub(super) const LONGEST: usize = 64;

/// Returns whether the linker makes second entries for a machine, from Go 1.18 on.
///
/// Go: `RegabiWrappers`, `internal/buildcfg/exp.go`.
pub(super) fn has_wrappers(version: PclntabVersion, machine: u16) -> bool {
    let machines = [elf::EM_X86_64, elf::EM_AARCH64, elf::EM_PPC64, elf::EM_RISCV];
    version >= PclntabVersion::Go118 && machines.iter().any(|it| it.0 == machine)
}

/// Returns whether the symbol of a function has the suffix, on a machine with second entries: if it is in assembly, and its
/// arguments are described as those of a function that Go declares. `name` may be cut after [`LONGEST`] bytes. Before Go 1.25,
/// those of the runtime were not described.
///
/// Go: `mangleABIName`, `cmd/link/internal/ld/symtab.go`.
pub(super) fn is_abi0(record: &FunctionRecord, name: &[u8]) -> bool {
    let is_of_runtime =
        || name.strip_prefix(b"runtime.").is_some_and(|name| RUNTIME.binary_search(&name).is_ok());
    record.is_assembly && (record.has_arguments || is_of_runtime())
}

/// Functions of the runtime in assembly whose arguments are not described, in the order of their names: those of Go 1.19 and 1.21.
const RUNTIME: &[&[u8]] = &[
    b"abort",
    b"asminit",
    b"callCgoMmap",
    b"callCgoMunmap",
    b"callCgoSigaction",
    b"cgoSigtramp",
    b"clone",
    b"closefd",
    b"closeonexec",
    b"cputicks",
    b"debugCallPanicked",
    b"epollcreate",
    b"epollcreate1",
    b"epollctl",
    b"epollwait",
    b"exit",
    b"exitThread",
    b"futex",
    b"gettid",
    b"goexit",
    b"gogo",
    b"madvise",
    b"mincore",
    b"morestack",
    b"morestack_noctxt",
    b"mstart",
    b"nanotime1",
    b"open",
    b"osyield",
    b"pipe2",
    b"procyield",
    b"raise",
    b"raiseproc",
    b"read",
    b"return0",
    b"rt0_go",
    b"rt_sigaction",
    b"rtsigprocmask",
    b"sched_getaffinity",
    b"setg",
    b"settls",
    b"sigaltstack",
    b"sigfwd",
    b"sigreturn",
    b"sigreturn__sigaction",
    b"sigtramp",
    b"stackcheck",
    b"sysMmap",
    b"sysMunmap",
    b"systemstack",
    b"systemstack_switch",
    b"timer_create",
    b"timer_delete",
    b"timer_settime",
    b"usleep",
    b"write1",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_in_assembly() {
        assert!(RUNTIME.is_sorted());
        let record =
            |is_assembly, has_arguments| FunctionRecord { is_assembly, has_arguments, ..Default::default() };
        assert!(is_abi0(&record(true, true), b"internal/cpu.cpuid"));
        assert!(is_abi0(&record(true, false), b"runtime.goexit"));
        assert!(!is_abi0(&record(true, false), b"runtime.memequal"));
        assert!(!is_abi0(&record(true, false), b"main.goexit"));
        assert!(!is_abi0(&record(false, true), b"runtime.goexit"));
    }

    #[test]
    fn machines_with_second_entries() {
        assert!(has_wrappers(PclntabVersion::Go118, 62) && has_wrappers(PclntabVersion::Go120, 183));
        assert!(!has_wrappers(PclntabVersion::Go120, 3) && !has_wrappers(PclntabVersion::Go116, 62));
    }
}
