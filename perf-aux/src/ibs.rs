//! AMD Instruction-Based Sampling: the raw data of samples of `ibs_fetch` and `ibs_op`.
//!
//! A sample of these events is one instruction fetch or one operation. If the event asks for `PERF_SAMPLE_RAW`, its raw data is
//! a 32-bit word of [capabilities](IbsCaps) and the registers of the sample. [`FetchSample`] and [`OpSample`] decode it; they
//! borrow the bytes and allocate nothing.
//!
//! # Recognition
//!
//! Nothing in the raw data marks it as such. The `type` of the event's attr is the number of the PMU, which differs between
//! machines; [`IbsPmus`] finds it by name in the `PMU_MAPPINGS` feature of the capture. perf also requires that the `CPUID`
//! feature names AMD ([`AmdCpu::of_cpuid`]), and that `ARCH` is x86.
//!
//! The kernel takes precise events of the CPU's PMU, such as `cycles:p`, by `ibs_op` too. Their attr keeps the type of the
//! CPU's PMU, so that neither perf nor this module recognises them.
//!
//! # Meaning
//!
//! The meaning of some bits depends on the capabilities, and on the family and model of the CPU. [`OpSample::data_src`] derives
//! the data source of an access as the kernel does, and [`OpSample::text`] and [`FetchSample::text`] print what
//! `perf script -D` prints after a sample.
//!
//! # Examples
//!
//! ```
//! use perf_aux::ibs::{AmdCpu, FetchSample, IbsCaps, IbsText};
//!
//! let mut raw = Vec::from(IbsCaps::FETCHCTLEXTD.0.to_le_bytes());
//! for register in [0x0007_002a_0100_1000_u64, 0x40_1000, 0, 5] {
//!     raw.extend(register.to_le_bytes());
//! }
//! let fetch = FetchSample::parse(&raw)?;
//! assert!(fetch.is_valid() && fetch.ctl.fetch_comp());
//! assert_eq!((fetch.ctl.fetch_lat(), fetch.lin_addr), (42, 0x40_1000));
//! let cpu = AmdCpu::of_cpuid(b"AuthenticAMD,25,17,1").unwrap_or_default();
//! let text = fetch.text(IbsText { cpu, caps: fetch.caps, ..IbsText::default() }).to_string();
//! assert_eq!(text.lines().nth(1), Some("IbsFetchLinAd:\t0000000000401000"));
//!
//! let error = FetchSample::parse(&raw[..20]).unwrap_err();
//! assert_eq!(error.to_string(), "IBS_FETCH_PHYSAD at byte 20 of the raw data needs 8 bytes; 0 are left");
//! # Ok::<(), perf_aux::ibs::IbsError>(())
//! ```
//!
//! # Not decoded
//!
//! Other tracers of this kind have names in `perf-abi`, and `perf-parse` returns their bytes; nothing decodes these:
//!
//! - **s390**: samples of `cpum_cf` and of the PAI PMUs have counter sets as raw data. `cpum_sf` writes basic and diagnostic
//!   entries into an AUX area; the type of its AUXTRACE_INFO record is
//!   [`S390_CPUMSF`](perf_abi::auxtrace::AuxtraceType::S390_CPUMSF).
//! - **HiSilicon PCIe Tune and Trace** (`hisi_ptt`): headers of PCIe transactions in an AUX area; the type of its AUXTRACE_INFO
//!   record is [`HISI_PTT`](perf_abi::auxtrace::AuxtraceType::HISI_PTT).
//!
//! perf prints them: `s390-sample-raw.c`, `s390-cpumsf.c` and `hisi-ptt.c` in `tools/perf/util`. `perfdata dump` prints the type
//! of the tracer, and where its data is.

mod caps;
mod cpu;
mod data_src;
mod pmu;
mod register;
mod sample;
mod text;

pub use caps::IbsCaps;
pub use cpu::AmdCpu;
pub use pmu::{IbsPmu, IbsPmus};
pub use register::{FetchCtl, FetchCtlExtd, OpCtl, OpData, OpData2, OpData3};
pub use sample::{FetchSample, IbsError, OpSample};
pub use text::{FetchText, IbsText, OpText};
