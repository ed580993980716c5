//! Probes and breakpoints.

use std::path::Path;

use perf_abi::breakpoint::BreakpointType;
use perf_abi::event::EventType;
use perf_open::event::{EventSpec, LookupError};
use perf_open::probe::ProbeLocation;

use crate::fake::{INTEL, pmus_of};

#[test]
fn kernel_probes() {
    let pmus = pmus_of(INTEL);
    let event = EventSpec::kprobe_of(&pmus, ProbeLocation::Function("vfs_read", 4), false).unwrap();
    assert_eq!((event.attr.kind, event.attr.config, event.attr.config2), (EventType(6), 0, 4));
    assert_eq!((event.name.as_str(), event.string.as_deref()), ("kprobe:vfs_read+0x4", Some(c"vfs_read")));
    let event = EventSpec::kprobe_of(&pmus, ProbeLocation::Address(0xffff_ffff_8100_0000), true).unwrap();
    assert_eq!((event.attr.config, event.attr.config2), (1, 0xffff_ffff_8100_0000));
    assert_eq!((event.name.as_str(), event.string), ("kretprobe:0xffffffff81000000", None));
    let nul = EventSpec::kprobe_of(&pmus, ProbeLocation::Function("a\0b", 0), false);
    assert!(matches!(nul, Err(LookupError::Nul { what: "symbol" })));
}

#[test]
fn user_probes() {
    let pmus = pmus_of(INTEL);
    let event = EventSpec::uprobe_of(&pmus, Path::new("/bin/true"), 0x1234, 0x88, true).unwrap();
    assert_eq!(
        (event.attr.kind, event.attr.config, event.attr.config2),
        (EventType(7), 0x88_0000_0001, 0x1234)
    );
    assert_eq!(
        (event.name.as_str(), event.string.as_deref()),
        ("uretprobe:/bin/true+0x1234", Some(c"/bin/true"))
    );
    let misfit = EventSpec::uprobe_of(&pmus, Path::new("/bin/true"), 0, 1 << 32, false);
    assert!(matches!(misfit, Err(LookupError::Value { what: "ref_ctr_offset", .. })));
    assert!(matches!(EventSpec::uprobe("a\0b", 0), Err(LookupError::Nul { what: "path" })));
    let none = EventSpec::uprobe_of(&pmus_of(&[]), Path::new("/bin/true"), 0, 0, false);
    assert!(matches!(none, Err(LookupError::Unknown { what: "PMU", .. })));
}

#[test]
fn probes_in_terms() {
    let pmus = pmus_of(INTEL);
    let event = pmus.get("kprobe").unwrap().event("func=vfs_read,offset=4,retprobe").unwrap();
    assert_eq!((event.attr.config, event.attr.config2, event.string.as_deref()), (1, 4, Some(c"vfs_read")));
    let event = pmus.get("kprobe").unwrap().event("addr=0x1000").unwrap();
    assert_eq!((event.attr.config2, event.string), (0x1000, None));
    let event = pmus.get("uprobe").unwrap().event("path='/bin/true',offset=0x10,ref_ctr_offset=2").unwrap();
    assert_eq!((event.attr.config, event.attr.config2), (2 << 32, 0x10));
    assert_eq!(event.string.as_deref(), Some(c"/bin/true"));
    let error = pmus.get("uprobe").unwrap().event("offset=1,path='a\0b'").unwrap_err();
    assert_eq!((error.offset(), error.kind().to_string()), (14, "the name contains a NUL byte".to_owned()));
}

#[test]
fn breakpoints() {
    let event = EventSpec::breakpoint(0x1000, 8, BreakpointType::W).unwrap();
    assert_eq!((event.attr.kind, event.attr.bp_type), (EventType::BREAKPOINT, BreakpointType::W));
    assert_eq!((event.name.as_str(), event.attr.breakpoint()), ("mem:0x1000/8:w", Some((0x1000, 8))));
    for access in [BreakpointType::EMPTY, BreakpointType::INVALID, BreakpointType(8), BreakpointType(5)] {
        let error = EventSpec::breakpoint(0x1000, 4, access).unwrap_err();
        assert!(matches!(error, LookupError::Value { what: "breakpoint access", .. }), "{error}");
    }
    for len in [0, 9, u64::MAX] {
        let error = EventSpec::breakpoint(0x1000, len, BreakpointType::R).unwrap_err();
        assert!(matches!(error, LookupError::Value { what: "breakpoint length", .. }), "{error}");
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn breakpoints_of_x86() {
    for (address, len, access, what) in [
        (0x1000, 3, BreakpointType::W, "breakpoint length"),
        (0x1000, 4, BreakpointType::X, "breakpoint length"),
        (0x1002, 4, BreakpointType::RW, "breakpoint address"),
    ] {
        let error = EventSpec::breakpoint(address, len, access).unwrap_err();
        assert!(matches!(error, LookupError::Value { what: told, .. } if told == what), "{error}");
    }
    assert!(EventSpec::breakpoint(0x1001, 8, BreakpointType::X).is_ok());
}
