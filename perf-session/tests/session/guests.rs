//! Guests: their kernels and processes are not the host's.

use perf_parse::abi::record::CpuMode;
use perf_session::SessionLimits;

use crate::{EXEC, GUEST_KERNEL, GUEST_USER, Id, KERNEL, Records, USER, attr, play, session, session_within};

/// Names of what the last sample has at an address, for each mode.
fn found(records: impl Fn(Records) -> Records, addr: u64) -> [String; 4] {
    play(&attr(), &SessionLimits::default(), records, |it, record| {
        let at = it.at(record).unwrap();
        [CpuMode::KERNEL, CpuMode::USER, CpuMode::GUEST_KERNEL, CpuMode::GUEST_USER].map(|mode| {
            at.find(mode, addr).map_or(String::new(), |it| it.dso().name().escape_ascii().to_string())
        })
    })
}

/// The kernels of the host and of two guests, and a process with the id of one.
fn machines(it: Records) -> Records {
    let it = it.kernel(0x1000, 0x1000, 0x1000, "[kernel.kallsyms]_text");
    let it = it.mmap_of(GUEST_KERNEL, (70, 0), (0x1000, 0x1000, 0x1000), "[guest.kernel.kallsyms.70]_text");
    let it = it.mmap_of(GUEST_KERNEL, (-1, 0), (0x1000, 0x1000, 0x1000), "[guest.kernel.kallsyms]_text");
    let id = Id::Inode(1);
    let it = it.mmap2(USER, 70, (0x1000, 0x1000, 0), &id, (EXEC, 2), "/usr/bin/qemu");
    it.mmap2(GUEST_USER, 70, (0x1000, 0x1000, 0), &id, (EXEC, 2), "/bin/guest").comm(70, 70, "qemu")
}

#[test]
fn a_sample_of_the_host_finds_nothing_of_guests() {
    let expected = ["[kernel.kallsyms]", "/usr/bin/qemu", "", ""];
    assert_eq!(found(|it| machines(it).sample(USER, 70, 70), 0x1800), expected);
    assert_eq!(found(|it| machines(it).sample(KERNEL, 70, 70), 0x1800), expected);
}

#[test]
fn a_sample_of_a_guest() {
    let expected = ["[kernel.kallsyms]", "/bin/guest", "[guest.kernel.kallsyms.70]", "/bin/guest"];
    assert_eq!(found(|it| machines(it).sample(GUEST_KERNEL, 70, 70), 0x1800), expected);
    assert_eq!(found(|it| machines(it).sample(GUEST_USER, 70, 70), 0x1800), expected);
}

#[test]
fn a_sample_of_the_guest_without_an_id() {
    // perf writes -1 where it does not know which guest it is.
    let expected = ["[kernel.kallsyms]", "", "[guest.kernel.kallsyms]", ""];
    assert_eq!(found(|it| machines(it).sample(GUEST_KERNEL, -1, 0), 0x1800), expected);
}

#[test]
fn threads_of_guests_are_not_the_hosts() {
    let it = session(|it| machines(it).comm_with(GUEST_USER, 70, 70, "init"));
    assert_eq!(
        crate::known(&it).iter().map(|thread| thread.comm().to_vec()).collect::<Vec<_>>(),
        [b"qemu".to_vec()]
    );
    let names = play(
        &attr(),
        &SessionLimits::default(),
        |it| machines(it).sample(GUEST_USER, 70, 70),
        |it, record| {
            let guest = it.at(record).unwrap().thread();
            let host = it.thread(70).unwrap();
            assert_ne!(guest.key(), host.key());
            assert_ne!(guest.process_key(), host.process_key());
            guest.comm().to_vec()
        },
    );
    assert_eq!(names, b":70");
}

#[test]
fn the_relocation_of_a_guest_is_not_the_hosts() {
    let it = session(|it| {
        it.mmap_of(GUEST_KERNEL, (70, 0), (0x1000, 0x1000, 0x1000), "[guest.kernel.kallsyms.70]_text")
    });
    assert_eq!(it.kernel_relocation(), None);
    assert!(it.kernel_maps().is_empty());
}

#[test]
fn the_limit_of_exited_threads_is_of_all_machines() {
    let mut limits = SessionLimits::default();
    limits.exited = 1;
    let it = session_within(&limits, |it| {
        it.comm(5, 5, "x").exit(5, 5).exit_with(GUEST_USER, 6, 6).exit_with(GUEST_USER, 7, 7)
    });
    assert!(it.thread(5).is_none());
}
