//! Arm CoreSight: the metadata of a capture, and the bytes of each trace id.
//!
//! Packets are not decoded: that is the task of a decoder such as OpenCSD. This module gives it what it needs of a capture:
//!
//! - [`CsMetadata`]: the registers of the trace unit of each CPU, from the AUXTRACE_INFO record.
//! - [`CsHwId`]: the trace id of each CPU, from AUX_OUTPUT_HW_ID records; or [`CsUnit::trace_id`] if there are none.
//! - [`CsFrames`]: the bytes of each trace id, from the data of AUXTRACE records, if it [has frames](has_frames).
//!
//! Nothing here allocates.
//!
//! simpleperf can decode such traces while it records, and then stores only branches. `perf-parse` decodes them:
//! `perf_parse::feature::EtmBranchList`, the feature
//! [`ETM_BRANCH_LIST`](perf_abi::feature::Feature::ETM_BRANCH_LIST).
//!
//! # Examples
//!
//! Collects the trace of each source:
//!
//! ```
//! use std::collections::BTreeMap;
//! use perf_aux::coresight::{CsFrames, CsPart};
//!
//! fn traces(aux: &[u8]) -> BTreeMap<u8, Vec<u8>> {
//!     let mut traces = BTreeMap::<u8, Vec<u8>>::new();
//!     for part in CsFrames::new(aux) {
//!         match part {
//!             CsPart::Slice(slice) => {
//!                 if let Some(id) = slice.id.filter(|id| id.is_source()) {
//!                     traces.entry(id.0).or_default().extend(slice.bytes());
//!                 }
//!             }
//!             CsPart::Barrier { .. } => { /* Reset the decoders. */ }
//!             _ => { /* Trace was lost. */ }
//!         }
//!     }
//!     traces
//! }
//!
//! let frame = [0x21, 1, 2, 3, 0x23, 4, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0];
//! assert_eq!(traces(&frame)[&0x10], [1, 2, 3]);
//! ```

mod frames;
mod metadata;
mod text;
mod trace_id;
mod unit;

pub use frames::{CsFrames, CsPart, CsSlice, has_frames};
pub use metadata::{CsCpu, CsCpus, CsError, CsErrorKind, CsMetadata};
pub use text::CsText;
pub use trace_id::{CsHwId, CsTraceId};
pub use unit::{CsEte, CsEtmv3, CsEtmv4, CsUnit};
