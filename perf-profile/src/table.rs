//! Values that are kept once, and found by their numbers.

pub mod frames;
pub mod interner;
pub mod number_cache;
pub mod number_lists;
pub mod numbering;
pub mod stack_cache;
pub mod stacks;
