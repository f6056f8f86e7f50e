//! The texts of the pages in one language: Fluent, <https://projectfluent.org>.

use std::fmt;
use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource};

use super::locale::Locale;
use super::message::Message;

type Bundle = FluentBundle<FluentResource>;

/// The marks that Fluent sets around each value of a variable: first strong isolate, pop directional isolate.
const ISOLATE_BEGIN: char = '\u{2068}';
const ISOLATE_END: char = '\u{2069}';

static BUNDLES: LazyLock<[Bundle; Locale::ALL.len()]> = LazyLock::new(|| Locale::ALL.map(bundle_of));

/// The file of a language.
pub(super) const fn source(locale: Locale) -> &'static str {
    match locale {
        Locale::English => include_str!("locales/en.ftl"),
        Locale::Thai => include_str!("locales/th.ftl"),
        Locale::Japanese => include_str!("locales/ja.ftl"),
        Locale::German => include_str!("locales/de.ftl"),
        Locale::Arabic => include_str!("locales/ar.ftl"),
    }
}

fn bundle_of(locale: Locale) -> Bundle {
    let resource = FluentResource::try_new(source(locale).to_owned()).expect("a test reads every file");
    let mut bundle = Bundle::new_concurrent(vec![locale.name().parse().expect("a name is a language tag")]);
    bundle.add_resource(resource).expect("a test finds no message twice");
    bundle
}

/// The texts of one language.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub(super) locale: Locale,
    bundle: &'static Bundle,
}

impl Words {
    pub(super) fn of(locale: Locale) -> Words {
        Words { locale, bundle: &BUNDLES[locale as usize] }
    }

    /// The text of a message without variables.
    pub(super) fn text(self, message: Message) -> String {
        self.with(message, &[]).plain()
    }

    /// The text of a message with the values of its variables.
    pub(super) fn with(self, message: Message, values: &[(&str, &str)]) -> Phrase {
        let mut arguments = FluentArgs::new();
        for (name, value) in values {
            arguments.set(*name, value.replace([ISOLATE_BEGIN, ISOLATE_END], ""));
        }
        let pattern = self.bundle.get_message(message.id()).and_then(|found| found.value());
        let pattern = pattern.expect("a test finds every message in every language");
        Phrase(self.bundle.format_pattern(pattern, Some(&arguments), &mut Vec::new()).into_owned())
    }
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

    use fluent_syntax::ast::{Entry, Expression, InlineExpression, PatternElement};
    use fluent_syntax::parser;

    use super::*;

    /// The messages of a language, each with its variables.
    fn messages(locale: Locale) -> BTreeMap<&'static str, BTreeSet<&'static str>> {
        let resource = parser::parse(source(locale)).expect("a file without faults");
        let mut messages = BTreeMap::new();
        for entry in resource.body {
            let message = match entry {
                Entry::Message(message) => message,
                Entry::GroupComment(_) => continue,
                other => panic!("{locale:?} has something other than a message: {other:?}"),
            };
            let pattern = message.value.expect("a message has a text");
            let variables = pattern.elements.iter().filter_map(variable).collect();
            assert!(messages.insert(message.id.name, variables).is_none(), "{locale:?} {}", message.id.name);
        }
        messages
    }

    fn variable(element: &PatternElement<&'static str>) -> Option<&'static str> {
        match element {
            PatternElement::TextElement { value } => {
                assert!(!value.contains([ISOLATE_BEGIN, ISOLATE_END, '<', '"']), "{value}");
                None
            }
            PatternElement::Placeable {
                expression: Expression::Inline(InlineExpression::VariableReference { id }),
            } => Some(id.name),
            PatternElement::Placeable { .. } => panic!("a message has something other than a variable"),
        }
    }

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
