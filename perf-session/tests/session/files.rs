//! Build ids of the capture, and cgroups.

use std::sync::Arc;

use perf_abi::endian::Endianness;
use perf_parse::Reader;
use perf_parse::event::Events;
use perf_session::{BuildId, Session};
use testdata::features;
use testdata::file::Builder;

use crate::{EXEC, Id, KERNEL, Records, USER, attr, play, session};

/// The build id of what process 5 has mapped at 0x1000.
fn id_of_process(records: impl Fn(Records) -> Records) -> Option<String> {
    let it = session(records);
    let mapping = it.maps(it.thread(5).unwrap()).unwrap().find(0x1000).unwrap().clone();
    it.build_id(mapping.dso()).map(|id| id.to_string())
}

#[test]
fn of_a_record() {
    let id = id_of_process(|it| {
        it.map(5, 0x1000, 0x2000, "/x").build_id(USER, 0xaa, "/x").build_id(USER, 0xbb, "/y")
    });
    assert_eq!(id, Some("aa".repeat(20)));
    assert_eq!(id_of_process(|it| it.map(5, 0x1000, 0x2000, "/x").build_id(USER, 0xbb, "/y")), None);
}

#[test]
fn that_of_the_mmap2_record_comes_first() {
    let id = id_of_process(|it| {
        let it = it.mmap2(USER, 5, (0x1000, 0x1000, 0), &Id::BuildId(&[1, 2]), (EXEC, 2), "/x");
        it.build_id(USER, 0xaa, "/x")
    });
    assert_eq!(id, Some("0102".into()));
}

#[test]
fn of_a_path_that_is_listed_twice() {
    let twice = |second| {
        id_of_process(|it| {
            it.map(5, 0x1000, 0x2000, "/x")
                .build_id(USER, 0xaa, "/x")
                .build_id(USER, second, "/x")
                .build_id(USER, 0xaa, "/x")
        })
    };
    assert_eq!(twice(0xaa), Some("aa".repeat(20)));
    // It cannot be told which of the two is mapped.
    assert_eq!(twice(0xbb), None);
}

#[test]
fn those_of_guests_are_left_out() {
    let id = id_of_process(|it| it.map(5, 0x1000, 0x2000, "/x").build_id(crate::GUEST_USER, 0xaa, "/x"));
    assert_eq!(id, None);
}

#[test]
fn of_modules_by_path_and_by_name() {
    let of = |listed: &'static str| {
        let it = session(|it| {
            it.kernel(0x1000, 0x1000, 0, "/lib/modules/6.1/a-b.ko").build_id(KERNEL, 0xcc, listed)
        });
        let mapping = it.kernel_maps().find(0x1000).unwrap().clone();
        it.build_id(mapping.dso()).map(|id| id.to_string())
    };
    assert_eq!(of("/lib/modules/6.1/a-b.ko"), Some("cc".repeat(20)));
    assert_eq!(of("[a_b]"), Some("cc".repeat(20)));
    assert_eq!(of("/lib/modules/6.1/other.ko"), None);
}

#[test]
fn of_the_kernel() {
    let it = session(|it| {
        it.kernel(0x1000, 0x1000, 0x1000, "[kernel.kallsyms]_text").build_id(
            KERNEL,
            0xdd,
            "[kernel.kallsyms]",
        )
    });
    let mapping = it.kernel_maps().find(0x1000).unwrap();
    assert_eq!(it.build_id(mapping.dso()).unwrap().to_string(), "dd".repeat(20));
}

/// The vDSO of a 32-bit process is another one than that of the other processes. perf lists both, each by its name.
#[test]
fn of_the_vdso_of_32_bit_processes() {
    let records = |it: Records| {
        let it = it.build_id(USER, 0xaa, "[vdso]").build_id(USER, 0xbb, "[vdso32]");
        it.map(5, 0x7fff_0000_0000, 0x7fff_0000_2000, "[vdso]").map(5, 0xf7f8_7000, 0xf7f8_9000, "[vdso]")
    };
    let it = session(records);
    let of = |addr| {
        let mapping = it.maps(it.thread(5).unwrap()).unwrap().find(addr).unwrap();
        let dso = mapping.dso();
        assert_eq!((dso.kind(), dso.path()), (perf_session::DsoKind::Vdso, &b"[vdso]"[..]));
        (dso.name().to_vec(), it.build_id(dso).map(|id| id.to_string()))
    };
    assert_eq!(of(0x7fff_0000_0000), (b"[vdso]".to_vec(), Some("aa".repeat(20))));
    assert_eq!(of(0xf7f8_7000), (b"[vdso32]".to_vec(), Some("bb".repeat(20))));
}

/// What a capture lists as `[vdso]` is that of the 64-bit processes.
#[test]
fn the_vdso_of_32_bit_processes_has_no_other_build_id() {
    let id = id_of_process(|it| it.map(5, 0x1000, 0x2000, "[vdso]").build_id(USER, 0xaa, "[vdso]"));
    assert_eq!(id, None);
}

/// The vDSO of a 32-bit machine is at a low address too, and is its only one.
#[test]
fn the_vdso_of_a_32_bit_machine() {
    let name_on = |machine: Option<&str>| {
        let records = Records { big: false, out: Vec::new() }.map(5, 0xf7f8_7000, 0xf7f8_9000, "[vdso]");
        let builder = Builder::new(false).event(attr(), &[]).data(records.out);
        let file = match machine {
            Some(machine) => builder.feature(6, testdata::Bytes::new(false).string(machine).out).build(),
            None => builder.build(),
        };
        let reader = Reader::new(&file.bytes).unwrap();
        let mut it = Session::new();
        it.add_features(reader.features());
        for record in reader.records().in_time_order() {
            it.update(&record.unwrap()).unwrap();
        }
        let maps = it.maps(it.thread(5).unwrap()).unwrap();
        String::from_utf8(maps.find(0xf7f8_7000).unwrap().dso().name().to_vec()).unwrap()
    };
    for machine in ["i686", "armv7l", "ppc", "mips", "s390", "riscv32"] {
        assert_eq!(name_on(Some(machine)), "[vdso]", "{machine}");
    }
    for machine in
        [None, Some("x86_64"), Some("aarch64"), Some("arm64"), Some("ppc64le"), Some("mips64"), Some("s390x")]
    {
        assert_eq!(name_on(machine), "[vdso32]", "{machine:?}");
    }
}

#[test]
fn of_the_feature() {
    for big in [false, true] {
        let records = Records { big, out: Vec::new() }.map(5, 0x1000, 0x2000, "/bin/true");
        let records = records.kernel(0x1000, 0x1000, 0x1000, "[kernel.kallsyms]_text");
        let builder = Builder::new(big).event(attr(), &[]).data(records.out);
        let file = builder.feature(2, features::build_ids(big).out).build();
        let reader = Reader::new(&file.bytes).unwrap();
        let mut it = Session::new();
        it.add_features(reader.features());
        for record in reader.records().in_time_order() {
            it.update(&record.unwrap()).unwrap();
        }
        let of_process = it.maps(it.thread(5).unwrap()).unwrap().find(0x1000).unwrap();
        assert_eq!(it.build_id(of_process.dso()), Some(BuildId::new(&[0x22; 20])));
        let of_kernel = it.kernel_maps().find(0x1000).unwrap();
        assert_eq!(it.build_id(of_kernel.dso()), Some(BuildId::new(&[0x11; 16])));
        assert_eq!(it.dropped_build_ids(), 0);
    }
}

#[test]
fn a_feature_that_cannot_be_decoded_is_skipped() {
    let file = Builder::new(false).event(attr(), &[]).feature(2, vec![1, 2, 3]).build();
    let reader = Reader::new(&file.bytes).unwrap();
    let mut it = Session::new();
    it.add_features(reader.features());
    assert_eq!(format!("{it:?}"), format!("{:?}", Session::new()));
}

#[test]
fn build_ids_as_text() {
    assert_eq!(BuildId::new(&[]).to_string(), "");
    assert_eq!(BuildId::new(&[0, 0x1f]).to_string(), "001f");
    assert_eq!(format!("{:?}", BuildId::new(&[0xab; 30])), "ab".repeat(20));
    assert_eq!(BuildId::new(&[7, 8]).as_bytes(), [7, 8]);
    // A build id that ends with a zero is another one.
    assert_ne!(BuildId::new(&[7]), BuildId::new(&[7, 0]));
}

#[test]
fn cgroups() {
    use perf_parse::abi::attr::Attr;
    use perf_parse::abi::sample_type::SampleType;
    let attr = Attr { sample_type: SampleType::TID | SampleType::CGROUP, ..Attr::default() };
    let of = |id: u64| {
        let records = |it: Records| {
            let it = it.cgroup(7, "/old").cgroup(8, "/other").cgroup(7, "/new");
            let payload = it.bytes().i32(5).i32(5).u64(id);
            it.record(9, USER, payload)
        };
        play(&attr, &perf_session::SessionLimits::default(), records, |it, record| {
            assert_eq!(it.cgroup(id), it.at(record).unwrap().cgroup());
            it.cgroup(id).map(<[u8]>::to_vec)
        })
    };
    assert_eq!(of(7), Some(b"/new".to_vec()));
    assert_eq!(of(8), Some(b"/other".to_vec()));
    assert_eq!(of(9), None);
}

#[test]
fn a_sample_without_a_cgroup_has_none() {
    let records = |it: Records| it.cgroup(0, "/").sample(USER, 5, 5);
    let path = play(&attr(), &perf_session::SessionLimits::default(), records, |it, record| {
        it.at(record).unwrap().cgroup().map(<[u8]>::to_vec)
    });
    assert_eq!(path, None);
}

/// A thread that applies the records again has the same files, not only equal ones.
#[test]
fn records_that_are_applied_again_have_the_files_of_later() {
    let file_of =
        |it: &Session| Arc::clone(it.maps(it.thread(5).unwrap()).unwrap().find(0x1000).unwrap().dso());
    let data = Records { big: false, out: Vec::new() }.map(5, 0x1000, 0x2000, "/x").out;
    let apply = |session: &mut Session| {
        let events: Events = [(attr(), vec![])].into_iter().collect();
        for record in Reader::from_records(events, Endianness::Little, &data).records() {
            session.update(&record.unwrap()).unwrap();
        }
    };
    let (before, mut later) = (Session::new(), Session::new());
    apply(&mut later);
    let mut alone = before.clone();
    apply(&mut alone);
    assert_eq!(file_of(&alone), file_of(&later));
    assert!(!Arc::ptr_eq(&file_of(&alone), &file_of(&later)));
    let mut again = before.with_dsos_of(&later);
    assert!(again.thread(5).is_none());
    apply(&mut again);
    assert!(Arc::ptr_eq(&file_of(&again), &file_of(&later)));
    let mapping = alone.maps(alone.thread(5).unwrap()).unwrap().find(0x1000).unwrap();
    let moved = mapping.in_dso(&file_of(&later));
    assert_eq!(moved, *mapping);
    assert!(Arc::ptr_eq(moved.dso(), &file_of(&later)));
}
