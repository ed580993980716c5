//! An edit that writes the files of a folder.

use alloc::vec::Vec;
use std::io::{Seek, Write};

use perf_abi::feature::Feature;
use perf_abi::file::DirVersion;
use perf_abi::record::RecordType;

use super::sink::CaptureSink;
use crate::feature::{DirFormat, FeatureData};
use crate::file::write::{
    EventFields, FeaturePayloads, FileWriter, PartWriter, WriteFileError, WriteOptions,
};
use crate::record::RawRecord;

/// The outputs for the files of a folder, as `perf record --threads` writes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderOutputs<W> {
    /// The file `data`: the header, and the records that are not of a CPU.
    pub data: W,
    /// The files `data.0`, `data.1` and so on: the records of the CPUs, those of CPU N in file N modulo their number.
    pub parts: Vec<W>,
}

/// A folder that is being written.
#[derive(Debug)]
pub(super) struct FolderSink<W> {
    data: FileWriter<W>,
    parts: Vec<PartWriter<W>>,
}

impl<W: Write + Seek> CaptureSink for FolderSink<W> {
    type Out = FolderOutputs<W>;

    const IS_FILE: bool = true;

    fn has_room(_: Feature, _: &[u8]) -> bool {
        true
    }

    fn begin(
        out: Self::Out,
        events: &[EventFields],
        features: FeaturePayloads,
        options: &WriteOptions,
    ) -> Result<Self, WriteFileError> {
        let mut data = <FileWriter<W> as CaptureSink>::begin(out.data, events, features, options)?;
        data.features().set(&FeatureData::DirFormat(DirFormat { version: DirVersion(1) }))?;
        let parts = out.parts.into_iter().map(|part| PartWriter::new(part, options));
        Ok(Self { data, parts: parts.collect::<Result<_, _>>()? })
    }

    fn copy(
        &mut self,
        record: &RawRecord<'_>,
        data: &[u8],
        cpu: impl FnOnce() -> Option<u32>,
    ) -> Result<(), WriteFileError> {
        // The rounds of one file have no meaning for the others.
        if record.kind() == RecordType::FINISHED_ROUND {
            return Ok(());
        }
        let cpu = if record.kind().is_user() { None } else { cpu() };
        let part = cpu.and_then(|cpu| (cpu as usize).checked_rem(self.parts.len()));
        match part.and_then(|part| self.parts.get_mut(part)) {
            Some(part) => part.copy(record),
            None => FileWriter::copy(&mut self.data, record, data),
        }
    }

    fn finish(
        self,
        events: &[EventFields],
        features: Vec<(Feature, Vec<u8>)>,
    ) -> Result<Self::Out, WriteFileError> {
        let parts = self.parts.into_iter().map(PartWriter::finish).collect::<Result<_, _>>()?;
        Ok(FolderOutputs { data: CaptureSink::finish(self.data, events, features)?, parts })
    }
}
