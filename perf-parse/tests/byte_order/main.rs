//! The byte order as a type and as a value: arrays, the walk over records, and the views of one record.

mod list;
mod views;
