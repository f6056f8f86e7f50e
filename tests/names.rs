//! One public type name has one meaning: a name may be declared at most twice in the workspace. The name of a function
//! says what it does or gives. Lines have a width.

mod sources;

use std::collections::BTreeMap;

use sources::{code_of, manifest, read, rust_files, tokens};

/// The most declarations of one public type name in the product code of all rooms.
const DECLARATIONS_MAX: usize = 2;

/// The keywords of declarations of types.
const KEYWORDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

/// The files that declare a type name, one entry for each declaration.
type Declarations = BTreeMap<String, Vec<String>>;

/// The directories with the sources of all rooms: the main crate and the members of the workspace.
fn source_directories() -> Vec<String> {
    let manifest = manifest(".");
    let members = manifest["workspace"]["members"].as_array().expect("a list of members");
    let members = members.iter().filter_map(toml::Value::as_str).map(|member| format!("{member}/src"));
    std::iter::once("src".to_owned()).chain(members).collect()
}

/// The names of the public types that a source declares: those with `pub`, `pub(crate)` or another visibility in
/// parentheses. Associated types have no visibility of their own and are left out, and so are names that a macro fills
/// in.
fn public_types(tokens: &[String]) -> Vec<&str> {
    let starts = tokens.iter().enumerate().filter(|(_, token)| *token == "pub").map(|(at, _)| at + 1);
    starts.filter_map(|at| declared_type(after_scope(tokens.get(at..)?))).collect()
}

/// The tokens after the scope of a visibility, such as `(in crate::plan)`.
fn after_scope(tokens: &[String]) -> &[String] {
    match tokens.first().map(String::as_str) {
        Some("(") => {
            let end = tokens.iter().position(|token| token == ")").map_or(tokens.len(), |end| end + 1);
            tokens.get(end..).unwrap_or_default()
        }
        _ => tokens,
    }
}

/// The name of the type whose declaration begins here.
fn declared_type(tokens: &[String]) -> Option<&str> {
    let declaration = match tokens.first().map(String::as_str) {
        Some("unsafe") => tokens.get(1..)?,
        _ => tokens,
    };
    let [keyword, name, ..] = declaration else { return None };
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic());
    (KEYWORDS.contains(&keyword.as_str()) && is_name).then_some(name.as_str())
}

/// Adds the public types of a file to the declarations.
fn add(declarations: &mut Declarations, file: &str, tokens: &[String]) {
    for name in public_types(tokens) {
        declarations.entry(name.to_owned()).or_default().push(file.to_owned());
    }
}

/// A line for each name that is declared too often, with its files.
fn declared_too_often(declarations: &Declarations) -> Vec<String> {
    let too_often = declarations.iter().filter(|(_, files)| files.len() > DECLARATIONS_MAX);
    too_often.map(|(name, files)| format!("{name} ({}): {}", files.len(), files.join(", "))).collect()
}

#[test]
fn no_public_type_name_is_declared_more_than_twice() {
    let mut declarations = Declarations::new();
    for (file, tokens) in source_directories().iter().flat_map(|directory| code_of(directory)) {
        add(&mut declarations, &file, &tokens);
    }
    assert!(declarations.len() > 500, "the sources were read: {} names", declarations.len());
    let too_often = declared_too_often(&declarations);
    let message = "names with more than two meanings: rename one of the types in each line";
    assert!(too_often.is_empty(), "{message}\n{}", too_often.join("\n"));
}

#[test]
fn a_name_that_is_declared_three_times_is_found_with_its_files() {
    let source = r#"
        // pub struct Comment;
        pub struct Alpha { pub name: &'static str }
        pub(crate) enum Beta<'a> { First(&'a str) }
        pub(in crate::plan) trait Gamma { type Item; }
        pub(super) type Delta = Vec<String>;
        pub unsafe trait Epsilon {}
        struct Private; enum Hidden {}
        pub fn make() -> &'static str { "pub struct Text;" }
        macro_rules! shape { ($name:ident) => { pub struct $name; }; }
        impl Iterator for Alpha { type Item = u8; }
    "#;
    assert_eq!(public_types(&tokens(source)), ["Alpha", "Beta", "Gamma", "Delta", "Epsilon"]);
    let mut declarations = Declarations::new();
    for file in ["a.rs", "b.rs"] {
        add(&mut declarations, file, &tokens(source));
    }
    assert!(declared_too_often(&declarations).is_empty(), "twice is allowed");
    add(&mut declarations, "c.rs", &tokens("pub struct Delta;"));
    assert_eq!(declared_too_often(&declarations), ["Delta (3): a.rs, b.rs, c.rs"]);
}

/// Words that say nothing as the whole name of a function: prepositions and the like, and participles.
const NO_NAMES_OF_FUNCTIONS: &str = "
    about above accepted after again among answered at because before below beside between beyond by carrying
    chosen done drawn due during earlier ended following found given here kept known late later made named
    only over seen shown since sometimes taken this to told under until when while whole within without
";

/// The names of the functions that a source declares.
fn functions(tokens: &[String]) -> impl Iterator<Item = &str> {
    tokens.windows(2).filter(|window| window[0] == "fn").map(|window| window[1].as_str())
}

#[test]
fn the_names_of_functions_are_found_with_their_generics() {
    let source = "impl A { pub(super) const fn taken<T>(&self) {} async fn take() { after() } } // fn over() {}";
    assert_eq!(functions(&tokens(source)).collect::<Vec<_>>(), ["taken", "take"]);
}

#[test]
fn no_function_is_named_by_a_preposition_or_a_participle_alone() {
    let mut refused = Vec::new();
    for (file, tokens) in source_directories().iter().flat_map(|directory| code_of(directory)) {
        let names =
            functions(&tokens).filter(|name| NO_NAMES_OF_FUNCTIONS.split_whitespace().any(|word| word == *name));
        refused.extend(names.map(|name| format!("{file}: {name}")));
    }
    assert!(refused.is_empty(), "name these by what they do or give:\n{}", refused.join("\n"));
}

/// The width of a line, in characters: what the formatter keeps.
const WIDTH: usize = 120;

/// Files with wider lines, and how many: texts that cannot be broken, and rows of tables in comments.
const WIDER: [(&str, usize); 12] = [
    ("actors/sandbox/src/book/promptpay.rs", 3),
    ("domain/src/card_number_tests.rs", 1),
    ("protocol/src/pipelining/declaration.rs", 1),
    ("protocol/src/pipelining/references.rs", 1),
    ("src/commands/webhook/listener.rs", 1),
    ("src/demo/first_session.rs", 6),
    ("src/endpoints/created_at.rs", 2),
    ("src/endpoints/merchants/statement_document/csv.rs", 1),
    ("src/endpoints/sdk/customer_action.rs", 1),
    ("storage/src/vault/vault_key.rs", 1),
    ("tests/till/api_guide/comparison.rs", 1),
    ("tests/till/pages/returning.rs", 1),
];

#[test]
fn no_line_is_wider_than_the_formatter_keeps_it() {
    let directories = ["actors", "benches", "domain", "protocol", "src", "storage", "tests"];
    let wider = directories.iter().flat_map(|directory| rust_files(directory)).filter_map(|file| {
        let count = read(&file).lines().filter(|line| line.chars().count() > WIDTH).count();
        (count > 0).then_some((file, count))
    });
    let mut wider: Vec<(String, usize)> = wider.collect();
    wider.sort();
    assert_eq!(wider, WIDER.map(|(file, count)| (file.to_owned(), count)));
}
