//! The mappings of the host's kernel: text, modules, and KSYMBOL records.

use perf_parse::abi::ksymbol::KsymbolType;
use perf_session::{DsoKind, Mapping, Session};

use crate::{Id, KERNEL, Records, lines, session};

const TEXT: u64 = 0xffff_ffff_8100_0000;
const MODULE: u64 = 0xffff_ffff_c000_0000;

fn text(records: Records) -> Records {
    records.kernel(TEXT, 0x100_0000, TEXT, "[kernel.kallsyms]_text")
}

fn find(session: &Session, addr: u64) -> &Mapping {
    session.kernel_maps().find(addr).unwrap()
}

#[test]
fn the_text_and_its_relocation() {
    let it = session(text);
    let mapping = find(&it, TEXT + 5);
    assert_eq!(mapping.range(), TEXT..TEXT + 0x100_0000);
    assert_eq!((mapping.dso().name(), mapping.dso().kind()), (&b"[kernel.kallsyms]"[..], DsoKind::Kernel));
    assert!(mapping.is_executable());
    // Its symbols are by address.
    assert_eq!(mapping.offset_of(TEXT + 5), TEXT + 5);
    assert_eq!(it.kernel_relocation(), Some((&b"_text"[..], TEXT)));
    // The processes have none of it.
    assert_eq!(crate::known(&it).len(), 0);
}

#[test]
fn the_text_without_a_length() {
    let it = session(|it| it.kernel(TEXT, 0, TEXT, "[kernel.kallsyms]_stext"));
    assert_eq!(find(&it, u64::MAX - 1).range(), TEXT..u64::MAX);
    assert_eq!(it.kernel_relocation(), Some((&b"_stext"[..], TEXT)));
}

#[test]
fn hidden_addresses_of_the_kernel() {
    let it = session(|it| it.kernel(0, 0xffff_ffff_8000_0000, 0, "[kernel.kallsyms]_text"));
    assert_eq!(it.kernel_relocation(), None);
    assert_eq!(find(&it, 0x1000).dso().kind(), DsoKind::Kernel);
}

#[test]
fn the_build_id_of_the_text() {
    let it = session(|it| {
        let id = Id::BuildId(&[1, 2, 3]);
        it.mmap2(KERNEL, -1, (TEXT, 0x1000, TEXT), &id, (0, 0), "[kernel.kallsyms]_text")
    });
    assert_eq!(find(&it, TEXT).dso().build_id().unwrap().to_string(), "010203");
}

#[test]
fn modules() {
    let it = session(|it| {
        let it = text(it).kernel(MODULE, 0x4000, 0, "/lib/modules/6.1.0/kernel/net/nf-nat.ko.xz");
        it.kernel(MODULE + 0x4000, 0x1000, 0x77, "[dm_mod]")
    });
    let module = find(&it, MODULE + 0x123);
    assert_eq!(module.dso().name(), b"[nf_nat]");
    assert_eq!(module.dso().path(), b"/lib/modules/6.1.0/kernel/net/nf-nat.ko.xz");
    assert_eq!((module.dso().kind(), module.offset_of(MODULE + 0x123)), (DsoKind::Module, 0x123));
    let named = find(&it, MODULE + 0x4000);
    assert_eq!((named.dso().name(), named.dso().path()), (&b"[dm_mod]"[..], &b"[dm_mod]"[..]));
    assert_eq!(named.offset_of(MODULE + 0x4010), 0x10);
}

#[test]
fn a_symbol_is_registered_and_unregistered() {
    let registered = |it: Records| text(it).ksymbol(MODULE, 0x100, "bpf_prog_1");
    let it = session(registered);
    let mapping = find(&it, MODULE + 0xff);
    assert_eq!(mapping.range(), MODULE..MODULE + 0x100);
    assert_eq!(mapping.dso().name(), b"bpf_prog_1");
    assert_eq!(mapping.dso().kind(), DsoKind::Ksymbol(KsymbolType::BPF));
    assert_eq!(mapping.offset_of(MODULE + 0x10), 0x10);
    let it = session(|it| registered(it).ksymbol_end(MODULE, 0x100, "bpf_prog_1"));
    assert!(it.kernel_maps().find(MODULE).is_none());
    assert_eq!(it.kernel_maps().iter().count(), 1);
}

#[test]
fn a_symbol_inside_of_the_text_is_no_mapping() {
    let it = session(|it| {
        let it = text(it).ksymbol(TEXT + 0x100, 0x100, "ftrace_trampoline");
        it.ksymbol_end(TEXT + 0x100, 0x100, "ftrace_trampoline")
    });
    assert_eq!(it.kernel_maps().iter().count(), 1);
    assert_eq!(find(&it, TEXT + 0x100).dso().kind(), DsoKind::Kernel);
}

#[test]
fn a_symbol_in_the_place_of_one_whose_end_was_lost() {
    let it = session(|it| text(it).ksymbol(MODULE, 0x100, "old").ksymbol(MODULE, 0x80, "new"));
    assert_eq!(find(&it, MODULE).dso().name(), b"new");
    assert_eq!(find(&it, MODULE + 0x90).dso().name(), b"old");
}

#[test]
fn the_end_of_a_symbol_that_is_not_known() {
    let it = session(|it| text(it).ksymbol_end(MODULE, 0x100, "x").comm(1, 1, "x"));
    assert_eq!(it.kernel_maps().iter().count(), 1);
}

#[test]
fn a_symbol_at_the_last_address() {
    let it =
        session(|it| it.ksymbol(u64::MAX - 1, u32::MAX, "x").ksymbol(u64::MAX, 1, "y").ksymbol(0, 0, "z"));
    assert_eq!(lines(it.kernel_maps()), ["fffffffffffffffe-ffffffffffffffff 0 x"]);
}
