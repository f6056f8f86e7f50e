//! The graph of imports between the files of one crate, read from `use` items and from paths that begin with `crate`,
//! `self` or `super`.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::code_of;

/// A module's path within its crate.
type ModulePath = Vec<String>;

/// The modules of a crate that have a file of their own.
struct Crate {
    modules: BTreeMap<ModulePath, Module>,
}

/// One file.
struct Module {
    file: String,
    /// Every path that the file names, with the name under which a `use` item makes it known there.
    paths: Vec<(Vec<String>, Option<String>)>,
}

/// A file or a folder, and another one of the same folder.
pub(crate) type Siblings = (String, String);

/// The imports between files below a directory of sources, by the two children of one folder that the files are or are
/// in: the folder, the importing child and the imported one, and the files.
pub(crate) fn between_siblings(sources: &str) -> BTreeMap<(String, Siblings), BTreeSet<(String, String)>> {
    let mut found: BTreeMap<_, BTreeSet<(String, String)>> = BTreeMap::new();
    for (from, to) in crate_of(sources).arrows() {
        let (at, other) = (module_path(&from, sources), module_path(&to, sources));
        let depth = at.iter().zip(&other).take_while(|(one, other)| one == other).count();
        // A folder's own `mod.rs` knows all that is in it.
        let (Some(child), Some(sibling)) = (at.get(depth), other.get(depth)) else { continue };
        let folder = [&[sources.to_owned()], &at[..depth]].concat().join("/");
        found.entry((folder, (child.clone(), sibling.clone()))).or_default().insert((from, to));
    }
    found
}

/// The circles of imports below a directory of sources: for each, its files and what each takes from another.
pub(crate) fn circles(sources: &str) -> Vec<BTreeSet<(String, String)>> {
    // A `mod.rs` and a `lib.rs` hold no code of their own, so what they hand on counts where it is used.
    let hands_on = |file: &str| file.ends_with("/mod.rs") || file.ends_with("/lib.rs");
    circles_of(&crate_of(sources).arrows().into_iter().filter(|(from, _)| !hands_on(from)).collect())
}

/// The circles of these arrows.
pub(crate) fn circles_of(arrows: &BTreeSet<(String, String)>) -> Vec<BTreeSet<(String, String)>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        arrows.iter().map(|(from, _)| (from, reached_from(from, arrows))).collect();
    let reaches = |from: &String, to: &String| reached.get(from).is_some_and(|reached| reached.contains(to));
    let in_circle = |arrow: &&(String, String)| reaches(&arrow.1, &arrow.0);
    let mut found: BTreeMap<BTreeSet<&String>, BTreeSet<(String, String)>> = BTreeMap::new();
    for arrow in arrows.iter().filter(in_circle) {
        let members = reached[&arrow.0].iter().filter(|file| reaches(file, &arrow.0)).copied().collect();
        found.entry(members).or_default().insert(arrow.clone());
    }
    found.into_values().collect()
}

fn crate_of(sources: &str) -> Crate {
    let modules = code_of(sources)
        .into_iter()
        .map(|(file, tokens)| (module_path(&file, sources), Module { paths: paths(&tokens), file }));
    Crate { modules: modules.collect() }
}

/// All files that a file imports, directly or through others.
fn reached_from<'a>(from: &String, arrows: &'a BTreeSet<(String, String)>) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        let first = (file.clone(), String::new());
        for (_, to) in arrows.range(first..).take_while(|(from, _)| from == file) {
            if reached.insert(to) {
                open.push(to);
            }
        }
    }
    reached
}

/// `a/b.rs` and `a/b/mod.rs` are the module `a::b`.
fn module_path(file: &str, sources: &str) -> ModulePath {
    let below = file.strip_prefix(sources).expect("it is below its sources").trim_start_matches('/');
    let mut path: ModulePath = below.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if path.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        path.pop();
    }
    path
}

impl Crate {
    /// The pairs of files of which the first names something that is in the second.
    fn arrows(&self) -> BTreeSet<(String, String)> {
        let of_module = |(at, module): (&ModulePath, &Module)| {
            let targets = module.paths.iter().filter_map(|(path, _)| self.file_of(at, path, 0));
            targets.map(|to| (module.file.clone(), to.to_owned())).collect::<Vec<_>>()
        };
        self.modules.iter().flat_map(of_module).filter(|(from, to)| from != to).collect()
    }

    /// The file in which the item of a path is, from within a module; None when it is of another crate.
    fn file_of(&self, from: &ModulePath, path: &[String], steps: usize) -> Option<&str> {
        let (mut at, mut rest) = self.beginning(from, path)?;
        while let [name, after @ ..] = rest
            && self.modules.contains_key(&child(&at, name))
        {
            at = child(&at, name);
            rest = after;
        }
        let module = self.modules.get(&at)?;
        let Some(name) = rest.first().filter(|_| steps < 8) else { return Some(&module.file) };
        let reexport = module.paths.iter().find(|(_, known_as)| known_as.as_ref() == Some(name));
        // An item of another crate and a macro of this file that are handed on by their names are taken from here.
        let elsewhere = reexport.and_then(|(path, _)| self.file_of(&at, path, steps + 1));
        elsewhere.or(Some(&module.file))
    }

    /// The module with which a path begins, and the rest of the path.
    fn beginning<'p>(&self, from: &ModulePath, path: &'p [String]) -> Option<(ModulePath, &'p [String])> {
        match path.first()?.as_str() {
            "crate" => Some((Vec::new(), &path[1..])),
            "self" => Some((from.clone(), &path[1..])),
            "super" => {
                let ups = path.iter().take_while(|segment| *segment == "super").count();
                Some((from[..from.len().checked_sub(ups)?].to_vec(), &path[ups..]))
            }
            first => self.modules.contains_key(&child(from, first)).then(|| (from.clone(), path)),
        }
    }
}

fn child(module: &[String], name: &str) -> ModulePath {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

/// The paths of a file's `use` items, and the others that begin with `crate`, `self` or `super`.
fn paths(tokens: &[String]) -> Vec<(Vec<String>, Option<String>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] == "use" {
            at = use_tree(tokens, at + 1, &[], &mut found);
        } else if ["crate", "self", "super"].contains(&tokens[at].as_str()) && is_separator(tokens, at + 1) {
            let (path, end) = plain_path(tokens, at);
            found.push((path, None));
            at = end;
        } else {
            at += 1;
        }
    }
    found
}

fn is_separator(tokens: &[String], at: usize) -> bool {
    tokens.get(at..at + 2).is_some_and(|signs| signs == [":", ":"])
}

/// The segments of a path that begins at `at`, and the index after it.
fn plain_path(tokens: &[String], mut at: usize) -> (Vec<String>, usize) {
    let mut path = vec![tokens[at].clone()];
    while is_separator(tokens, at + 1) && tokens.get(at + 3).is_some_and(|token| is_name(token)) {
        at += 3;
        path.push(tokens[at].clone());
    }
    (path, at + 1)
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Reads one tree of a `use` item, which begins at `at`; answers the index after it.
fn use_tree(
    tokens: &[String],
    mut at: usize,
    prefix: &[String],
    found: &mut Vec<(Vec<String>, Option<String>)>,
) -> usize {
    let mut path = prefix.to_vec();
    while at < tokens.len() {
        match tokens[at].as_str() {
            ":" => at += 1,
            "{" => {
                at += 1;
                while tokens[at] != "}" {
                    at = use_tree(tokens, at, &path, found);
                    at += usize::from(tokens[at] == ",");
                }
                return at + 1;
            }
            "as" => {
                found.push((path, Some(tokens[at + 1].clone())));
                return at + 2;
            }
            "self" if !path.is_empty() => at += 1,
            name if is_name(name) => {
                path.push(name.to_owned());
                at += 1;
            }
            "*" => at += 1,
            _ => break,
        }
    }
    let known_as = path.last().cloned();
    found.push((path, known_as));
    at
}
