//! The register tables of ten architectures, both ways.

use std::collections::{BTreeMap, BTreeSet};

use perf_abi::Name;
use perf_abi::regs::*;

use crate::{Facts, none, numbers};

/// An architecture by abi.json's name: its registers, its bounds and masks.
struct Table {
    name: &'static str,
    arch: Arch,
    registers: &'static [Name],
    bounds: Vec<(&'static str, u64)>,
}

fn tables() -> [Table; 10] {
    let table = |name, arch, registers, bounds| Table { name, arch, registers, bounds };
    let max = |name, value: u8| vec![(name, value.into())];
    [
        table(
            "x86",
            Arch::X86,
            x86::Reg::NAMES,
            vec![
                ("PERF_REG_X86_32_MAX", x86::Reg::MAX_32.into()),
                ("PERF_REG_X86_64_MAX", x86::Reg::MAX_64.into()),
                ("PERF_REG_X86_XMM_MAX", x86::Reg::XMM_MAX.into()),
                ("PERF_REG_EXTENDED_MASK", x86::Reg::EXTENDED_MASK),
            ],
        ),
        table("arm", Arch::Arm, arm::Reg::NAMES, max("PERF_REG_ARM_MAX", arm::Reg::MAX)),
        table(
            "arm64",
            Arch::Arm64,
            arm64::Reg::NAMES,
            vec![
                ("PERF_REG_ARM64_MAX", arm64::Reg::MAX.into()),
                ("PERF_REG_ARM64_EXTENDED_MAX", arm64::Reg::EXTENDED_MAX.into()),
                ("PERF_REG_EXTENDED_MASK", arm64::Reg::EXTENDED_MASK),
            ],
        ),
        table(
            "powerpc",
            Arch::Powerpc,
            powerpc::Reg::NAMES,
            vec![
                ("PERF_REG_POWERPC_MAX", powerpc::Reg::MAX.into()),
                ("PERF_REG_EXTENDED_MAX", powerpc::Reg::EXTENDED_MAX.into()),
                ("PERF_REG_PMU_MASK", powerpc::Reg::PMU_MASK),
                ("PERF_REG_PMU_MASK_300", powerpc::Reg::PMU_MASK_300),
                ("PERF_REG_PMU_MASK_31", powerpc::Reg::PMU_MASK_31),
            ],
        ),
        table("riscv", Arch::Riscv, riscv::Reg::NAMES, max("PERF_REG_RISCV_MAX", riscv::Reg::MAX)),
        table("s390", Arch::S390, s390::Reg::NAMES, max("PERF_REG_S390_MAX", s390::Reg::MAX)),
        table("mips", Arch::Mips, mips::Reg::NAMES, max("PERF_REG_MIPS_MAX", mips::Reg::MAX)),
        table(
            "loongarch",
            Arch::Loongarch,
            loongarch::Reg::NAMES,
            max("PERF_REG_LOONGARCH_MAX", loongarch::Reg::MAX),
        ),
        table("parisc", Arch::Parisc, parisc::Reg::NAMES, max("PERF_REG_PARISC_MAX", parisc::Reg::MAX)),
        table("csky", Arch::Csky, csky::Reg::NAMES, max("PERF_REG_CSKY_MAX", csky::Reg::MAX)),
    ]
}

#[test]
fn every_register_has_its_index_and_no_other_exists() {
    let facts = Facts::load();
    let theirs = facts.table("perf_regs");
    let tables = tables();
    assert!(
        theirs.keys().map(String::as_str).collect::<BTreeSet<_>>() == tables.iter().map(|t| t.name).collect()
    );
    for table in tables {
        let registers = table.registers.iter().map(|name| (name.c_name, name.value));
        let ours: BTreeMap<&str, u64> = registers.chain(table.bounds).collect();
        assert_eq!(ours, numbers(theirs[table.name].as_object().unwrap()), "{}", table.name);
    }
}

#[test]
fn every_bit_has_the_name_of_its_register_and_no_other_bit_has_one() {
    let mut faults = Vec::new();
    for table in tables() {
        for bit in (0..=256).chain([u32::MAX]) {
            let owner = if table.arch == Arch::X86 && (32..64).contains(&bit) { bit & !1 } else { bit };
            let expected =
                table.registers.iter().find(|name| name.value == u64::from(owner)).map(|name| name.name);
            let name = table.arch.name(bit);
            if name != expected {
                faults.push(format!("{} bit {bit}: {name:?}, not {expected:?}", table.name));
            }
        }
    }
    none(&faults);
}

#[test]
fn both_bits_of_a_vector_register_have_its_name() {
    assert_eq!(Arch::X86.name(62), Some("XMM15"));
    assert_eq!(Arch::X86.name(63), Some("XMM15"));
    assert_eq!(x86::Reg::of_bit(63), x86::Reg::XMM15);
    assert_eq!(x86::Reg::of_bit(23), x86::Reg::R15);
    assert_eq!(Arch::X86.name(24), None);
}

#[test]
fn machines_have_their_architecture() {
    let machines = [
        ("x86_64", Some(Arch::X86)),
        ("i686", Some(Arch::X86)),
        ("x86", Some(Arch::X86)),
        ("aarch64", Some(Arch::Arm64)),
        ("aarch64_be", Some(Arch::Arm64)),
        ("arm64", Some(Arch::Arm64)),
        ("armv7l", Some(Arch::Arm)),
        ("arm", Some(Arch::Arm)),
        ("ppc64le", Some(Arch::Powerpc)),
        ("ppc", Some(Arch::Powerpc)),
        ("powerpc", Some(Arch::Powerpc)),
        ("riscv64", Some(Arch::Riscv)),
        ("s390x", Some(Arch::S390)),
        ("mips64", Some(Arch::Mips)),
        ("loongarch64", Some(Arch::Loongarch)),
        ("parisc64", Some(Arch::Parisc)),
        ("csky", Some(Arch::Csky)),
        ("sparc64", None),
        ("alpha", None),
        ("", None),
    ];
    for (machine, arch) in machines {
        assert_eq!(Arch::from_machine(machine), arch, "{machine}");
    }
    let named: BTreeSet<String> =
        machines.iter().filter_map(|(_, arch)| arch.map(|arch| format!("{arch:?}"))).collect();
    assert_eq!(named.len(), Arch::ALL.len());
}
