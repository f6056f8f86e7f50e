//! Forms: which call each makes, for which of its arguments it asks, and when it is offered.

use serde_json::Value;
use till_protocol::declaration::Declaration;
use till_protocol::dispatch::PageDeclaration;

use crate::pages::answered::AnsweredObject;

/// A page with a form, by which somebody does one thing.
#[derive(Debug)]
pub(in crate::pages) struct FormPage {
    /// Texts in braces are arguments of the call.
    pub(in crate::pages) page: PageDeclaration,
    /// The pattern of the page that offers it, to which it leads back.
    pub(in crate::pages) of: &'static str,
    /// The name of its call.
    pub(in crate::pages) call: &'static str,
    /// The words of the link, and the heading.
    pub(in crate::pages) title: &'static str,
    pub(in crate::pages) button: &'static str,
    /// The arguments that it asks for, with spaces between them.
    pub(in crate::pages) fields: &'static str,
    /// The objects for which it is offered.
    pub(in crate::pages) when: When,
    /// What follows.
    pub(in crate::pages) after: After,
}

/// The objects for which a form is offered.
#[derive(Debug)]
pub(in crate::pages) enum When {
    Always,
    /// Those of which this is true.
    True(&'static str),
    /// Those of which this is false.
    False(&'static str),
    /// Those of which this is null.
    Null(&'static str),
    /// Those of which this is not null.
    Given(&'static str),
    /// Those with one of these statuses, with spaces between them.
    Status(&'static str),
}

/// What follows when a form's call has succeeded.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::pages) enum After {
    /// The page that offered it.
    Back,
    /// The list that this page's object was in.
    List,
    /// A page with what was answered, which is not shown again.
    Answer,
    /// The page of what was made, below the one that offered it.
    Made,
}

/// Forms below a first page: the page that offers them, the path below it, the call, link, button, arguments, when, and
/// what follows.
macro_rules! forms {
    ($base:literal; $($of:literal $act:literal $call:literal $title:literal $button:literal $fields:literal
        $when:expr, $after:expr;)+) => {
        [$($crate::pages::parts::FormPage {
            page: till_protocol::dispatch::PageDeclaration { pattern: concat!($base, $of, "/", $act), has_form: true },
            of: concat!($base, $of), call: $call, title: $title, button: $button, fields: $fields,
            when: $when, after: $after,
        }),+]
    };
}

pub(in crate::pages) use forms;

impl FormPage {
    /// The path below the page that offers it, with the ids of the object that it is about.
    pub(in crate::pages) fn path_below(&self, object: &Value) -> String {
        let segments =
            self.path().split('/').map(|segment| argument(segment).map_or(segment, |name| object.text(name)));
        segments.collect::<Vec<&str>>().join("/")
    }

    fn path(&self) -> &'static str {
        self.page.pattern.get(self.of.len() + 1..).unwrap_or_default()
    }

    /// True when it is offered beside each object of a list, and not for the page as a whole.
    pub(in crate::pages) fn is_of_row(&self) -> bool {
        self.path().contains('{')
    }

    /// True when it is offered for this object, which has all ids that its path needs.
    pub(in crate::pages) fn is_for(&self, object: &Value) -> bool {
        let mut ids = self.path().split('/').filter_map(argument);
        ids.all(|id| object[id].is_string())
            && match self.when {
                When::Always => true,
                When::True(name) => object.is(name),
                When::False(name) => object[name] == Value::Bool(false),
                When::Null(name) => object[name].is_null(),
                When::Given(name) => !object[name].is_null(),
                When::Status(words) => words.split(' ').any(|word| word == object.text("status")),
            }
    }

    /// The arguments of its call that its address has, in the order of the address.
    pub(in crate::pages) fn bound(&self, declaration: &'static Declaration) -> impl Iterator<Item = &'static str> {
        let names = self.page.pattern.split('/').filter_map(argument);
        names.filter(move |name| declaration.position(name).is_some())
    }

    /// True when it asks for an argument.
    pub(in crate::pages) fn asks_for(&self, argument: &str) -> bool {
        self.fields.split(' ').any(|name| name == argument)
    }

    /// The path to which it leads back, of its own.
    pub(in crate::pages) fn path_back<'p>(&self, path: &'p str) -> &'p str {
        let segments = self.path().split('/').count() + usize::from(self.after == After::List);
        (0..segments).fold(path, |path, _| path.rsplit_once('/').map_or(path, |(above, _)| above))
    }
}

/// The name in braces.
pub(in crate::pages) fn argument(segment: &'static str) -> Option<&'static str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}
