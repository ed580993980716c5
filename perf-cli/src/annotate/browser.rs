//! Annotated functions on a terminal, with the keys of `perf annotate`.
//!
//! [`AnnotationView`](view::AnnotationView) takes keys and does not know the terminal. Drawing makes the rows that are seen only.

mod draw;
mod function_list;
mod hot;
mod jumps;
mod keys;
mod notes;
mod options;
mod request;
mod row_parts;
mod rows;
mod run;
mod search;
mod shown_number;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use function_list::HotFunction;
pub(crate) use request::{AnnotationProvider, FunctionRequest};
pub(crate) use run::browse;
pub(crate) use run::{AnnotationExit, show};
