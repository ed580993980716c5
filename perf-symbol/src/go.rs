//! `.gopclntab`, the table of functions, lines and inlined calls that Go's runtime needs, so that stripped programs have it too.

mod assembly;
mod function_record;
mod inline_tree;
mod lines;
mod locate;
mod memory;
mod module_data;
mod pc_values;
mod pclntab;
mod pclntab_header;
mod relative_relocations;
mod words;

pub(crate) use assembly::ABI0;
pub use lines::{GoFrame, GoLines};
pub(crate) use locate::has_table;
pub(crate) use pclntab::Pclntab;
