//! Live capture with Linux perf_event.

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
pub mod pmu;
pub mod probe;
pub mod ring;
pub mod signal;
#[allow(unsafe_code, reason = "the system calls and the mapped memory, each with its proof")]
mod sys;
pub mod target;
pub mod tracepoint;
pub mod user_read;

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
