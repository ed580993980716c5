//! `stacks`: the stacks that samples have, each as a list of frames.

use super::column::{Column, columns};
use super::context::Context;
use super::rows::TableRows;

pub(super) const COLUMNS: &[Column] = columns! {
    capture: Word, "", "The capture.";
    stack_id: Int64, "", "Number of the stack in the capture. A stack may come again under another number.";
    frame_ids: Integers, "", "The frames, innermost first: see `frames`. An inlined function is a frame before the function that it is inlined into.";
    depth: Int32, "frames", "Number of frames.";
    leaf: Int64, "", "The first of `frame_ids`.";
    root: Int64, "", "The last of `frame_ids`.";
};

/// Writes a stack that has frames.
pub(super) fn push(rows: &mut TableRows, context: &Context, stack_id: u64, frame_ids: &[u64]) {
    let Some((&leaf, &root)) = frame_ids.first().zip(frame_ids.last()) else { return };
    rows.text(context.capture.as_str());
    rows.int64(stack_id);
    rows.integers(Some(frame_ids.iter().copied()));
    rows.int32(i32::try_from(frame_ids.len()).unwrap_or(i32::MAX));
    rows.int64(leaf);
    rows.int64(root);
    rows.end();
}
