//! Unwinding of copied user stacks.
//!
//! A recording with `perf record --call-graph dwarf` has, in each sample, the user registers and a copy of the top of the
//! user stack. An [`Unwinder`] finds the stack in them, with the unwind tables of the files that the process had mapped.
//! Which file that is, its caller answers. The unwinder opens nothing.
//!
//! # How a frame is found
//!
//! 1. By call frame information (CFI), of `.eh_frame` or else of `.debug_frame`. All registers that a function saves are
//!    restored, and signal frames and DWARF expressions are understood. What a row of these tables says is kept in a short
//!    form, so that few rows are read twice.
//!    A stack ends at the function at the entry point of a program, and at those of Go's runtime that start a program or
//!    change the stack, whatever the tables say.
//!    Of 32-bit Arm, `.ARM.exidx` is read where there is no CFI. It describes functions at their calls; in an innermost
//!    function, which may be in its prologue, what it leads to has to be after a call.
//! 2. In a signal trampoline without CFI, by the registers that the kernel put on the stack.
//! 3. In a trampoline of `python -X perf`, by its shape, if the process has named it so: see
//!    [`StackFinder::with_trampolines`](crate::StackFinder::with_trampolines).
//! 4. Without CFI, by the frame pointer; for the innermost frame also by the return address at the stack pointer or in the
//!    link register. This is a guess, and is marked as one: [`FrameSource::FramePointer`]. The instruction before the return
//!    address has to be a call that can get to the function: a direct one of it or of its PLT stub, or one through a register
//!    or memory. So a function that was jumped to (a tail call) ends the stack, and so do two readings with equal evidence.
//!    In generated code and files that are not available, whose bytes are not known, the caller's own frame has to be there.
//!
//! # Parts of a stack
//!
//! A sample may have a call chain, user registers with a copy of the stack, and branches that are its call stack
//! (`--call-graph lbr`). Such branches take the place of the chain's user part in all that follows. The kernel's frames are
//! always those of the chain.
//!
//! | user registers | copy of the stack | user part of the chain | user frames |
//! |---|---|---|---|
//! | not recorded | any | any | the chain: [`Unwinder::unwind`] returns `None` |
//! | any | not recorded | any | the chain |
//! | none (`PERF_SAMPLE_REGS_ABI_NONE`) | any | has frames, or the sample is in user space | the chain |
//! | none | any | empty, in the kernel | none: a task without user space, [rooted](StackEnd::Rooted) |
//! | of a machine that is not supported, or without the instruction pointer | any | any | the chain |
//! | of a guest's sample | any | any | the chain |
//! | known | recorded | has nothing outside of the unwound frames | unwound |
//! | known | ends before the first function, or is empty | goes on | unwound, then the chain |
//! | known | leads to a guess, or to what is no code | goes on | unwound up to there, then the chain |
//! | known | leads to the first function | goes on after it | unwound, then the chain, and so not rooted by the former |
//!
//! So no recorded frame is dropped for a guess. A stack that no chain continues can end with the frames of the thread's other
//! stacks: [`StackEnd::Completed`].
//!
//! Each stack has a [`StackEnd`]: whether it is whole and, if not, why.
//!
//! # Examples
//!
//! ```no_run
//! use std::sync::Arc;
//! use perf_abi::regs::Arch;
//! use perf_parse::Reader;
//! use perf_session::{Dso, Session};
//! use perf_symbol::FileBytes;
//! use perf_symbol::unwind::{Module, Unwinder};
//!
//! let mut module_of = |dso: &Dso| {
//!     let bytes = std::fs::read(std::str::from_utf8(dso.path()).ok()?).ok()?;
//!     Some(Arc::new(Module::parse(FileBytes::new(bytes)).ok()?))
//! };
//! let reader = Reader::open("perf.data")?;
//! let mut session = Session::new();
//! let mut unwinder = Unwinder::new(Arch::X86);
//! let mut frames = Vec::new();
//! for record in reader.records().in_time_order() {
//!     let record = record?;
//!     session.update(&record)?;
//!     let Some(at) = session.at(&record) else { continue };
//!     frames.clear();
//!     if let Some(stack) = unwinder.unwind(&at, None, &mut module_of, &mut frames)? {
//!         println!("{} frames, {}", frames.len(), stack.end);
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arm_exidx;
mod augmentation;
mod call;
mod chain;
mod end;
mod evidence;
mod expression;
mod fde;
mod first;
mod frame;
mod guess;
mod linkage;
mod lookup;
mod machine;
mod memory;
mod module;
mod module_cache;
mod registers;
mod row;
mod rule;
mod rule_cache;
mod sigreturn;
mod space;
mod thread_roots;
mod trampoline;
mod unwinder;
mod unwound;
mod walk;

pub use end::StackEnd;
pub use frame::{FrameSource, UnwoundFrame};
pub use machine::UnwindMachine;
pub use module::{Module, ModuleError};
pub use thread_roots::{PartialStack, ThreadRoots};
pub use unwinder::Unwinder;
pub use unwound::UnwoundStack;
