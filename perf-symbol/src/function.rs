//! A function at the address of a frame.

use std::sync::Arc;

use crate::file_origin::FileOrigin;
use crate::guess::Guess;
use crate::symtab::NameSource;

/// A function at the address of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name as people read it, demangled if it was mangled. `None` if only the line is known.
    pub name: Option<Arc<[u8]>>,
    /// The name as it is in the file: mangled, if it is.
    pub raw_name: Option<Arc<[u8]>>,
    /// How far the address is from the start of the symbol; `None` without a symbol, and for inlined functions.
    pub offset: Option<u64>,
    /// The number of bytes of the symbol, which end where the next one begins if the file does not tell; `None` without a
    /// symbol, and for inlined functions.
    pub size: Option<u64>,
    /// Path of the source file, as the compiler recorded it.
    pub file: Option<Arc<[u8]>>,
    /// Line in the source file, from 1 on.
    pub line: Option<u32>,
    /// Column in the line, from 1 on.
    pub column: Option<u32>,
    /// Whether this function is inlined into the one that follows.
    pub is_inlined: bool,
    /// Where the name was found; `None` without a name.
    pub source: Option<NameSource>,
    /// How the file was found that has the name; `None` without a name, and for names of records and of jitdumps.
    pub origin: Option<FileOrigin>,
    /// Why the name is a guess; `None` if it is not one.
    pub guess: Option<Guess>,
}
