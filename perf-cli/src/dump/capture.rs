//! The lines of a JSON dump before and after the records: the header and the account.

use perf_parse::file::{Account, EventRecords, Reader};

use crate::outcome::Failure;
use crate::output::Output;
use crate::render;
use crate::render::json::Json;
use crate::render::name::name;

/// Prints the header line.
pub(super) fn header(
    reader: &Reader<'_>,
    records: &EventRecords<'_>,
    output: &mut Output,
) -> Result<(), Failure> {
    output.buffer.push(b'{');
    render::header::header(reader, records, output)?;
    output.buffer.extend_from_slice(b"}\n");
    Ok(())
}

/// Appends the account, which follows the records.
pub(super) fn account(account: &Account, out: &mut Vec<u8>) {
    let value = render::account::value(account);
    Json::object(out, |json| json.serialized(name!("account"), &value));
    out.push(b'\n');
}
