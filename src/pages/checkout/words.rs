//! The texts of the pages in one language. A line of a language's file is a message, ` = ` and its text, in which
//! `{ $name }` stands for the value of a variable; lines that begin with `#` group them.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use super::locale::Locale;
use super::message::Message;

/// The texts of one language by the ids of their messages.
type Texts = HashMap<&'static str, &'static str>;

/// The marks around each value of a variable: first strong isolate, pop directional isolate.
const ISOLATE_BEGIN: char = '\u{2068}';
const ISOLATE_END: char = '\u{2069}';

static TEXTS: LazyLock<[Texts; Locale::ALL.len()]> =
    LazyLock::new(|| Locale::ALL.map(|locale| lines(locale).collect()));

/// The file of a language.
pub(super) const fn source(locale: Locale) -> &'static str {
    match locale {
        Locale::English => include_str!("locales/en.txt"),
        Locale::Thai => include_str!("locales/th.txt"),
        Locale::Japanese => include_str!("locales/ja.txt"),
        Locale::German => include_str!("locales/de.txt"),
        Locale::Arabic => include_str!("locales/ar.txt"),
    }
}

/// The messages of a language and their texts.
fn lines(locale: Locale) -> impl Iterator<Item = (&'static str, &'static str)> {
    source(locale).lines().filter_map(|line| line.split_once(" = "))
}

/// The texts of one language.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub(super) locale: Locale,
    texts: &'static Texts,
}

impl Words {
    pub(super) fn of(locale: Locale) -> Words {
        Words { locale, texts: &TEXTS[locale as usize] }
    }

    /// The text of a message without variables.
    pub(super) fn text(self, message: Message) -> String {
        self.with(message, &[]).plain()
    }

    /// The text of a message with the values of its variables.
    pub(super) fn with(self, message: Message, values: &[(&str, &str)]) -> Phrase {
        let mut rest = *self.texts.get(message.id()).expect("a test finds every message in every language");
        let mut phrase = String::new();
        while let Some((before, (name, after))) = next_variable(rest) {
            let value = values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| *value);
            let value = value.replace([ISOLATE_BEGIN, ISOLATE_END], "");
            phrase += &format!("{before}{ISOLATE_BEGIN}{value}{ISOLATE_END}");
            rest = after;
        }
        Phrase(phrase + rest)
    }
}

/// The text before the first variable, its name, and the text after it.
fn next_variable(text: &str) -> Option<(&str, (&str, &str))> {
    let (before, rest) = text.split_once("{ $")?;
    Some((before, rest.split_once(" }")?))
}

/// A text of which the values of variables are known, so that their direction does not mix with that of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phrase(String);

impl Phrase {
    /// The text for an attribute or a title, where no element can stand.
    pub(super) fn plain(&self) -> String {
        self.0.replace([ISOLATE_BEGIN, ISOLATE_END], "")
    }
}

/// The text as HTML, with an element `bdi` around each value.
impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                ISOLATE_BEGIN => f.write_str("<bdi>")?,
                ISOLATE_END => f.write_str("</bdi>")?,
                '<' => f.write_str("&#60;")?,
                '>' => f.write_str("&#62;")?,
                '&' => f.write_str("&#38;")?,
                '"' => f.write_str("&#34;")?,
                '\'' => f.write_str("&#39;")?,
                other => fmt::Write::write_char(f, other)?,
            }
        }
        Ok(())
    }
}

impl askama::filters::HtmlSafe for Phrase {}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// The messages of a language, each with its variables.
    fn messages(locale: Locale) -> BTreeMap<&'static str, BTreeSet<&'static str>> {
        let mut messages = BTreeMap::new();
        for (id, text) in lines(locale) {
            assert!(id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{locale:?} {id}");
            assert!(messages.insert(id, variables(text)).is_none(), "{locale:?} {id} is there twice");
        }
        let others = source(locale).lines().filter(|line| !line.is_empty() && !line.starts_with("## ")).count();
        assert_eq!(messages.len(), others, "{locale:?} has lines of another form");
        messages
    }

    fn variables(mut text: &'static str) -> BTreeSet<&'static str> {
        let mut variables = BTreeSet::new();
        while let Some((before, (name, after))) = next_variable(text) {
            assert!(!before.contains(NO_TEXT), "{text}");
            variables.insert(name);
            text = after;
        }
        assert!(!text.is_empty() || !variables.is_empty());
        assert!(!text.contains(NO_TEXT), "{text}");
        variables
    }

    /// Characters that no text has: markup, the marks around values, and the braces of an incomplete variable.
    const NO_TEXT: [char; 6] = ['<', '"', '{', '}', ISOLATE_BEGIN, ISOLATE_END];

    #[test]
    fn every_language_has_the_same_messages_with_the_same_variables() {
        let english = messages(Locale::English);
        for locale in Locale::ALL {
            assert_eq!(messages(locale), english, "{locale:?}");
        }
        let used: BTreeSet<_> = Message::ALL.map(Message::id).into_iter().collect();
        assert_eq!(english.keys().copied().collect::<BTreeSet<_>>(), used);
    }

    #[test]
    fn no_language_lacks_a_translation() {
        let text = |locale, message| Words::of(locale).text(message);
        for locale in Locale::ALL.into_iter().filter(|locale| *locale != Locale::English) {
            for message in Message::ALL {
                let (own, english) = (text(locale, message), text(Locale::English, message));
                assert!(own != english || message == Message::PromptPay, "{locale:?} {message:?}");
            }
        }
    }

    #[test]
    fn a_value_is_isolated_and_escaped() {
        let phrase = Words::of(Locale::Arabic).with(Message::PayMerchant, &[("merchant", "<b>\u{2069} & 'Co' \"")]);
        let html = phrase.to_string();
        assert!(html.contains("<bdi>&#60;b&#62; &#38; &#39;Co&#39; &#34;</bdi>"), "{html}");
        assert!(phrase.plain().contains("<b> & 'Co' \"") && !phrase.plain().contains(ISOLATE_BEGIN), "{html}");
    }
}
