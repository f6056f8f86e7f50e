//! Number literals, as they were written.

/// The number literals of a text, in order.
///
/// serde_json passes numbers on as doubles, which would lose the literal. Its visitor receives them in the text's
/// order, so the n-th visited number is the n-th literal here. The text up to the visited number has passed the
/// grammar, which is why so simple a scan suffices.
pub(super) struct NumberLiterals<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> NumberLiterals<'a> {
    /// The literals of this text.
    pub(super) const fn of(text: &'a str) -> NumberLiterals<'a> {
        NumberLiterals { text, at: 0 }
    }

    /// The next literal; None at the end.
    pub(super) fn next(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'"' => self.skip_string(bytes),
                b'-' | b'0'..=b'9' => return Some(self.take_literal(bytes)),
                _ => self.at += 1,
            }
        }
        None
    }

    fn skip_string(&mut self, bytes: &[u8]) {
        self.at += 1;
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 2,
                b'"' => break,
                _ => self.at += 1,
            }
        }
        self.at += 1;
    }

    fn take_literal(&mut self, bytes: &[u8]) -> &'a str {
        let start = self.at;
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        self.at += bytes[start..].iter().take_while(|byte| is_part(byte)).count();
        &self.text[start..self.at]
    }
}
