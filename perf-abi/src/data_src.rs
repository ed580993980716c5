#![allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSrc(pub u64);
