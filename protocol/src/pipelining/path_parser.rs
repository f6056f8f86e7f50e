//! The reader of paths.
//!
//! Source: RFC 9535, section 2. A name after a dot may have hyphens, since published clients write every member in this
//! way.

/// The largest index, by RFC 9535: 2^53-1.
const INDEX_MAX: i64 = (1 << 53) - 1;

/// A part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    Member(String),
    /// Counted from the end when negative.
    Index(i64),
    /// From the first index to before the second, each counted from the end when negative.
    Slice(Option<i64>, Option<i64>),
    /// `*`
    Every,
    /// A segment that is not looked up: descendants, a filter, a list of selectors, or a slice with a step.
    Unsupported,
}

impl Segment {
    /// True when it selects one value at most.
    pub(super) const fn is_singular(&self) -> bool {
        match self {
            Segment::Member(_) | Segment::Index(_) => true,
            Segment::Slice(..) | Segment::Every | Segment::Unsupported => false,
        }
    }
}

/// The unread part of a path.
pub(super) struct PathParser<'t> {
    rest: &'t str,
}

impl<'t> PathParser<'t> {
    pub(super) const fn new(text: &'t str) -> PathParser<'t> {
        PathParser { rest: text }
    }

    pub(super) const fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// The segments up to something else.
    pub(super) fn segments(&mut self) -> Option<Vec<Segment>> {
        let mut segments = Vec::new();
        loop {
            let before = self.rest;
            self.skip_blanks();
            if !self.rest.starts_with(['.', '[']) {
                self.rest = before;
                return Some(segments);
            }
            segments.push(self.segment()?);
        }
    }

    fn segment(&mut self) -> Option<Segment> {
        if self.take_text("..") {
            let segment = if self.rest.starts_with('[') { self.selectors() } else { self.shorthand() };
            return segment.map(|_| Segment::Unsupported);
        }
        if self.take('.') { self.shorthand() } else { self.selectors() }
    }

    fn shorthand(&mut self) -> Option<Segment> {
        if self.take('*') { Some(Segment::Every) } else { self.name().map(Segment::Member) }
    }

    /// Selectors between brackets.
    fn selectors(&mut self) -> Option<Segment> {
        self.take('[').then_some(())?;
        let mut segment = self.selector()?;
        self.skip_blanks();
        while self.take(',') {
            self.selector()?;
            self.skip_blanks();
            segment = Segment::Unsupported;
        }
        self.take(']').then_some(segment)
    }

    fn selector(&mut self) -> Option<Segment> {
        self.skip_blanks();
        if self.take('*') {
            return Some(Segment::Every);
        }
        if self.take('?') {
            return self.filter();
        }
        match self.rest.chars().next()? {
            quote @ ('\'' | '"') => self.quoted(quote).map(Segment::Member),
            _ => self.index_or_slice(),
        }
    }

    /// A filter. None is looked up, so its grammar is not judged: it goes on to a bracket at the end of the text.
    fn filter(&mut self) -> Option<Segment> {
        self.rest = self.rest.ends_with(']').then_some("]")?;
        Some(Segment::Unsupported)
    }

    fn index_or_slice(&mut self) -> Option<Segment> {
        let from = self.integer()?;
        let before = self.rest;
        self.skip_blanks();
        if !self.take(':') {
            self.rest = before;
            return from.map(Segment::Index);
        }
        self.skip_blanks();
        let to = self.integer()?;
        self.skip_blanks();
        if !self.take(':') {
            return Some(Segment::Slice(from, to));
        }
        self.skip_blanks();
        self.integer().map(|_| Segment::Unsupported)
    }

    /// An integer without leading zeros; `Some(None)` when there is none.
    fn integer(&mut self) -> Option<Option<i64>> {
        let length = self.rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'-').count();
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        if digits.is_empty() {
            return Some(None);
        }
        let integer: i64 = digits.parse().ok()?;
        let is_plain = integer.to_string() == digits && integer.abs() <= INDEX_MAX;
        is_plain.then_some(Some(integer))
    }

    fn name(&mut self) -> Option<String> {
        let is_first = |letter: char| letter.is_ascii_alphabetic() || letter == '_' || !letter.is_ascii();
        let is_more = |letter: char| is_first(letter) || letter.is_ascii_digit() || letter == '-';
        let length = self.rest.find(|letter| !is_more(letter)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(length);
        self.rest = rest;
        name.starts_with(is_first).then(|| name.to_owned())
    }

    /// A text between quotation marks, with the escapes of JSON.
    fn quoted(&mut self, quote: char) -> Option<String> {
        let mut text = String::from('"');
        let mut letters = self.rest.char_indices().skip(1);
        while let Some((at, letter)) = letters.next() {
            match letter {
                letter if letter == quote => {
                    self.rest = &self.rest[at + quote.len_utf8()..];
                    text.push('"');
                    return serde_json::from_str(&text).ok();
                }
                '"' => text.push_str("\\\""),
                '\\' => match letters.next()?.1 {
                    '\'' if quote == '\'' => text.push('\''),
                    '"' if quote == '\'' => return None,
                    escaped => text.extend(['\\', escaped]),
                },
                letter => text.push(letter),
            }
        }
        None
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn take(&mut self, expected: char) -> bool {
        self.take_text(expected.encode_utf8(&mut [0; 4]))
    }

    fn take_text(&mut self, expected: &str) -> bool {
        let rest = self.rest.strip_prefix(expected);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}
