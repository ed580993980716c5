//! A parser for the part of the protobuf text format that the goldens use: `name: scalar` and `name { ... }`.

use alloc::collections::BTreeMap;
use core::str;

/// A message: the values of each field, in the order of the text.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Message(pub(crate) BTreeMap<String, Vec<Scalar>>);

/// A value of a field.
#[derive(Debug, PartialEq)]
pub(crate) enum Scalar {
    /// A number of any integer type.
    Int(i128),
    /// `true` or `false`.
    Bool(bool),
    /// A string or bytes, unescaped.
    Bytes(Vec<u8>),
    /// A nested message.
    Message(Message),
}

/// Parses a text. An error names the line.
pub(crate) fn parse(text: &[u8]) -> Result<Message, String> {
    let mut parser = Parser { text, at: 0 };
    let parsed = parser.message(false);
    parsed.map_err(|error| {
        let line = 1 + parser.text[..parser.at].iter().filter(|byte| **byte == b'\n').count();
        format!("line {line}: {error}")
    })
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn word(&mut self) -> &str {
        let rest = &self.text[self.at..];
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let len = rest.iter().position(|byte| !is_word(byte)).unwrap_or(rest.len());
        self.at += len;
        str::from_utf8(&rest[..len]).expect("a word is ASCII")
    }

    fn message(&mut self, nested: bool) -> Result<Message, String> {
        let mut message = Message::default();
        loop {
            match self.peek() {
                None if nested => return Err("the text ends inside a message".into()),
                None => return Ok(message),
                Some(b'}') if nested => {
                    self.at += 1;
                    return Ok(message);
                }
                Some(_) => {}
            }
            let name = self.word().to_owned();
            if name.is_empty() {
                return Err("a field name is missing".into());
            }
            let value = self.value().map_err(|error| format!("{name}: {error}"))?;
            message.0.entry(name).or_default().push(value);
        }
    }

    fn value(&mut self) -> Result<Scalar, String> {
        match self.peek() {
            Some(b'{') => {
                self.at += 1;
                return self.message(true).map(Scalar::Message);
            }
            Some(b':') => self.at += 1,
            _ => return Err("neither `:` nor `{`".into()),
        }
        if self.peek() == Some(b'"') {
            self.at += 1;
            return self.string().map(Scalar::Bytes);
        }
        match self.word() {
            "true" => Ok(Scalar::Bool(true)),
            "false" => Ok(Scalar::Bool(false)),
            word => word.parse().map(Scalar::Int).map_err(|error| format!("{word:?}: {error}")),
        }
    }

    fn byte(&mut self) -> Result<u8, String> {
        let byte = *self.text.get(self.at).ok_or("the text ends inside a string")?;
        self.at += 1;
        Ok(byte)
    }

    fn string(&mut self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        loop {
            match self.byte()? {
                b'"' => return Ok(bytes),
                b'\n' => return Err("a line ends inside a string".into()),
                b'\\' => bytes.push(self.escape()?),
                byte => bytes.push(byte),
            }
        }
    }

    /// Parses an escape of the C++ library: `\n \r \t \" \' \\`, or three octal digits.
    fn escape(&mut self) -> Result<u8, String> {
        match self.byte()? {
            b'n' => Ok(b'\n'),
            b'r' => Ok(b'\r'),
            b't' => Ok(b'\t'),
            byte @ (b'"' | b'\'' | b'\\') => Ok(byte),
            first @ b'0'..=b'3' => {
                let mut value = first - b'0';
                for _ in 0..2 {
                    match self.byte()? {
                        digit @ b'0'..=b'7' => value = value << 3 | (digit - b'0'),
                        byte => return Err(format!("byte {byte:#04x} in an octal escape")),
                    }
                }
                Ok(value)
            }
            byte => Err(format!("unknown escape: backslash, byte {byte:#04x}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_messages_and_repeated_fields() {
        let message =
            parse(b"a {\n  x: 18446744073709551615\n  x: -1\n  b {\n  }\n}\na {\n y: false\n}\n").unwrap();
        let [Scalar::Message(first), Scalar::Message(second)] = &message.0["a"][..] else {
            panic!("{message:?}");
        };
        assert_eq!(first.0["x"], [Scalar::Int(u64::MAX.into()), Scalar::Int(-1)]);
        assert_eq!(first.0["b"], [Scalar::Message(Message::default())]);
        assert_eq!(second.0["y"], [Scalar::Bool(false)]);
    }

    #[test]
    fn strings_are_unescaped_to_bytes() {
        let message = parse(br#"s: "a\n\r\t\"\'\\ {}:\000\3779" t: """#).unwrap();
        assert_eq!(message.0["s"], [Scalar::Bytes(b"a\n\r\t\"'\\ {}:\x00\xff9".to_vec())]);
        assert_eq!(message.0["t"], [Scalar::Bytes(Vec::new())]);
    }

    #[test]
    fn what_is_not_understood_is_an_error_with_its_line() {
        for (text, line) in [
            (&b"a: 1\nb: 1.5"[..], "line 2"),
            (b"a: enum", "line 1"),
            (b"a 1", "line 1"),
            (b"a:", "line 1"),
            (b"}", "line 1"),
            (b"a {\n\n", "line 3"),
            (b"a: \"x", "line 1"),
            (b"a: \"x\n\"", "line 2"),
            (br#"a: "\x00""#, "line 1"),
            (br#"a: "\09""#, "line 1"),
            (br#"a: "\400""#, "line 1"),
            (b"# comment", "line 1"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(line), "{:?}: {error}", str::from_utf8(text));
        }
    }
}
