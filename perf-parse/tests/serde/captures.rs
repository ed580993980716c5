//! Every capture of the repository.

use std::collections::BTreeMap;
use std::fs;

use perf_parse::event::EventRecord;
use perf_parse::feature::{BuildId, EventDesc, FeatureData};
use perf_parse::record::user::EventUpdateData;
use perf_parse::record::{FileId, Record, UserRecord};
use perf_parse::sample::{Sample, Tail};
use perf_parse::{FileError, Reader};
use serde_json::{Map, Value, json, to_value};

/// Returns the fields of an object in which nothing is null.
fn object(value: &Value) -> &Map<String, Value> {
    let object = value.as_object().unwrap_or_else(|| panic!("{value} is no map"));
    assert!(object.values().all(|value| !value.is_null()), "{value}");
    object
}

/// Returns the name of a variant and its content.
fn variant(value: &Value) -> (&str, &Value) {
    match value {
        Value::String(name) => (name, &Value::Null),
        _ => {
            let (name, content) = object(value).iter().next().unwrap();
            assert_eq!(object(value).len(), 1, "{value}");
            (name, content)
        }
    }
}

/// Returns an object of the fields that are there.
fn fields<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect::<Map<_, _>>()
        .into()
}

/// Returns bytes that are text.
fn text(bytes: &[u8]) -> Value {
    core::str::from_utf8(bytes).map_or_else(|_| json!(bytes), |text| json!(text))
}

fn check_sample(sample: &Sample<'_>, mut json: Value) {
    let tail = json.as_object_mut().unwrap().remove("tail");
    let expected = fields([
        ("identifier", sample.identifier().map(Value::from)),
        ("ip", sample.ip().map(Value::from)),
        ("pid", sample.pid().map(Value::from)),
        ("tid", sample.tid().map(Value::from)),
        ("time", sample.time().map(Value::from)),
        ("addr", sample.addr().map(Value::from)),
        ("id", sample.id().map(Value::from)),
        ("stream_id", sample.stream_id().map(Value::from)),
        ("cpu", sample.cpu().map(Value::from)),
        ("period", sample.period().map(Value::from)),
        ("fault", sample.tail().err().map(|fault| to_value(fault).unwrap())),
    ]);
    assert_eq!(json, expected);
    match tail {
        Some(tail) => check_tail(&sample.tail().unwrap(), &tail),
        None => assert!(sample.tail().is_err() || sample.callchain() == Ok(None)),
    }
}

fn check_tail(tail: &Tail<'_>, json: &Value) {
    let regs = |regs: perf_parse::sample::Regs<'_>| {
        let values: Vec<_> = regs.iter().map(|(_, value)| value).collect();
        json!({"abi": regs.abi.0, "mask": regs.mask, "values": values})
    };
    let branch = |it: perf_parse::list::Branch| json!({"from": it.from, "to": it.to, "flags": it.flags.0, "not_taken": it.not_taken});
    let is_ambiguous = tail.readings.iter().any(|(_, it)| it != perf_parse::sample::Reading::Certain);
    let expected = fields([
        (
            "read",
            tail.read.map(|read| {
                let value = |it: perf_parse::sample::ReadValue| {
                    fields([
                        ("value", Some(json!(it.value))),
                        ("id", it.id.map(Value::from)),
                        ("lost", it.lost.map(Value::from)),
                    ])
                };
                fields([
                    ("time_enabled", read.time_enabled().map(Value::from)),
                    ("time_running", read.time_running().map(Value::from)),
                    ("values", Some(read.values().map(value).collect())),
                ])
            }),
        ),
        ("callchain", tail.callchain.map(|it| it.words().iter().collect())),
        ("raw", tail.raw.map(Value::from)),
        (
            "branch_stack",
            tail.branch_stack.map(|it| {
                fields([
                    ("hw_idx", it.hw_idx.map(Value::from)),
                    ("entries", Some(it.entries.iter().map(branch).collect())),
                    ("counters", it.counters.map(|it| it.iter().collect())),
                ])
            }),
        ),
        ("regs_user", tail.regs_user.map(regs)),
        (
            "stack_user",
            tail.stack_user.map(|it| {
                fields([("data", Some(it.data.into())), ("dyn_size", it.dyn_size.map(Value::from))])
            }),
        ),
        ("weight", tail.weight.map(Value::from)),
        ("weight_struct", tail.weight_struct.map(|it| it.0.into())),
        ("data_src", tail.data_src.map(|it| it.0.into())),
        ("transaction", tail.transaction.map(|it| it.0.into())),
        ("regs_intr", tail.regs_intr.map(regs)),
        ("phys_addr", tail.phys_addr.map(Value::from)),
        ("cgroup", tail.cgroup.map(Value::from)),
        ("data_page_size", tail.data_page_size.map(Value::from)),
        ("code_page_size", tail.code_page_size.map(Value::from)),
        ("aux", tail.aux.map(Value::from)),
        (
            "readings",
            is_ambiguous.then(|| {
                let name = |name: &str| name.trim_start_matches("branch_stack.").to_owned();
                let readings = tail.readings.iter();
                readings
                    .map(|(of, it)| (name(of), json!(format!("{it:?}").to_lowercase())))
                    .collect::<Map<_, _>>()
                    .into()
            }),
        ),
    ]);
    assert_eq!(*json, expected);
}

/// Compares the content of some records with their fields.
fn check_record(record: &Record<'_>, name: &str, json: &Value) {
    match *record {
        Record::Sample(ref sample) => check_sample(sample, json.clone()),
        Record::Comm(it) => assert_eq!(*json, json!({"pid": it.pid, "tid": it.tid, "comm": text(it.comm)})),
        Record::Exit(it) | Record::Fork(it) => {
            let task = json!({
                "pid": it.pid, "ppid": it.ppid, "tid": it.tid, "ptid": it.ptid, "time": it.time,
            });
            assert_eq!(*json, task);
        }
        Record::Mmap2(it) => {
            let id = match it.id {
                FileId::BuildId { size, bytes } => json!({"build_id": {"size": size, "bytes": bytes}}),
                FileId::Inode { maj, min, ino, ino_generation } => {
                    json!({"inode": {"maj": maj, "min": min, "ino": ino, "ino_generation": ino_generation}})
                }
                _ => unreachable!("no other is known"),
            };
            let expected = fields([
                ("pid", Some(json!(it.pid))),
                ("tid", Some(json!(it.tid))),
                ("addr", Some(json!(it.addr))),
                ("len", Some(json!(it.len))),
                ("pgoff", Some(json!(it.pgoff))),
                ("id", Some(id)),
                ("prot_flags", it.prot_flags.map(|it| json!(it))),
                ("reading", (!it.reading.is_certain()).then(|| json!(it.reading))),
                ("filename", Some(text(it.filename))),
            ]);
            assert_eq!(*json, expected);
        }
        Record::Namespaces(it) => {
            let links: Vec<_> = it.link_info.iter().map(|it| json!({"dev": it.dev, "ino": it.ino})).collect();
            assert_eq!(*json, json!({"pid": it.pid, "tid": it.tid, "link_info": links}));
        }
        Record::BpfEvent(it) => {
            assert_eq!(*json, json!({"type": it.kind.0, "flags": it.flags, "id": it.id, "tag": it.tag}));
        }
        Record::Switch => assert_eq!(*json, Value::Null),
        Record::User(ref record, kind) => {
            let (name, json) = variant(json);
            check_user(record, json);
            if !matches!(record, UserRecord::Other(_)) {
                assert_eq!(name, kind.to_string());
            }
        }
        Record::Other(raw) => {
            let json_of = json!({"type": raw.kind().0, "misc": raw.misc().0, "payload": raw.payload()});
            assert_eq!((name, json), ("OTHER", &json_of));
        }
        _ => assert!(!object(json).is_empty()),
    }
    if !matches!(record, Record::User(..) | Record::Other(_)) {
        assert_eq!(name, record.kind().to_string());
    }
}

fn check_user(record: &UserRecord<'_>, json: &Value) {
    match record {
        UserRecord::HeaderAttr(it) => {
            let (attr, ids) = (it.attr(), it.ids.iter().collect::<Vec<_>>());
            assert_eq!(*json, json!({"attr": attr.attr, "attr_tail": attr.tail, "ids": ids}));
        }
        UserRecord::ThreadMap(it) => {
            let entries: Vec<_> =
                it.entries.iter().map(|it| json!({"pid": it.pid, "comm": text(it.comm())})).collect();
            assert_eq!(*json, json!({"entries": entries, "rest": it.rest}));
        }
        UserRecord::Stat(it) => {
            let stat = json!({
                "id": it.id, "cpu": it.cpu, "thread": it.thread, "val": it.val, "ena": it.ena, "run": it.run,
                "rest": it.rest,
            });
            assert_eq!(*json, stat);
        }
        UserRecord::EventUpdate(it) => {
            let data = match it.data {
                EventUpdateData::Unit(unit) => json!({"unit": text(unit)}),
                EventUpdateData::Scale(scale) => json!({"scale": scale}),
                EventUpdateData::Name(name) => json!({"name": text(name)}),
                EventUpdateData::Cpus(_) => json!({"cpus": json["data"]["cpus"]}),
                EventUpdateData::Other { kind, data } => json!({"other": {"type": kind.0, "data": data}}),
                _ => unreachable!("no other is known"),
            };
            assert_eq!(*json, json!({"id": it.id, "data": data, "rest": it.rest}));
        }
        UserRecord::AuxtraceError(it) => {
            let expected = fields([
                ("type", Some(json!(it.kind.0))),
                ("code", Some(json!(it.code))),
                ("cpu", Some(json!(it.cpu))),
                ("pid", Some(json!(it.pid))),
                ("tid", Some(json!(it.tid))),
                ("fmt", Some(json!(it.fmt))),
                ("ip", Some(json!(it.ip))),
                ("time", it.time.map(Value::from)),
                ("msg", Some(text(it.msg))),
                ("guest", it.guest.map(|it| json!(it))),
                ("rest", Some(json!(it.rest))),
            ]);
            assert_eq!(*json, expected);
        }
        UserRecord::SchedstatCpu(it) => {
            assert_eq!(json["counts"], json!(it.counts().collect::<BTreeMap<_, _>>()));
            assert_eq!(
                [&json["cpu"], &json["version"], &json["rest"]],
                [&json!(it.cpu), &json!(it.version), &json!(it.rest)]
            );
        }
        UserRecord::SchedstatDomain(it) => {
            assert_eq!(json["counts"], json!(it.counts().collect::<BTreeMap<_, _>>()));
            assert_eq!(
                [&json["cpu"], &json["domain"], &json["rest"]],
                [&json!(it.cpu), &json!(it.domain), &json!(it.rest)]
            );
        }
        UserRecord::BpfMetadata(it) => {
            assert_eq!(object(&json["entries"]).len(), it.entries.len());
            assert_eq!(json["prog_name"], text(it.prog_name));
        }
        UserRecord::Compressed(bytes) => assert_eq!(*json, json!(bytes)),
        UserRecord::FinishedRound | UserRecord::FinishedInit => assert_eq!(*json, Value::Null),
        _ => assert!(!object(json).is_empty()),
    }
}

fn check_feature(data: &FeatureData<'_>, json: &Value) {
    match data {
        FeatureData::Hostname(name) | FeatureData::Version(name) => assert_eq!(*json, text(name)),
        FeatureData::CmdLine(words) => {
            assert_eq!(*json, words.iter().map(|word| text(&word)).collect::<Value>())
        }
        FeatureData::NrCpus(it) => {
            assert_eq!(*json, json!({"nr_cpus_available": it.available, "nr_cpus_online": it.online}));
        }
        FeatureData::BuildId(ids) => {
            let id = |it: BuildId<'_>| json!({"misc": it.misc.0, "pid": it.pid, "build_id": it.build_id, "filename": text(&it.filename)});
            assert_eq!(*json, ids.iter().map(id).collect::<Value>());
        }
        FeatureData::EventDesc(it) => {
            let event =
                |it: EventDesc<'_>| json!({"name": text(&it.name), "ids": it.ids.iter().collect::<Vec<_>>()});
            assert_eq!(*json, it.events.iter().map(event).collect::<Value>());
        }
        FeatureData::TracingData(bytes) => assert_eq!(*json, json!(bytes)),
        _ => {}
    }
}

/// What was serialized.
#[derive(Debug, Default)]
struct Counts {
    types: BTreeMap<String, usize>,
    sample_ids: usize,
    features: BTreeMap<String, usize>,
    events: usize,
    faults: BTreeMap<String, usize>,
}

impl Counts {
    fn record(&mut self, record: &EventRecord<'_>) -> Result<(), FileError> {
        let decoded = record.decode()?;
        let json = to_value(decoded).unwrap();
        let (name, content) = variant(&json);
        check_record(&decoded, name, content);
        *self.types.entry(record.kind().to_string()).or_default() += 1;
        if let Some(id) = record.sample_id()? {
            let expected = fields([
                ("pid", id.pid().map(Value::from)),
                ("tid", id.tid().map(Value::from)),
                ("time", id.time().map(Value::from)),
                ("id", id.id().map(Value::from)),
                ("stream_id", id.stream_id().map(Value::from)),
                ("cpu", id.cpu().map(Value::from)),
                ("identifier", id.identifier().map(Value::from)),
            ]);
            assert_eq!(to_value(id).unwrap(), expected);
            self.sample_ids += 1;
        }
        let place = record.position();
        let expected = fields([
            ("data_file", Some(json!(place.data_file))),
            ("offset", Some(json!(place.offset))),
            ("decompressed", place.decompressed.map(Value::from)),
        ]);
        assert_eq!(to_value(place).unwrap(), expected);
        Ok(())
    }

    fn fault(&mut self, fault: &FileError) {
        let json = to_value(fault).unwrap();
        assert_eq!((&json["offset"], variant(&json["kind"]).0), (&json!(fault.offset), fault.kind.name()));
        *self.faults.entry(fault.kind.name().to_owned()).or_default() += 1;
    }

    fn capture(&mut self, bytes: &[u8]) {
        let Ok(reader) = Reader::new(bytes) else { return };
        let mut records = reader.records();
        for record in records.by_ref() {
            match record {
                Ok(record) => drop(self.record(&record).map_err(|fault| self.fault(&fault))),
                Err(fault) => self.fault(&fault),
            }
        }
        for section in records.features() {
            match section.decode() {
                Ok(data) => {
                    let json = to_value(data).unwrap();
                    let (name, content) = variant(&json);
                    check_feature(&data, content);
                    assert_eq!(name, section.feature.to_string());
                    *self.features.entry(name.to_owned()).or_default() += 1;
                }
                Err(fault) => self.fault(&fault),
            }
        }
        self.events(records.events());
        let account = records.account();
        let json = to_value(account).unwrap();
        let by_type: BTreeMap<_, _> =
            account.by_type().map(|(kind, count)| (kind.0.to_string(), count)).collect();
        assert_eq!((&json["records"], &json["by_type"]), (&json!(account.records), &json!(by_type)));
        assert_eq!(
            json["faults_by_kind"],
            json!(account.faults_by_kind().iter().collect::<BTreeMap<_, _>>())
        );
    }

    fn events(&mut self, events: &perf_parse::event::Events) {
        let all = to_value(events).unwrap();
        assert_eq!(all.as_array().unwrap().len(), events.iter().count());
        for (event, json) in events.iter().zip(all.as_array().unwrap()) {
            let expected = fields([
                ("index", Some(json!(event.index))),
                ("attr", Some(json!(event.attr))),
                ("attr_tail", Some(json!(event.attr_tail))),
                ("ids", Some(json!(event.ids))),
                ("name", event.name.as_deref().map(text)),
                (
                    "update",
                    event.update.as_ref().map(|it| {
                        fields([("unit", it.unit.as_deref().map(text)), ("scale", it.scale.map(Value::from))])
                    }),
                ),
            ]);
            assert_eq!(*json, expected);
            self.events += 1;
        }
    }
}

#[test]
fn all_that_captures_have_is_serialized() {
    let mut counts = Counts::default();
    for path in testdata::captures() {
        counts.capture(&fs::read(&path).unwrap());
    }
    assert!(counts.types["SAMPLE"] > 1000 && counts.sample_ids > 1000 && counts.events > 100, "{counts:?}");
    assert!(counts.types.len() > 30 && counts.features.len() > 30 && counts.faults.len() >= 4, "{counts:?}");
}
