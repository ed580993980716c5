//! Parts of the text that are as perf prints them: the header of a capture, sources of data, sizes, columns of numbers.

pub(crate) mod data_src;
pub(crate) mod header;
pub(crate) mod print;
pub(crate) mod size;
