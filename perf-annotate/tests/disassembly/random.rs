//! Random bytes.

use perf_annotate::disassembly::{Disassembler, Syntax};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn have_instructions_without_gaps(
        code in prop::collection::vec(any::<u8>(), 0..500),
        address: u64,
        machine in prop::sample::select(&Disassembler::MACHINES),
        is_intel: bool,
    ) {
        let syntax = if is_intel { Syntax::Intel } else { Syntax::Att };
        let mut it = Disassembler::new(machine).unwrap().with_syntax(syntax);
        let all: Vec<_> = it.instructions(&code, address).collect();
        let mut place = 0;
        for one in &all {
            prop_assert_eq!(one.address, address.wrapping_add(place as u64));
            prop_assert!(!one.text.is_empty() && (1..=15).contains(&one.size));
            let length = it.length(&code[place..], one.address);
            prop_assert_eq!(length.is_some(), &*one.text != "(bad)");
            prop_assert!(length.is_none_or(|it| it == one.size));
            place += usize::from(one.size);
        }
        prop_assert_eq!(place, code.len());
    }
}
