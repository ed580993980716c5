//! Functions at addresses of files, many in one call.

use core::ffi::{c_char, c_int};
use core::fmt;

use perf_symbol::{Function, FunctionLists, Symbolizer};

use crate::boundary::{Exclusive, call, exclusive, free, give, shared};
use crate::capture::out_of_range;
use crate::error::{PERFDATA_ERROR_CANCELLED, PERFDATA_OK, perfdata_error};
use crate::names::{self, perfdata_name_options};
use crate::string::{self, perfdata_string};
use crate::versioned::{self, versioned};

/// A function at an address.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct perfdata_function {
    /// Size of this structure in bytes.
    pub size: usize,
    /// Its name; NULL if it is unknown.
    pub name: perfdata_string,
    /// Its name as it is in the file; NULL if it is unknown.
    pub raw_name: perfdata_string,
    /// The source file, as the compiler recorded its path; NULL if it is unknown.
    pub file: perfdata_string,
    /// The offset of the address in the function; UINT64_MAX if it is unknown.
    pub offset: u64,
    /// The line in the source file, from 1 on; 0 if it is unknown.
    pub line: u32,
    /// The column, from 1 on; 0 if it is unknown.
    pub column: u32,
    /// Whether it is inlined into the next function of the address.
    pub is_inlined: bool,
}

versioned!(perfdata_function);

/// Finds the functions at addresses of files. One thread uses it at a time; it may move to another one.
pub struct perfdata_symbolizer(Exclusive<State>);

impl fmt::Debug for perfdata_symbolizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("perfdata_symbolizer").finish_non_exhaustive()
    }
}

struct State {
    symbolizer: Symbolizer,
    found: FunctionLists,
}

/// Makes a symbolizer. `options` may be NULL. It needs no capture.
///
/// # Safety
///
/// `options` is NULL or has its size; `out` and `error` can be written, `error` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_symbolizer_new(
    options: *const perfdata_name_options,
    out: *mut *mut perfdata_symbolizer,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes NULL or options.
        let (options, _) = unsafe { names::read(options) }?;
        let state = State { symbolizer: Symbolizer::new(options), found: FunctionLists::default() };
        // SAFETY: the caller passes what can be written.
        unsafe { give(out, perfdata_symbolizer(Exclusive::new(state))) }
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Finds the functions at addresses of an ELF file, as its symbols have them. A file that is not there, or has no symbols, has no
/// functions, which is no error. What was found lives until the next call of this function.
///
/// # Safety
///
/// `symbolizer` is a live handle that no other call uses; `path` ends with a NUL; `addresses` has `count` of them; `error` is
/// NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_symbolizer_find(
    symbolizer: *mut perfdata_symbolizer,
    path: *const c_char,
    addresses: *const u64,
    count: usize,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle that no other call uses.
        let symbolizer = unsafe { exclusive(symbolizer) }?;
        // SAFETY: the caller passes NULL or a string.
        let path = unsafe { string::bytes(path) }.ok_or_else(|| perfdata_error::argument("path is NULL"))?;
        // SAFETY: the caller passes an array of this length.
        let addresses = unsafe { string::array(addresses, count, "addresses") }?;
        symbolizer.0.run(|state| {
            let found = state.symbolizer.functions_of(path, addresses);
            state.found =
                found.map_err(|error| perfdata_error::new(PERFDATA_ERROR_CANCELLED, error.to_string()))?;
            Ok(PERFDATA_OK)
        })
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

/// Writes a function that the last perfdata_symbolizer_find found: that with the index `function` at the address with the index
/// `address`, the innermost inlined one first. Returns 1, or 0 if the address has no more.
///
/// # Safety
///
/// `symbolizer` is a live handle that no other call uses; `out->size` is set; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_symbolizer_function(
    symbolizer: *const perfdata_symbolizer,
    address: usize,
    function: usize,
    out: *mut perfdata_function,
    error: *mut *mut perfdata_error,
) -> c_int {
    let act = || {
        // SAFETY: the caller passes a live handle.
        let symbolizer = unsafe { shared(symbolizer) }?;
        let found = symbolizer.0.get().map(|state| &state.found).filter(|found| address < found.len());
        let found = found.ok_or_else(|| {
            let count = symbolizer.0.get().map_or(0, |state| state.found.len());
            out_of_range("address", address, count)
        })?;
        let Some(function) = found.get(address).get(function) else { return Ok(0) };
        // SAFETY: the caller passes a structure with its size.
        unsafe { versioned::write(out, function_of(function), "perfdata_function") }?;
        Ok(1)
    };
    // SAFETY: the caller passes NULL or what can be written.
    unsafe { call(error, act) }
}

fn function_of(it: &Function) -> perfdata_function {
    perfdata_function {
        size: 0,
        name: perfdata_string::of_option(it.name.as_deref()),
        raw_name: perfdata_string::of_option(it.raw_name.as_deref()),
        file: perfdata_string::of_option(it.file.as_deref()),
        offset: it.offset.unwrap_or(u64::MAX),
        line: it.line.unwrap_or(0),
        column: it.column.unwrap_or(0),
        is_inlined: it.is_inlined,
    }
}

/// Frees a symbolizer. NULL has no effect.
///
/// # Safety
///
/// `symbolizer` is NULL or a live handle that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn perfdata_symbolizer_free(symbolizer: *mut perfdata_symbolizer) {
    // SAFETY: the caller passes NULL or a live handle, once.
    unsafe { free(symbolizer) };
}
