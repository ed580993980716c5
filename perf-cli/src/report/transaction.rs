//! The transaction of a sample, as perf prints it.

use perf_abi::txn::Txn;

use crate::escape::print;

/// The width of the column: that of the names that can be together, without `SYNC`, `TX` and `CAP-WRITE`.
///
/// perf: `hist_entry__transaction_len`, `tools/perf/util/sort.c`.
pub(super) const WIDTH: usize = 32;

const NAMES: [(Txn, &str); 8] = [
    (Txn::ELISION, "EL "),
    (Txn::TRANSACTION, "TX "),
    (Txn::SYNC, "SYNC "),
    (Txn::ASYNC, "ASYNC "),
    (Txn::RETRY, "RETRY "),
    (Txn::CONFLICT, "CON "),
    (Txn::CAPACITY_WRITE, "CAP-WRITE "),
    (Txn::CAPACITY_READ, "CAP-READ "),
];

/// Appends the names of the flags, and the code of the abort; nothing for a sample without a transaction.
///
/// perf: `hist_entry__transaction_snprintf`, `tools/perf/util/sort.c`.
pub(super) fn push(out: &mut Vec<u8>, txn: Txn) {
    for (flag, name) in NAMES {
        if txn.contains(flag) {
            out.extend_from_slice(name.as_bytes());
        }
    }
    if txn.0 != 0 && !txn.contains(Txn::SYNC) && !txn.contains(Txn::ASYNC) {
        out.extend_from_slice(b"NEITHER ");
    }
    if txn.abort_code() != 0 {
        print(out, format_args!(":{:x}", txn.abort_code()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(word: u64) -> String {
        let mut out = Vec::new();
        push(&mut out, Txn(word));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn flags_have_names() {
        assert_eq!(text(0), "");
        assert_eq!(text(0xff), "EL TX SYNC ASYNC RETRY CON CAP-WRITE CAP-READ ");
        assert_eq!(text(2), "TX NEITHER ");
        assert_eq!(text(0xab_0000_0006), "TX SYNC :ab");
        assert_eq!(text(0xab_0000_0000), "NEITHER :ab");
    }
}
