//! Call chains of copied stacks.

use perf_abi::callchain::CallchainContext;
use perf_abi::record::CpuMode;
use perf_abi::sample_type::SampleType;
use perf_parse::write::{SampleFields, StackUserFields};
use perf_session::SampleContext;

use crate::symbols::Symbols;

/// The fields from which a stack is unwound.
pub(super) const COPY: SampleType = SampleType::STACK_USER.union(SampleType::REGS_USER);

/// Returns the user part of a call chain: the frames that are unwound from the copy of a stack, up to the first guess, which a
/// call chain cannot mark. `None` for a sample without a copy.
pub(super) fn of(at: &SampleContext<'_, '_>, symbols: &mut Symbols) -> Option<Vec<u64>> {
    let event = at.record().event()?;
    if !event.attr.sample_type.contains(COPY.union(SampleType::CALLCHAIN)) {
        return None;
    }
    let (frames, _) = symbols.stack(at, None).ok()?;
    let unwound = frames.iter().take_while(|frame| frame.guess().is_none());
    let user =
        unwound.filter(|frame| frame.frame.mode == CpuMode::USER).map(|frame| frame.frame.ip).collect();
    symbols.done(frames);
    Some(user)
}

/// Puts a user part in place of that of a sample and of the copy of its stack.
pub(super) fn replace(fields: &mut SampleFields, user: &[u64]) {
    let chain = fields.callchain.get_or_insert_default();
    let is_user = |&word: &u64| word == CallchainContext::USER.0;
    chain.truncate(chain.iter().position(is_user).unwrap_or(chain.len()));
    if !user.is_empty() {
        chain.push(CallchainContext::USER.0);
        chain.extend_from_slice(user);
    }
    // The field is removed later.
    fields.stack_user = Some(StackUserFields::default());
}
