//! The functions of a stack.

use super::Report;
use super::call_graph::StackOrder;
use crate::table::frames::NONE;

/// A function in a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackFunction {
    /// The frame, in [`Report::frames`].
    pub frame: u32,
    /// The function in [`FunctionTable::function`](crate::FunctionTable::function); [`NONE`](crate::NONE) for an address
    /// without a name.
    pub function: u32,
}

impl Report {
    /// Puts the functions of a stack into `out`, in the order of the report.
    pub(super) fn functions_of(&self, stack: u32, out: &mut Vec<StackFunction>) {
        out.clear();
        for frame in self.samples.table.stacks.frames(stack) {
            let functions = self.named.functions(frame);
            if functions.is_empty() && !self.plan.hides_unresolved {
                out.push(StackFunction { frame, function: NONE });
            }
            out.extend(functions.map(|function| StackFunction { frame, function }));
        }
        if self.plan.order == StackOrder::Caller {
            out.reverse();
        }
    }

    /// Returns the symbol of a function; [`NONE`] if it has none.
    pub(super) fn symbol_of(&self, it: StackFunction) -> u32 {
        self.named.function(it.function).map_or(NONE, |it| it.symbol)
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
