//! The delivery of output that worker threads print.

use perf_parse::file::Account;

use crate::outcome::Failure;
use crate::output::{Diagnostics, Output};

/// The number of bytes of output that a block has at a time. One record may exceed it.
///
/// Most blocks print less. The thread that writes the output works on the rest of a larger block, piece by piece.
pub(crate) const OUT: usize = 2 << 20;

/// A block of records that a thread turned into output.
pub(crate) trait PrintedBlock {
    /// Returns the output, or the next piece of it.
    fn out(&self) -> &[u8];

    /// Returns the account of the records; `None` while some of them are not printed.
    fn account(&self) -> Option<&Account>;
}

/// Writes the output of a block, calling `print_more` for each next piece, adds the account to `total`, and reports what is
/// new in it. Returns whether there is still a reader.
pub(crate) fn deliver<B: PrintedBlock>(
    block: &mut B,
    mut print_more: impl FnMut(&mut B),
    output: &mut Output,
    total: &mut Account,
    diagnostics: &mut Diagnostics,
) -> Result<bool, Failure> {
    let account = loop {
        if let Some(account) = block.account() {
            break account;
        }
        if !output.write(block.out())? {
            return Ok(false);
        }
        print_more(block);
    };
    total.add(account);
    diagnostics.report_new(total);
    output.write(block.out())
}
