//! The request numbers of twelve architectures.

use std::collections::BTreeMap;

use perf_abi::ioctl::{Encoding, PointerWidth, Request};

use crate::{Facts, numbers};

#[test]
fn every_request_has_its_number_everywhere() {
    let facts = Facts::load();
    let tables = facts.table("ioctl_by_arch");
    assert_eq!(tables.len(), 12);
    for (arch, table) in tables {
        let (family, pointer) = match arch.split_at(arch.len() - 2) {
            (family, "32") => (family, PointerWidth::Bits32),
            (family, "64") => (family, PointerWidth::Bits64),
            _ => panic!("{arch} says no pointer width"),
        };
        let encoding = match family {
            "generic" => Encoding::Generic,
            "powerpc" | "mips" | "sparc" | "alpha" => Encoding::Powerpc,
            "parisc" => Encoding::Parisc,
            _ => panic!("{family} is not known"),
        };
        let ours: BTreeMap<&str, u64> = Request::ALL
            .iter()
            .map(|request| (request.c_name, request.number(encoding, pointer).into()))
            .collect();
        assert_eq!(ours, numbers(table.as_object().unwrap()), "{arch}");
    }
}

#[test]
fn native_numbers_are_those_of_this_machine() {
    for request in Request::ALL {
        assert_eq!(request.native(), request.number(Encoding::NATIVE, PointerWidth::NATIVE));
    }
    if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
        assert_eq!(Request::SET_FILTER.native(), 0x4008_2406);
    }
}
