//! The address space of a process, and the files in it.

use std::sync::Arc;

use super::frame::FrameSource;
use super::module::Module;

/// What is at an address of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressKind {
    /// Nothing is mapped.
    Nowhere,
    /// What is mapped is not executable. If its file is known, the number of the module and the address in it.
    Data(Option<(u32, u64)>),
    /// Code, with the same.
    Code(Option<(u32, u64)>),
}

/// The address space of a process.
pub(crate) trait Space {
    /// Returns what is at an address.
    fn place(&mut self, addr: u64) -> AddressKind;
    /// Returns the module with a number that an [`AddressKind`] had.
    fn module(&self, number: u32) -> Option<&Arc<Module>>;
    /// Returns whether an address is in a trampoline of Python.
    fn is_trampoline(&mut self, addr: u64) -> bool;
    /// Returns how a frame was found to which the tables of the module with a number led.
    fn source(&self, number: u32) -> FrameSource;
}
