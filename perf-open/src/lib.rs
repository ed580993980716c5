//! Live capture with Linux perf_event: counters and groups of them, the rings and AUX areas they are recorded in, and the
//! events that the machine has.
//!
//! - **What to count**: an [`Event`], made by its kind ([`Event::software`], [`Event::tracepoint`], [`Event::uprobe`], ...)
//!   or read from perf's event strings, [`event::parse`](event::parse()). [`pmu`] lists what the machine has.
//! - **Whom**: a [`Target`]: a thread, a cpu, a cgroup on a cpu.
//! - **How**: a [`Builder`], with a setter for each field of the attr. It opens a [`Counter`], or a [`Group`] of them.
//! - **Counts**: [`Counter::read`], and [`user_read`] without a system call.
//! - **Records**: a [`Ring`], or an [`Overwrite`] that keeps the newest; [`Aux`] areas. [`parse`] decodes what comes out.
//!
//! [`manual`] has every name of perf_event_open(2) and the item that serves it.
//!
//! # Examples
//!
//! ```
//! use perf_open::abi::event::SwId;
//! use perf_open::{Builder, Event, Target};
//!
//! let counter = Builder::new(Event::software(SwId::PAGE_FAULTS))
//!     .disabled(true)
//!     .exclude_kernel(true)
//!     .open(&Target::this_thread())?;
//! counter.enable()?;
//! let bytes = vec![1_u8; 1 << 20];
//! counter.disable()?;
//! println!("{} bytes: {} page faults", bytes.len(), counter.read()?.value);
//! # Ok::<(), perf_open::Error>(())
//! ```
//!
//! # Errors
//!
//! An [`Error`] tells the call, the errno by name, and what it means for this event on this machine: the value of
//! `perf_event_paranoid` where that is what forbids, the PMUs there are where there is none for the event, the fields that
//! an older kernel does not know. What could only fail, and what a kernel would take and do wrongly, is refused before it
//! is asked.
//!
//! # Kernels
//!
//! Any since 3.2, which Rust's standard library needs. What is newer says since when; what had bugs says where.
//! [`Builder::or_drop`] does without the parts of an attr that a kernel is too old for, and tells which.
//!
//! # Unsafe code
//!
//! It is in one private module, `sys`: the system calls, the shared memory, two instructions; each block is proved by its
//! comment. On systems other than Linux the crate is empty.

#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

extern crate alloc;

pub mod aux;
mod breakpoint;
pub mod builder;
pub mod count;
pub mod counter;
pub mod error;
pub mod event;
pub mod group;
pub mod limits;
pub mod manual;
pub mod pmu;
pub mod probe;
pub mod ring;
pub mod signal;
#[allow(unsafe_code, reason = "the system calls and the mapped memory, each with its proof")]
mod sys;
pub mod target;
pub mod tracepoint;
pub mod user_read;
pub mod workload;

pub use aux::{Aux, AuxSnapshot};
pub use builder::Builder;
pub use count::Count;
pub use counter::{Counter, disable_task, enable_task};
pub use error::Error;
pub use event::{Event, EventGroup};
pub use group::Group;
pub use perf_abi as abi;
pub use perf_parse as parse;
pub use ring::{Overwrite, Ring};
pub use target::Target;

/// The examples of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
