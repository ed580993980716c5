//! Text that is printed repeatedly.

/// The number of bytes to copy at once. Most texts are not longer, so the length of the copy is constant.
const SHORT: usize = 64;

/// A text in its output format.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    text: Vec<u8>,
    /// The text again, padded with zeros, if it is not longer than `SHORT`.
    short: [u8; SHORT],
}

impl Ready {
    pub(crate) fn new(text: Vec<u8>) -> Self {
        let mut short = [0; SHORT];
        if let Some(front) = short.get_mut(..text.len()) {
            front.copy_from_slice(&text);
        }
        Self { text, short }
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Appends the text.
    #[inline]
    pub(crate) fn push(&self, out: &mut Vec<u8>) {
        if self.text.len() > SHORT {
            return out.extend_from_slice(&self.text);
        }
        let end = out.len() + self.text.len();
        out.extend_from_slice(&self.short);
        out.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_length_print() {
        for length in 0..2 * SHORT {
            let text: Vec<u8> = (1..).take(length).collect();
            let mut out = b"before".to_vec();
            Ready::new(text.clone()).push(&mut out);
            assert_eq!(out, [b"before", &*text].concat());
        }
    }
}
