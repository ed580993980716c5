//! The records of a capture without secrets.

use perf_parse::SampleLayout;
use perf_parse::abi::record::{Misc, RecordType};
use perf_parse::record::user::EventUpdateData;
use perf_parse::record::{
    BpfEvent, Cgroup, Comm, FileId, Ksymbol, Mmap, Mmap2, RawRecord, Record, UserRecord,
};
use perf_parse::rewrite::EditedRecord;

use super::{Redaction, SecretKind};
use crate::edit::reencode::reencoded;

/// A record of perf or simpleperf whose fields are numbers.
const PUBLIC: &[RecordType] = &[
    RecordType::FINISHED_ROUND,
    RecordType::ID_INDEX,
    RecordType::CPU_MAP,
    RecordType::STAT_CONFIG,
    RecordType::STAT,
    RecordType::STAT_ROUND,
    RecordType::TIME_CONV,
    RecordType::FINISHED_INIT,
    RecordType::SCHEDSTAT_CPU,
    RecordType::EVENT_ID,
    RecordType::CALLCHAIN,
];

impl Redaction {
    /// Returns a record other than a sample without secrets. `layout` is that of the event of a record of the kernel.
    pub(super) fn redacted_record(&self, raw: &RawRecord<'_>, layout: Option<&SampleLayout>) -> EditedRecord {
        if raw.kind().is_user() {
            return if self.shows_user(raw) { EditedRecord::Kept } else { EditedRecord::LeftOut };
        }
        let bytes = layout.and_then(|layout| self.of_kernel(raw, layout));
        bytes.map_or(EditedRecord::LeftOut, EditedRecord::Replaced)
    }

    /// Encodes a record of the kernel again, so that nothing is in it but its fields. `None` if it is left out.
    fn of_kernel(&self, raw: &RawRecord<'_>, layout: &SampleLayout) -> Option<Vec<u8>> {
        let record = raw.decode(layout).ok()?;
        let mut misc = raw.misc();
        let (comms, paths, strings) = (
            self.removes(SecretKind::Comms),
            self.removes(SecretKind::Paths),
            self.removes(SecretKind::Strings),
        );
        let name;
        let record = match record {
            Record::Sample(_) | Record::Other(_) | Record::User(..) => return None,
            Record::TextPoke(_) if self.removes(SecretKind::Raw) => return None,
            Record::Namespaces(_) if paths => return None,
            Record::Comm(it) if comms => {
                name = self.pseudonyms.comm(it.comm);
                Record::Comm(Comm { comm: &name, ..it })
            }
            Record::Mmap(it) if paths => {
                name = self.pseudonyms.path(it.filename);
                Record::Mmap(Mmap { filename: &name, ..it })
            }
            Record::Mmap2(it) if paths => {
                name = self.pseudonyms.path(it.filename);
                misc = Misc(misc.0 & !Misc::MMAP_BUILD_ID.0);
                let id = FileId::Inode { maj: 0, min: 0, ino: 0, ino_generation: 0 };
                Record::Mmap2(Mmap2 { filename: &name, id, ..it })
            }
            Record::Cgroup(it) if paths => {
                name = self.pseudonyms.path(it.path);
                Record::Cgroup(Cgroup { path: &name, ..it })
            }
            Record::Ksymbol(it) if strings => {
                name = self.pseudonyms.symbol(it.name);
                Record::Ksymbol(Ksymbol { name: &name, ..it })
            }
            Record::BpfEvent(it) if strings => Record::BpfEvent(BpfEvent { tag: [0; 8], ..it }),
            record => record,
        };
        reencoded(raw, layout, misc, &record)
    }

    /// Returns whether a record of perf or simpleperf has no secret, and no byte that is not known.
    fn shows_user(&self, raw: &RawRecord<'_>) -> bool {
        let Ok(Record::User(record, kind)) = raw.decode_user() else { return false };
        let holds: &[SecretKind] = match (&record, kind) {
            (UserRecord::EventUpdate(it), _) => match it.data {
                EventUpdateData::Scale(_) | EventUpdateData::Cpus(_) => &[],
                EventUpdateData::Unit(_) | EventUpdateData::Name(_) => &[SecretKind::Strings],
                _ => return false,
            },
            (_, RecordType::THREAD_MAP) => &[SecretKind::Comms],
            (_, RecordType::HEADER_BUILD_ID) => &[SecretKind::Paths],
            (_, RecordType::AUXTRACE | RecordType::AUXTRACE_INFO) => &[SecretKind::Raw],
            (_, RecordType::BPF_METADATA | RecordType::KERNEL_SYMBOL | RecordType::SCHEDSTAT_DOMAIN) => {
                &[SecretKind::Strings]
            }
            (_, RecordType::DSO | RecordType::SYMBOL) => &[SecretKind::Paths, SecretKind::Strings],
            (_, kind) if PUBLIC.contains(&kind) => &[],
            _ => return false,
        };
        !holds.iter().any(|&kind| self.removes(kind)) && record.rest().iter().all(|&byte| byte == 0)
    }
}
