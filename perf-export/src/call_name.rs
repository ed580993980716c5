//! The names of calls in text.

use perf_profile::{Call, Profile, text::OneLine, unknown_name};

/// Returns the name of a call of a frame: that of its function, or of its file if the function is not known.
pub(crate) fn call_name(profile: &Profile, frame: u32, call: &Call<'_>) -> String {
    match call.symbol {
        Some((_, symbol)) => OneLine(&symbol.label()).to_string(),
        None => {
            let guess = profile.frames().location(frame).and_then(|it| it.guess);
            unknown_name(profile.frames().dso_of(frame), guess)
        }
    }
}
