//! Frames of interpreters, and how they are folded away.

mod language;

use language::FrameRole;
use perf_session::Mapping;
use perf_symbol::Function;

/// The frames of interpreters in stacks.
///
/// They are those of CPython, Ruby, PHP, Lua, Perl and V8 (Node.js), by the names of the functions that interpret, and of what calls
/// them. Functions of the interpreted program have frames of their own if the program runs with `python -X perf` or
/// `node --interpreted-frames-native-stack`.
///
/// # Examples
///
/// ```
/// use perf_parse::Reader;
/// use perf_profile::{InterpreterFrames, Samples, Symbols};
///
/// let reader = Reader::open("examples/captures/plain.data")?;
/// let symbols = Symbols::of(&reader).with_interpreter_frames(InterpreterFrames::Fold);
/// let profile = Samples::of(&reader).profile(&symbols, &mut ())?;
/// # let _ = profile;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InterpreterFrames {
    /// Stacks have all frames.
    #[default]
    Show,
    /// Stacks have the frames of the interpreted program without those of its interpreter:
    ///
    /// - The interpreting function is left out before a function of the program, and so are the interpreter's own functions between
    ///   two functions of the program. Functions that the innermost one calls stay, as well as those of other files, such as
    ///   extension modules.
    /// - Where functions of the program have no frames, what is interpreted within each other is one frame of the interpreting
    ///   function, without the interpreter's own functions between.
    ///
    /// The first frame and the last one of a stack without functions of the program are as before.
    Fold,
}

/// Leaves out the frames of interpreters.
#[derive(Clone, Debug, Default)]
pub(crate) struct InterpreterFolder {
    roles: Vec<FrameRole>,
    kept: Vec<bool>,
}

impl InterpreterFolder {
    /// Begins a stack.
    pub(crate) fn begin(&mut self) {
        self.roles.clear();
    }

    /// Adds a frame, the innermost first: what is mapped at its address, and the functions there, the innermost inlined one first.
    pub(crate) fn add(&mut self, mapping: Option<&Mapping>, functions: &[Function]) {
        self.roles.push(language::role_of(mapping, functions));
    }

    /// Returns for each frame of the stack whether it stays.
    pub(crate) fn kept(&mut self) -> &[bool] {
        let Self { roles, kept } = self;
        kept.clear();
        kept.resize(roles.len(), true);
        let role = |at: usize| roles.get(at).copied().unwrap_or(FrameRole::Other);
        let mut drop = |at: usize| {
            if let Some(kept) = kept.get_mut(at) {
                *kept = false;
            }
        };
        // The last function of the program, or the interpreting function without one, and whether it is the former.
        let mut inner: Option<(usize, bool)> = None;
        for at in 0..roles.len() {
            let is_program = match role(at) {
                FrameRole::Program => true,
                // It interprets the function of the next frame.
                FrameRole::Loop if role(at.saturating_add(1)) == FrameRole::Program => {
                    drop(at);
                    continue;
                }
                FrameRole::Loop => false,
                _ => continue,
            };
            if let Some((before, was_program)) = inner {
                let between = before.saturating_add(1)..at;
                let has_others = between.clone().any(|it| role(it) == FrameRole::Other);
                between.filter(|it| role(*it) != FrameRole::Other).for_each(&mut drop);
                if !is_program && !was_program && !has_others {
                    drop(at);
                }
            }
            inner = Some((at, is_program));
        }
        // What called the outermost function of the program; the last frame tells how the stack ends.
        if let Some((last, true)) = inner {
            let calls = (last.saturating_add(1)..roles.len().saturating_sub(1))
                .take_while(|it| role(*it) == FrameRole::Call);
            calls.for_each(drop);
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folds a stack of letters, the innermost first: a function of the program, the interpreting function, what calls it, another of
    /// the interpreter's own, and any other.
    fn folded(stack: &str) -> String {
        let roles = stack.chars().map(|letter| match letter {
            'P' => FrameRole::Program,
            'L' => FrameRole::Loop,
            'c' => FrameRole::Call,
            'o' => FrameRole::Own,
            _ => FrameRole::Other,
        });
        let mut folder = InterpreterFolder { roles: roles.collect(), kept: Vec::new() };
        let kept = folder.kept();
        stack.chars().zip(kept).filter(|(_, kept)| **kept).map(|(letter, _)| letter).collect()
    }

    #[test]
    fn functions_of_the_program_alone() {
        assert_eq!(folded("LPccLPccLPccoo-"), "PPPoo-");
        // What the innermost function calls stays, and what called the first one.
        assert_eq!(folded("--ooLPcooLPccLPc-"), "--ooPPP-");
        // An extension module.
        assert_eq!(folded("LPcco--ooLPc-"), "P--P-");
        // The last frame tells how the stack ends.
        assert_eq!(folded("LPcc"), "Pc");
        assert_eq!(folded("P"), "P");
        // The interpreting function has no frame, as in a trampoline that has just begun.
        assert_eq!(folded("PcLPc-"), "PP-");
    }

    #[test]
    fn one_frame_for_what_is_interpreted_within_each_other() {
        assert_eq!(folded("oLcoLccLcoo-"), "oLcoo-");
        assert_eq!(folded("LcoL"), "L");
        assert_eq!(folded("Lc-oLo"), "L-Lo");
        // One function of the program has a frame, others do not.
        assert_eq!(folded("LcoLPcoLco-"), "LPLco-");
    }

    #[test]
    fn stacks_without_interpreters() {
        for stack in ["", "-", "oo-", "cco"] {
            assert_eq!(folded(stack), stack);
        }
    }
}
