//! The functions of a stack.

use super::Report;
use super::call_graph::StackOrder;
use crate::function_table::FunctionTable;
use crate::stack_table::StackTable;
use crate::table::frames::NONE;

/// A function in a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackFunction {
    /// The frame, in [`Report::frames`] or the table of another list of stacks.
    pub frame: u32,
    /// The function in [`FunctionTable::function`](crate::FunctionTable::function); [`NONE`](crate::NONE) for an address
    /// without a name.
    pub function: u32,
}

impl StackFunction {
    /// Returns the number of its symbol; [`NONE`] if it has none.
    pub(super) fn symbol(self, named: &FunctionTable) -> u32 {
        named.function(self.function).map_or(NONE, |it| it.symbol)
    }
}

/// Puts the functions of a stack into `out`.
pub(crate) fn functions_of(
    table: &StackTable,
    named: &FunctionTable,
    stack: u32,
    (order, hides_unresolved): (StackOrder, bool),
    out: &mut Vec<StackFunction>,
) {
    out.clear();
    for frame in table.stacks.frames(stack) {
        let functions = named.functions(frame);
        if functions.is_empty() && !hides_unresolved {
            out.push(StackFunction { frame, function: NONE });
        }
        out.extend(functions.map(|function| StackFunction { frame, function }));
    }
    if order == StackOrder::Caller {
        out.reverse();
    }
}

impl Report {
    /// Puts the functions of a stack into `out`, in the order of the report.
    pub(super) fn functions_of(&self, stack: u32, out: &mut Vec<StackFunction>) {
        let how = (self.plan.order, self.plan.hides_unresolved);
        functions_of(&self.samples.table, &self.named, stack, how, out);
    }

    /// Returns the symbol of a function; [`NONE`] if it has none.
    pub(super) fn symbol_of(&self, it: StackFunction) -> u32 {
        it.symbol(&self.named)
    }

    /// Returns the symbol of the parent of a stack; [`NONE`] if it has none.
    pub(super) fn parent_of(&self, stack: &[StackFunction]) -> u32 {
        if self.parents.is_empty() {
            return NONE;
        }
        let parent = |&it| self.parents.get(self.symbol_of(it) as usize).copied();
        stack.iter().filter_map(parent).find(|&parent| parent != NONE).unwrap_or(NONE)
    }
}
