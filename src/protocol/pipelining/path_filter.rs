//! Filters of paths, of which only the form is judged: no filter is evaluated.
//!
//! Source: RFC 9535, section 2.3.5.

use super::path_parser::{PathParser, Segment};

/// The limit of filters and parentheses within each other. A deeper text is no path.
const NESTED_MAX: usize = 32;

/// Comparison operators, each before its own beginning.
const COMPARISONS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];

/// The form of an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    /// A text, a number, `true`, `false` or `null`: it is compared, or an argument.
    Literal,
    /// A path to one value at most: it is compared, or tested.
    OneValue,
    /// A path to several values: it is tested.
    ManyValues,
    /// A function's result: it is compared, or tested.
    Function,
}

impl PathParser<'_> {
    /// A logical expression, after the question mark.
    pub(super) fn filter(&mut self) -> Option<()> {
        self.nested(|parser| parser.expression(false))
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        self.depth = self.depth.checked_add(1).filter(|depth| *depth <= NESTED_MAX)?;
        read(self)?;
        self.depth -= 1;
        Some(())
    }

    /// Terms between `&&` and `||`. Only an argument of a function may be a literal by itself.
    fn expression(&mut self, may_be_literal: bool) -> Option<()> {
        self.term(may_be_literal)?;
        loop {
            let before = self.rest;
            self.skip_blanks();
            if !self.take_text("&&") && !self.take_text("||") {
                self.rest = before;
                return Some(());
            }
            self.term(false)?;
        }
    }

    fn term(&mut self, may_be_literal: bool) -> Option<()> {
        self.skip_blanks();
        let is_negated = self.take('!');
        self.skip_blanks();
        if self.take('(') {
            self.nested(|parser| parser.expression(false))?;
            self.skip_blanks();
            return self.take(')').then_some(());
        }
        let operand = self.operand()?;
        let before = self.rest;
        self.skip_blanks();
        if COMPARISONS.iter().any(|comparison| self.take_text(comparison)) {
            self.skip_blanks();
            let are_comparable = operand != Operand::ManyValues && self.operand()? != Operand::ManyValues;
            return (are_comparable && !is_negated).then_some(());
        }
        self.rest = before;
        (operand != Operand::Literal || (may_be_literal && !is_negated)).then_some(())
    }

    fn operand(&mut self) -> Option<Operand> {
        match self.rest.chars().next()? {
            quote @ ('\'' | '"') => self.quoted(quote).map(|_| Operand::Literal),
            '@' | '$' => {
                self.rest = &self.rest[1..];
                let segments = self.nested_segments()?;
                Some(if segments { Operand::OneValue } else { Operand::ManyValues })
            }
            '-' | '0'..='9' => self.number().map(|()| Operand::Literal),
            _ => self.word(),
        }
    }

    /// Reads segments, and returns true when they lead to one value at most.
    fn nested_segments(&mut self) -> Option<bool> {
        let mut is_one_value = true;
        self.nested(|parser| {
            is_one_value = parser.segments()?.iter().all(Segment::is_singular);
            Some(())
        })?;
        Some(is_one_value)
    }

    fn number(&mut self) -> Option<()> {
        let take_digits = |parser: &mut Self| {
            let length = parser.rest.bytes().take_while(u8::is_ascii_digit).count();
            let (digits, rest) = parser.rest.split_at(length);
            parser.rest = rest;
            (length > 0).then_some(digits)
        };
        self.take('-');
        let digits = take_digits(self)?;
        if digits.len() > 1 && digits.starts_with('0') {
            return None;
        }
        if self.take('.') {
            take_digits(self)?;
        }
        if self.take('e') || self.take('E') {
            _ = self.take('+') || self.take('-');
            take_digits(self)?;
        }
        Some(())
    }

    /// `true`, `false`, `null`, or a function with its arguments.
    fn word(&mut self) -> Option<Operand> {
        let is_more = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
        let length = self.rest.find(|letter| !is_more(letter)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(length);
        self.rest = rest;
        if !self.take('(') {
            return ["true", "false", "null"].contains(&name).then_some(Operand::Literal);
        }
        name.starts_with(|first: char| first.is_ascii_lowercase()).then_some(())?;
        self.nested(Self::arguments)?;
        Some(Operand::Function)
    }

    fn arguments(&mut self) -> Option<()> {
        self.skip_blanks();
        if self.take(')') {
            return Some(());
        }
        loop {
            self.expression(true)?;
            self.skip_blanks();
            if self.take(')') {
                return Some(());
            }
            self.take(',').then_some(())?;
        }
    }
}
