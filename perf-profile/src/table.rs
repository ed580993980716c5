//! Values that are kept once, and found by their numbers.

pub mod frames;
pub mod interner;
pub mod known_numbers;
pub mod known_stacks;
pub mod lists;
pub mod numbering;
pub mod stacks;
