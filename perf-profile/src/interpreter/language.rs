//! The functions of interpreters, by their names.

use perf_session::{DsoKind, Mapping};
use perf_symbol::{Function, NameSource};

/// Role of a frame for an interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameRole {
    /// A function of the interpreted program.
    Program,
    /// The function that interprets.
    Loop,
    /// A function of the interpreter that does nothing but call the one that interprets.
    Call,
    /// Another function of the interpreter.
    Own,
    /// Any other function.
    Other,
}

/// An interpreter.
struct Language {
    /// Names in perf maps and jitdumps of functions of the program begin so.
    programs: &'static [&'static [u8]],
    /// Names of functions that interpret begin so. There may be one for each instruction.
    loops: &'static [&'static [u8]],
    /// Names of functions that only call those begin so.
    calls: &'static [&'static [u8]],
    /// Names of other functions of the interpreter begin so, in programs that it is built into.
    own: &'static [&'static [u8]],
    /// Names of files that have nothing but the interpreter begin so.
    files: &'static [&'static [u8]],
}

const LANGUAGES: [Language; 6] = [
    // CPython: `Python/ceval.c`, `Python/perf_trampoline.c`, `Objects/call.c`.
    Language {
        programs: &[b"py::"],
        loops: &[b"_PyEval_EvalFrameDefault", b"PyEval_EvalFrameEx", b"_TAIL_CALL_"],
        calls: &[b"py_trampoline_evaluator", b"_PyEval_", b"PyEval_", b"_PyFunction_Vectorcall"],
        own: &[b"_Py", b"Py"],
        files: &[b"python", b"libpython"],
    },
    // Ruby: `vm_insnhelper.c`, `vm.c`.
    Language {
        programs: &[],
        loops: &[b"vm_exec_core"],
        calls: &[b"rb_vm_exec", b"vm_exec"],
        own: &[b"rb_", b"vm_"],
        files: &[b"ruby", b"libruby"],
    },
    // PHP: `Zend/zend_vm_execute.h`.
    Language {
        programs: &[],
        loops: &[b"execute_ex"],
        calls: &[b"zend_call_function", b"zend_execute"],
        own: &[b"zend_", b"zif_", b"php_"],
        files: &[b"php", b"libphp"],
    },
    // Lua: `lvm.c`, `ldo.c`. LuaJIT: `src/vm_x64.dasc`.
    Language {
        programs: &[],
        loops: &[b"luaV_execute", b"lj_BC_"],
        calls: &[b"luaD_call", b"ccall"],
        own: &[b"lua_", b"luaB_", b"luaD_", b"luaL_", b"luaV_", b"lj_"],
        files: &[b"lua", b"liblua"],
    },
    // Perl: `run.c`.
    Language {
        programs: &[],
        loops: &[b"Perl_runops_standard", b"Perl_runops_debug"],
        calls: &[b"Perl_call_sv"],
        own: &[b"Perl_", b"S_"],
        files: &[b"perl", b"libperl"],
    },
    // V8: `src/builtins`, `src/execution/execution.cc`. Its programs have much else in the same file.
    Language {
        programs: &[b"JS:", b"LazyCompile:", b"Function:", b"Script:", b"Eval:"],
        loops: &[b"Builtins_InterpreterEntryTrampoline"],
        calls: &[b"Builtins_JSEntry", b"Builtins_Call", b"v8::internal::Execution::"],
        own: &[b"Builtins_", b"v8::internal::", b"v8::Function::Call"],
        files: &[],
    },
];

/// Returns the role of a frame: what is mapped at its address, and the functions there.
pub(super) fn role_of(mapping: Option<&Mapping>, functions: &[Function]) -> FrameRole {
    let function = functions.last();
    let name = function.and_then(|it| it.name.as_deref()).unwrap_or_default();
    let is_generated =
        function.is_some_and(|it| matches!(it.source, Some(NameSource::PerfMap | NameSource::Jitdump)));
    if is_generated {
        let is_program = LANGUAGES.iter().any(|it| begins(name, it.programs));
        return if is_program { FrameRole::Program } else { FrameRole::Other };
    }
    let Some(dso) = mapping.map(Mapping::dso).filter(|dso| dso.kind() == DsoKind::File) else {
        return FrameRole::Other;
    };
    let file = dso.path().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    role_in(file, name)
}

/// Returns the role of a function of a file.
fn role_in(file: &[u8], name: &[u8]) -> FrameRole {
    // The compiler puts rare parts of functions elsewhere: `.cold`.
    let base = name.split(|&byte| byte == b'.').next().unwrap_or_default();
    let mut role = FrameRole::Other;
    for it in &LANGUAGES {
        let is_own_file = begins(file, it.files);
        // Other programs may have functions of these names, but not those that interpret.
        let found = match base {
            _ if begins(base, it.loops) => FrameRole::Loop,
            _ if begins(base, it.calls) && (is_own_file || begins(base, it.own)) => FrameRole::Call,
            _ if is_own_file || begins(base, it.own) => FrameRole::Own,
            _ => continue,
        };
        if found == FrameRole::Loop || is_own_file {
            return found;
        }
        role = found;
    }
    role
}

/// Returns whether a text begins with one of some texts.
fn begins(text: &[u8], starts: &[&[u8]]) -> bool {
    starts.iter().any(|start| text.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_by_names_and_files() {
        for (file, name, role) in [
            ("libpython3.12.so.1.0", "_PyEval_EvalFrameDefault", FrameRole::Loop),
            ("libpython3.12.so.1.0", "_PyEval_EvalFrameDefault.cold", FrameRole::Loop),
            ("libpython3.12.so.1.0", "py_trampoline_evaluator", FrameRole::Call),
            ("python3.15", "_TAIL_CALL_LOAD_FAST", FrameRole::Loop),
            ("python3.12", "list_sort_impl", FrameRole::Own),
            ("python3.12", "", FrameRole::Own),
            // Built into another program.
            ("blender", "_PyEval_EvalFrameDefault", FrameRole::Loop),
            ("blender", "_PyEval_Vector", FrameRole::Call),
            ("blender", "PyObject_Call", FrameRole::Own),
            ("blender", "list_sort_impl", FrameRole::Other),
            ("libc.so.6", "qsort", FrameRole::Other),
            ("libruby.so.3.1", "vm_exec_core", FrameRole::Loop),
            ("ruby", "rb_ary_each", FrameRole::Own),
            ("php8.2", "execute_ex", FrameRole::Loop),
            ("game", "luaV_execute", FrameRole::Loop),
            ("game", "lua_pcallk", FrameRole::Own),
            ("luajit", "lj_BC_CALL", FrameRole::Loop),
            ("game", "draw", FrameRole::Other),
            ("perl", "Perl_runops_standard", FrameRole::Loop),
            ("node", "Builtins_InterpreterEntryTrampoline", FrameRole::Loop),
            ("node", "Builtins_JSEntry", FrameRole::Call),
            ("node", "uv_run", FrameRole::Other),
        ] {
            assert_eq!(role_in(file.as_bytes(), name.as_bytes()), role, "{file} {name}");
        }
    }
}
