//! The reader of sources that the tests of rooms and of names share: Rust files by directory, without comments, texts
//! and tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn manifest(directory: &str) -> toml::Table {
    let path = root().join(directory).join("Cargo.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every Rust file below a directory, as its path from the root.
pub(crate) fn rust_files(directory: &str) -> Vec<String> {
    let mut found = Vec::new();
    gather(&root().join(directory), &mut found);
    let relative = |path: PathBuf| path.strip_prefix(root()).expect("it is below the root").display().to_string();
    let mut files: Vec<String> = found.into_iter().map(relative).collect();
    files.sort();
    files
}

fn gather(directory: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        if path.is_dir() {
            gather(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

pub(crate) fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The files of a room with their code, without comments, texts and tests.
pub(crate) fn code_of(sources: &str) -> Vec<(String, Vec<String>)> {
    let files = rust_files(sources);
    let code: Vec<(String, Code)> = files.into_iter().map(|file| (file.clone(), Code::of(&read(&file)))).collect();
    let tests: BTreeSet<String> = code.iter().flat_map(|(file, code)| code.test_files(file)).collect();
    let is_code = |(file, _): &(String, Code)| !tests.contains(file) && !file.ends_with("_tests.rs");
    code.into_iter().filter(is_code).map(|(file, code)| (file, code.tokens)).collect()
}

/// The words and signs of a source, in order.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) tokens: Vec<String>,
    /// The modules that are compiled for tests only and have a file of their own.
    test_modules: Vec<String>,
}

impl Code {
    /// The code of a source, without its tests.
    pub(crate) fn of(source: &str) -> Code {
        Code::without_tests(tokens(source))
    }

    fn without_tests(all: Vec<String>) -> Code {
        let mut code = Code::default();
        let mut at = 0;
        while at < all.len() {
            if all[at..].starts_with(&["#", "[", "cfg", "(", "test", ")", "]"].map(str::to_owned)) {
                at = code.skip_item(&all, at + 7);
            } else {
                code.tokens.push(all[at].clone());
                at += 1;
            }
        }
        code
    }

    /// The index after the item that begins at `at`.
    fn skip_item(&mut self, all: &[String], at: usize) -> usize {
        let rest = &all[at..];
        let ends = |token: &String| token == "{" || token == ";";
        let Some(end) = rest.iter().position(ends) else { return all.len() };
        if rest[end] == ";" {
            if let Some(name) =
                rest[..end].iter().position(|token| token == "mod").and_then(|module| rest.get(module + 1))
            {
                self.test_modules.push(name.clone());
            }
            return at + end + 1;
        }
        let mut depth = 0;
        for (offset, token) in rest.iter().enumerate().skip(end) {
            match token.as_str() {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at + offset + 1;
            }
        }
        all.len()
    }

    /// The paths that the files of its test modules may have.
    pub(crate) fn test_files(&self, file: &str) -> Vec<String> {
        let path = Path::new(file);
        let directory = path.parent().expect("a file is in a directory");
        let stem = path.file_stem().expect("a file has a name");
        let candidates = |name: &String| {
            [directory.join(format!("{name}.rs")), directory.join(stem).join(format!("{name}.rs"))]
                .map(|path| path.display().to_string())
        };
        self.test_modules.iter().flat_map(candidates).collect()
    }
}

/// Splits a source into identifiers and single signs; comments and literals are left out.
pub(crate) fn tokens(source: &str) -> Vec<String> {
    let characters: Vec<char> = source.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        let rest = &characters[at..];
        let length = match rest {
            ['/', '/', ..] => rest.iter().take_while(|character| **character != '\n').count(),
            ['/', '*', ..] => block_comment(rest),
            ['"', ..] => text(rest),
            ['r' | 'b', ..] if raw_text(rest).is_some() => raw_text(rest).unwrap_or(1),
            ['\'', ..] => character_or_lifetime(rest),
            [first, ..] if first.is_alphanumeric() || *first == '_' => {
                let length =
                    rest.iter().take_while(|character| character.is_alphanumeric() || **character == '_').count();
                found.push(rest[..length].iter().collect());
                length
            }
            [first, ..] => {
                if !first.is_whitespace() {
                    found.push(first.to_string());
                }
                1
            }
            [] => 1,
        };
        at += length;
    }
    found
}

fn block_comment(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match &rest[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn text(rest: &[char]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != '"' {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// The length of `r"..."`, `r#"..."#` and their byte forms.
fn raw_text(rest: &[char]) -> Option<usize> {
    let prefix = rest.iter().take_while(|character| matches!(character, 'r' | 'b')).count();
    if prefix > 2 || !rest[..prefix].contains(&'r') {
        return None;
    }
    let hashes = rest[prefix..].iter().take_while(|character| **character == '#').count();
    if rest.get(prefix + hashes) != Some(&'"') {
        return None;
    }
    let end: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let start = prefix + hashes + 1;
    let length = rest[start..].windows(end.len()).position(|window| window == end)?;
    Some(start + length + end.len())
}

fn character_or_lifetime(rest: &[char]) -> usize {
    match rest {
        ['\'', '\\', ..] => 2 + rest[2..].iter().skip(1).take_while(|character| **character != '\'').count() + 2,
        ['\'', _, '\'', ..] => 3,
        _ => 1,
    }
}
