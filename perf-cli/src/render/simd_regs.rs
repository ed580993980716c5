//! Vector and predicate registers of the provisional ABI: their names and values.

use perf_abi::endian::ByteOrder;
use perf_abi::provisional::simd_regs::{
    SimdRegsAttr, has_simd_regs, predicate_name, vector_name, without_simd,
};
use perf_abi::regs::{Arch, RegsAbi};
use perf_parse::event::Event;
use perf_parse::list::List;
use perf_parse::sample::{SimdRegs, simd_register_number};

use crate::escape::push_hex;

/// What names the registers of an event's samples.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SimdRegNames {
    arch: Option<Arch>,
    attr: Option<SimdRegsAttr>,
}

/// Which registers of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Those of user space.
    User,
    /// Those at the interrupt.
    Intr,
}

impl SimdRegNames {
    /// Returns the names for an event, whose attr is in the byte order of the capture.
    pub(crate) fn new(arch: Option<Arch>, event: &Event, endianness: perf_abi::endian::Endianness) -> Self {
        let attr =
            event.layout.has_provisional_abi().then(|| SimdRegsAttr::read(endianness, &event.attr_tail));
        Self { arch, attr: attr.flatten() }
    }

    /// Passes the name and the words of each register to `show`, vector registers first. A register has the architecture's name
    /// and its number if the attr tells its number, as `YMM7`; else `vector` or `pred`, and its position in the sample.
    pub(crate) fn each<O: ByteOrder>(
        &self,
        side: Side,
        regs: &SimdRegs<'_, O>,
        mut show: impl FnMut(&str, List<'_, u64, O>),
    ) {
        let masks = self.attr.map_or((0, 0), |attr| match side {
            Side::User => (attr.vec_reg_user, u64::from(attr.pred_reg_user)),
            Side::Intr => (attr.vec_reg_intr, u64::from(attr.pred_reg_intr)),
        });
        let named = |name: Option<&str>, other: &str, mask, nr, index| match name
            .zip(simd_register_number(mask, nr, index))
        {
            Some((name, number)) => format!("{name}{number}"),
            None => format!("{other}[{index}]"),
        };
        let vector = self.arch.and_then(|arch| vector_name(arch, regs.vector_qwords));
        for (index, words) in (0..).zip(regs.vectors()) {
            show(&named(vector, "vector", masks.0, regs.nr_vectors, index), words);
        }
        let pred = self.arch.and_then(|arch| predicate_name(arch, regs.pred_qwords));
        for (index, words) in (0..).zip(regs.predicates()) {
            show(&named(pred, "pred", masks.1, regs.nr_pred, index), words);
        }
    }
}

/// Appends the words of a register as one number, in hexadecimal.
pub(crate) fn push_register<O: ByteOrder>(out: &mut Vec<u8>, words: List<'_, u64, O>) {
    out.extend_from_slice(b"0x");
    words.iter().rev().for_each(|word| push_hex(out, &word.to_be_bytes()));
}

/// Returns the ABI of registers as text: that of the task, and `SIMD` if vector registers follow.
pub(crate) fn abi_text(abi: RegsAbi) -> String {
    if has_simd_regs(abi) { format!("{}|SIMD", without_simd(abi)) } else { abi.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(names: &SimdRegNames, side: Side) -> Vec<String> {
        let words: Vec<u8> = (1_u64..=5).flat_map(u64::to_be_bytes).collect();
        let data = List::<u64>::new_in(perf_abi::endian::Endianness::Big, &words);
        let regs = SimdRegs { nr_vectors: 2, vector_qwords: 2, nr_pred: 1, pred_qwords: 1, data };
        let mut all = Vec::new();
        names.each(side, &regs, |name, words| {
            let mut text = format!("{name}=").into_bytes();
            push_register(&mut text, words);
            all.push(String::from_utf8(text).unwrap());
        });
        all
    }

    #[test]
    fn registers_have_numbers_if_the_attr_tells_them() {
        let attr = SimdRegsAttr {
            regs_enabled: 1,
            vec_reg_qwords: 2,
            vec_reg_user: 1 << 15 | 1 << 3,
            pred_reg_user: 1 << 7,
            vec_reg_intr: 1,
            ..SimdRegsAttr::default()
        };
        let names = SimdRegNames { arch: Some(Arch::X86), attr: Some(attr) };
        let values =
            ["00000000000000020000000000000001", "00000000000000040000000000000003", "0000000000000005"];
        let expected = |names: [&str; 3]| {
            names.into_iter().zip(values).map(|(name, value)| format!("{name}=0x{value}")).collect::<Vec<_>>()
        };
        assert_eq!(shown(&names, Side::User), expected(["XMM3", "XMM15", "OPMASK7"]));
        // The sample has more registers than the attr asks for.
        assert_eq!(shown(&names, Side::Intr), expected(["vector[0]", "vector[1]", "pred[0]"]));
        let unknown = SimdRegNames { arch: Some(Arch::Arm64), ..names };
        assert_eq!(shown(&unknown, Side::User), expected(["vector[0]", "vector[1]", "pred[0]"]));
        assert_eq!(shown(&SimdRegNames::default(), Side::User)[0], expected(["vector[0]", "", ""])[0]);
    }

    #[test]
    fn the_abi() {
        assert_eq!(
            [0, 2, 5, 6, 8].map(|abi| abi_text(RegsAbi(abi))),
            ["NONE", "ABI_64", "ABI_32|SIMD", "ABI_64|SIMD", "8"]
        );
    }
}
