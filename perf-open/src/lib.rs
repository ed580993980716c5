//! Live capture with Linux perf_event: counters, groups, rings, AUX areas, and the lists of the machine's events.
//!
//! - **What to count**: an [`EventSpec`], built by a constructor ([`EventSpec::software`], [`EventSpec::tracepoint`],
//!   [`EventSpec::uprobe`], ...) or parsed from a perf event string by [`event::parse`](event::parse()). [`pmu`] lists
//!   the PMUs of the machine.
//! - **Where to count**: a [`Target`]: a thread, a cpu, or a cgroup on a cpu.
//! - **How to count**: a [`Builder`], with a setter for each field of the attr. It opens a [`Counter`] or a member of a
//!   [`CounterGroup`].
//! - **Counts**: [`Counter::read`], or [`user_read`] without a system call.
//! - **Records**: a [`Ring`], or an [`Overwrite`] that keeps the newest records; [`AuxMapping`] areas. [`parse`]
//!   decodes the records.
//!
//! [`manual`] maps each name of perf_event_open(2) to an item of this crate.
//!
//! # Examples
//!
//! ```no_run
//! use perf_open::abi::event::SwId;
//! use perf_open::{Builder, EventSpec, Target};
//!
//! let counter = Builder::new(EventSpec::software(SwId::PAGE_FAULTS))
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
//! An [`Error`] holds the call, the name of the errno, and what the errno means for this event on this machine.
//! Examples: the value of `perf_event_paranoid` if it forbids the event, the list of PMUs if none counts the event, the
//! fields that an older kernel does not know. Requests that can only fail, and requests that a kernel accepts but
//! handles wrongly, return an error before any system call.
//!
//! # Kernels
//!
//! Every kernel since 3.2 works; Rust's standard library needs that version. The docs of newer features give the kernel
//! version that added them. The docs of features with kernel bugs give the affected versions. [`Builder::or_drop`]
//! leaves out the parts of an attr that a kernel is too old for, and [`Counter::dropped`] lists them.
//!
//! # Finding things
//!
//! | to | use |
//! |---|---|
//! | wait for records | [`Ring::wait`], or [`ring::wait`] for several rings |
//! | read several rings in time order | [`ring::merge`] |
//! | wait in an event loop | [`AsFd`](std::os::fd::AsFd) and [`AsRawFd`](std::os::fd::AsRawFd) of [`Ring`] and [`Counter`] |
//! | use an event that another process has opened | [`Counter::from_fd`] |
//! | sample an event as perf does by default | [`EventSpec::default_sampling`] |
//! | find out whether a machine has an event | [`EventSpec::is_supported`] |
//! | read the BPF programs that are loaded | [`bpf`] |
//!
//! # Unsafe code
//!
//! All unsafe code is in one private module, `sys`: system calls, shared memory, and two instructions. A comment at
//! each block proves it sound. On systems other than Linux the crate is empty.

#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

extern crate alloc;

pub mod bpf;
mod breakpoint;
pub mod builder;
pub mod count;
pub mod counter;
pub mod error;
pub mod event;
pub mod group;
mod inode;
pub mod limits;
mod lookup;
pub mod manual;
mod open;
pub mod pmu;
mod priority;
pub mod probe;
pub mod ring;
pub mod signal;
mod support;
#[allow(unsafe_code, reason = "the system calls and the mapped memory, each with its proof")]
mod sys;
pub mod target;
pub mod tracepoint;
pub mod tsc;
pub mod user_read;
pub mod workload;

pub use builder::Builder;
pub use count::Count;
pub use counter::{Counter, disable_task, enable_task};
pub use error::Error;
pub use event::{EventGroup, EventSpec};
pub use group::CounterGroup;
pub use inode::inode_generation;
pub use perf_abi as abi;
pub use perf_parse as parse;
pub use priority::realtime;
pub use ring::aux_area::{self, AuxMapping, AuxSnapshot};
pub use ring::{Overwrite, Ring};
pub use target::Target;

/// The examples of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
