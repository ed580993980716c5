//! Build ids of mapped files, which the capture does not have.

use std::collections::{BTreeMap, HashSet};

use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::{CpuMode, Misc, RecordType};
use perf_parse::feature::{BuildId as ListedId, FeatureData};
use perf_parse::file::write::{EventFields, FeaturePayloads};
use perf_parse::record::{FileId, Mmap2, RawRecord};
use perf_parse::rewrite::{CaptureFilter, EditedRecord};
use perf_parse::{Reader, Record, SampleLayout};
use perf_session::{BuildId, DsoKind, Session};
use perf_symbol::FileFinder;

use super::reencode::reencoded;

/// `PROT_EXEC`.
const PROT_EXEC: u32 = 4;

/// The records that change what is mapped.
const MAPPINGS: &[RecordType] =
    &[RecordType::MMAP, RecordType::MMAP2, RecordType::COMM, RecordType::FORK, RecordType::EXIT];

/// A file as MMAP2 records identify it: path, device, inode and generation.
type FileKey = (Vec<u8>, u32, u32, u64, u64);

/// Build ids of the files that MMAP2 records have without one, read from files that are surely the recorded ones.
#[derive(Debug, Default)]
pub(super) struct FileBuildIds {
    /// `None` for a file that was not found, that has no build id, or that is doubtful.
    ids: BTreeMap<FileKey, Option<BuildId>>,
    /// The paths of executable files with their build ids, and the entries that the capture lists.
    listed: Vec<(Misc, i32, Vec<u8>, Vec<u8>)>,
    is_listed_anew: bool,
}

impl FileBuildIds {
    /// Looks up all files of a capture.
    pub(super) fn of(reader: &Reader<'_>, finder: &FileFinder) -> Self {
        let mut it = Self::default();
        let mut records = reader.records().only(MAPPINGS).in_time_order();
        let mut session = Session::new();
        for record in records.by_ref().flatten() {
            if session.update(&record).is_err() || record.misc().cpumode() != CpuMode::USER {
                continue;
            }
            let Ok(Record::Mmap2(mmap)) = record.decode() else { continue };
            let Some(key) = key_of(&mmap).filter(|key| !it.ids.contains_key(key)) else { continue };
            let maps = session.thread(mmap.tid).and_then(|thread| session.maps(thread));
            let dso = maps.and_then(|maps| maps.find(mmap.addr)).map(|mapping| mapping.dso());
            let found = dso.filter(|dso| dso.kind() == DsoKind::File).and_then(|dso| {
                let found = finder.find_mapped(dso, None);
                found.image.filter(|_| found.doubt.is_none())?.build_id()
            });
            if let Some(id) = found.filter(|_| mmap.prot_flags.is_none_or(|(prot, _)| prot & PROT_EXEC != 0))
            {
                it.listed.push((Misc(CpuMode::USER.0.into()), -1, id.as_bytes().to_vec(), key.0.clone()));
            }
            it.ids.insert(key, found);
        }
        it.list(&records.features().get(Feature::BUILD_ID).and_then(|it| it.decode().ok()));
        it
    }

    /// Puts what the capture lists before what was found, without paths that it has.
    fn list(&mut self, known: &Option<FeatureData<'_>>) {
        let known = match known {
            Some(FeatureData::BuildId(known)) => known.iter().collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        let paths: HashSet<_> = known.iter().map(|it| it.filename.as_bytes()).collect();
        self.listed.retain(|(.., path)| !paths.contains(&**path));
        self.is_listed_anew = !self.listed.is_empty();
        let known = known.iter().map(|it| (it.misc, it.pid, it.build_id.to_vec(), it.filename.to_vec()));
        self.listed.splice(..0, known);
    }
}

/// Returns what identifies the file of a record without a build id; `None` for what is no file.
fn key_of(mmap: &Mmap2<'_>) -> Option<FileKey> {
    let FileId::Inode { maj, min, ino, ino_generation } = mmap.id else { return None };
    let is_file = ino != 0 && mmap.filename.starts_with(b"/") && !mmap.filename.starts_with(b"//");
    is_file.then(|| (mmap.filename.to_vec(), maj, min, ino, ino_generation))
}

impl CaptureFilter for FileBuildIds {
    fn features(&mut self, features: &mut FeaturePayloads) {
        if self.is_listed_anew {
            let entry = |(misc, pid, build_id, path)| ListedId { misc, pid, build_id, filename: path };
            let listed = self
                .listed
                .iter()
                .map(|(misc, pid, id, path)| entry((*misc, *pid, id.as_slice(), path.as_slice().into())));
            // Build ids have 20 bytes at most, and paths are those of records.
            let _: Result<(), _> = features.set(&FeatureData::BuildId((&listed.collect::<Vec<_>>()).into()));
        }
    }

    fn event(&mut self, _: &mut EventFields) {}

    fn record(&mut self, raw: &RawRecord<'_>, layout: Option<&SampleLayout>) -> EditedRecord {
        self.with_build_id(raw, layout).map_or(EditedRecord::Kept, EditedRecord::Replaced)
    }
}

impl FileBuildIds {
    fn with_build_id(&self, raw: &RawRecord<'_>, layout: Option<&SampleLayout>) -> Option<Vec<u8>> {
        let layout = layout.filter(|_| raw.kind() == RecordType::MMAP2)?;
        let Record::Mmap2(mmap) = raw.decode(layout).ok()? else { return None };
        let id = (*self.ids.get(&key_of(&mmap)?)?)?;
        let mut bytes = [0; 20];
        bytes.get_mut(..id.as_bytes().len())?.copy_from_slice(id.as_bytes());
        let id = FileId::BuildId { size: u8::try_from(id.as_bytes().len()).ok()?, bytes };
        let misc = Misc(raw.misc().0 | Misc::MMAP_BUILD_ID.0);
        reencoded(raw, layout, misc, &Record::Mmap2(Mmap2 { id, ..mmap }))
    }
}
