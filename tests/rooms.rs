//! The table of rooms in the architecture: the dependencies that each room may have, and the words that it must not
//! contain. Cargo's dependency graph enforces a part of it; these tests read the manifests and the sources for the
//! rest.

#[path = "sources/imports.rs"]
mod imports;
mod sources;

use std::collections::BTreeSet;
use std::path::Path;

use imports::{between_siblings, circles, circles_of};
use sources::{Code, code_of, manifest, read, rust_files, tokens};

/// A row of the table.
struct Room {
    /// Its directory, and so the directory of its manifest.
    directory: &'static str,
    /// The directory of its sources, without those of the rooms below it.
    sources: &'static str,
    /// The rooms that it may use.
    may_use: &'static [&'static str],
    /// Crates that it must not use, by the beginning of their names.
    forbidden_crates: &'static [&'static str],
    /// Words that its sources, without tests, must not contain.
    forbidden_words: &'static [&'static str],
}

const TABLE: [Room; 10] = [
    Room {
        directory: "domain",
        sources: "domain/src",
        may_use: &[],
        forbidden_crates: &[
            "tokio",
            "actix",
            "rocksdb",
            "librocksdb",
            "serde",
            "bincode",
            "rand",
            "getrandom",
            "chrono",
            "time",
            "jiff",
            "tracing",
        ],
        forbidden_words: &[
            "tokio",
            "actix",
            "rocksdb",
            "serde",
            "SystemTime",
            "Instant",
            "HashMap",
            "HashSet",
            "f32",
            "f64",
            "rand",
            "getrandom",
            "spawn",
            "async",
            "await",
            "File",
            "TcpStream",
            "println",
            "unsafe",
        ],
    },
    Room {
        directory: "protocol",
        sources: "protocol/src",
        may_use: &["till-domain"],
        forbidden_crates: &["actix-rt", "rocksdb", "librocksdb", "bincode", "hyper", "reqwest", "ureq"],
        forbidden_words: &["rocksdb", "unsafe", "decide", "apply", "Command", "Rows"],
    },
    Room {
        directory: "storage",
        sources: "storage/src",
        may_use: &["till-domain"],
        // Serde is there to show stored records to an operator. Bytes on disk never come from it.
        forbidden_crates: &["actix", "tokio", "hyper", "reqwest", "ureq", "http", "serde_json"],
        forbidden_words: &["actix", "actix_web", "hyper", "TcpListener", "unsafe", "Deserialize"],
    },
    Room {
        directory: "storage/operate",
        sources: "storage/operate/src",
        may_use: &["till-domain", "till-storage"],
        forbidden_crates: &["actix", "tokio", "hyper", "reqwest", "ureq", "http"],
        forbidden_words: &["actix", "actix_web", "hyper", "TcpListener", "unsafe", "decide", "Deserialize"],
    },
    Room {
        directory: "storage/shared",
        sources: "storage/shared/src",
        may_use: &["till-domain", "till-storage"],
        forbidden_crates: &["actix", "rocksdb", "librocksdb", "hyper", "reqwest", "ureq", "bincode"],
        forbidden_words: &["actix", "rocksdb", "hyper", "unsafe", "decide", "CancelToken", "cancel_token"],
    },
    Room {
        directory: "actors",
        sources: "actors/src",
        may_use: &["till-domain", "till-storage"],
        forbidden_crates: &["actix-web", "actix-http", "rocksdb", "librocksdb", "bincode"],
        forbidden_words: &["actix_web", "rocksdb", "unsafe"],
    },
    Room {
        directory: "actors/sandbox",
        sources: "actors/sandbox/src",
        // Of storage: card numbers, shapes on disk, and the part of the engine that its own database
        // shares with the store; of operate: the trait of books.
        may_use: &["till-domain", "till-storage", "till-operate", "till-actors"],
        forbidden_crates: &["actix", "serde", "hyper", "reqwest", "ureq", "http"],
        forbidden_words: &["actix", "actix_web", "bincode", "decide", "unsafe"],
    },
    Room {
        directory: "actors/stripe",
        sources: "actors/stripe/src",
        may_use: &["till-domain", "till-actors"],
        // What it asks for depends on what is recorded: it has no clock, no store and no threads.
        forbidden_crates: &["actix", "rocksdb", "librocksdb", "bincode", "tokio", "hyper", "reqwest", "ureq", "http"],
        forbidden_words: &["actix", "rocksdb", "unsafe", "decide", "SystemTime", "Instant", "sleep", "spawn"],
    },
    Room {
        directory: ".",
        sources: "src",
        may_use: &[
            "till-domain",
            "till-protocol",
            "till-storage",
            "till-operate",
            "till-shared",
            "till-actors",
            "till-sandbox",
            "till-stripe",
        ],
        forbidden_crates: &[
            "rocksdb",
            "librocksdb",
            "bincode",
            "plotters",
            "hdrhistogram",
            "httparse",
            "actix-http",
            "actix-service",
        ],
        // The bytes of keys are made and read in storage: typed keys and cursors are passed to it.
        forbidden_words: &[
            "rocksdb",
            "unsafe",
            "KeyParts",
            "KeyRange",
            "RowPair",
            "VaultKey",
            "JournalKey",
            "AppliedKey",
            "row_key",
            "decode_key",
            "table_range",
        ],
    },
    Room {
        directory: "benches/load",
        sources: "benches/load/src",
        may_use: &["till", "till-domain", "till-storage", "till-actors"],
        // The generator runs an engine, which lives in a system of actors.
        forbidden_crates: &["rocksdb", "librocksdb", "bincode", "actix-web", "actix-http", "actix-server"],
        forbidden_words: &["rocksdb", "actix_web", "unsafe"],
    },
];

/// The only files above storage that may name the store's implementation, by the beginnings of their paths.
const MAY_NAME_THE_ENGINE: [&str; 4] =
    ["src/startup/", "src/commands/journal/moving.rs", "src/commands/repair.rs", "src/commands/verify.rs"];

/// Names of modules without a subject of their own.
const CATCH_ALLS: [&str; 8] = ["util", "utils", "helper", "helpers", "common", "types", "errors", "misc"];

/// The names of a manifest's dependencies; of all kinds that end up in the program.
fn dependencies(manifest: &toml::Table) -> Vec<String> {
    let sections = ["dependencies", "build-dependencies"];
    let tables = sections.iter().filter_map(|section| manifest.get(*section)?.as_table());
    tables.flat_map(|table| table.keys().cloned()).collect()
}

/// True when `tokens` contain a path such as `till_storage :: engine`, written out or in a group of imports.
fn names_module(tokens: &[String], krate: &str, module: &str) -> bool {
    let starts = tokens.iter().enumerate().filter(|(_, token)| *token == krate).map(|(at, _)| at);
    starts.into_iter().any(|at| match tokens.get(at + 1..).unwrap_or_default() {
        [first, second, name, ..] if first == ":" && second == ":" && name == "{" => {
            in_group(&tokens[at + 3..], module)
        }
        [first, second, name, ..] if first == ":" && second == ":" => name == module,
        _ => false,
    })
}

/// True when a group of imports, which begins with its brace, names `module` at its first level.
fn in_group(group: &[String], module: &str) -> bool {
    let mut depth = 0;
    for (at, token) in group.iter().enumerate() {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            name if depth == 1 && name == module && matches!(group[at - 1].as_str(), "{" | ",") => return true,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    false
}

fn calls_unwrap(tokens: &[String]) -> bool {
    tokens.windows(3).any(|window| window == [".", "unwrap", "("])
}

fn has_attribute(tokens: &[String], name: &str) -> bool {
    let plain = tokens.windows(3).any(|window| window[..2] == ["#", "["] && window[2] == name);
    plain || tokens.windows(4).any(|window| window[..3] == ["#", "!", "["] && window[3] == name)
}

#[test]
fn the_workspace_has_the_rooms_of_the_table_and_no_others() {
    let manifest = manifest(".");
    let members = manifest["workspace"]["members"].as_array().expect("a list of members");
    let members: BTreeSet<&str> = members.iter().filter_map(toml::Value::as_str).collect();
    let rooms: BTreeSet<&str> = TABLE.iter().map(|room| room.directory).filter(|directory| *directory != ".").collect();
    assert_eq!(members, rooms);
}

#[test]
fn each_room_uses_the_rooms_that_it_may_use_and_no_others() {
    for room in &TABLE {
        let used = dependencies(&manifest(room.directory));
        for name in used.iter().filter(|name| *name == "till" || name.starts_with("till-")) {
            assert!(room.may_use.contains(&name.as_str()), "{} must not use {name}", room.directory);
        }
    }
}

#[test]
fn no_room_uses_a_crate_that_is_forbidden_there() {
    for room in &TABLE {
        for name in dependencies(&manifest(room.directory)) {
            let forbidden = room.forbidden_crates.iter().find(|forbidden| {
                name.strip_prefix(*forbidden).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
            });
            assert_eq!(forbidden, None, "{} must not use {name}", room.directory);
        }
    }
}

#[test]
fn every_dependency_and_lint_is_declared_in_the_workspace() {
    for room in &TABLE {
        let manifest = manifest(room.directory);
        let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
        for (name, value) in sections.iter().filter_map(|section| manifest.get(*section)?.as_table()).flatten() {
            let inherited = value.get("workspace").and_then(toml::Value::as_bool) == Some(true);
            assert!(inherited, "{}: {name} is not taken from the workspace", room.directory);
        }
        assert_eq!(manifest["lints"]["workspace"].as_bool(), Some(true), "{}", room.directory);
    }
    let lints = &manifest(".")["workspace"]["lints"];
    assert_eq!(lints["rust"]["unsafe_code"].as_str(), Some("forbid"));
    assert!(lints["clippy"].get("unwrap_used").is_some());
}

#[test]
fn no_room_contains_a_word_that_is_forbidden_there() {
    for room in &TABLE {
        let files = code_of(room.sources);
        assert!(files.len() > 5, "{} has sources", room.sources);
        for (file, tokens) in files {
            for word in room.forbidden_words {
                assert!(!tokens.iter().any(|token| token == word), "{file} must not contain {word}");
            }
        }
    }
}

/// Words that pages must not contain: a page is a call, and shows what that answers. Only the list of all pages knows
/// the service, for the functions of these calls.
const FORBIDDEN_IN_PAGES: [&str; 14] = [
    "decide",
    "records",
    "Rows",
    "MerchantReader",
    "Reader",
    "reader",
    "store",
    "till_storage",
    "till_operate",
    "Command",
    "Caller",
    "submit",
    "Service",
    "till_actors",
];

#[test]
fn pages_hold_no_rules_and_read_no_rows() {
    let files = code_of("src/pages");
    assert!(files.len() > 5, "there are pages");
    for (file, tokens) in files {
        for word in FORBIDDEN_IN_PAGES {
            assert!(!tokens.iter().any(|token| token == word), "{file} must not contain {word}");
        }
        let knows_service = tokens.iter().any(|token| token == "service");
        assert!(!knows_service || file == "src/pages/all.rs", "{file} must not know the service");
    }
}

/// Words that calls to other parties must not contain: whoever calls says whom, and why.
const FORBIDDEN_IN_OUTGOING: [&str; 7] =
    ["webhooks", "outbox", "merchant", "acquirer", "MerchantId", "till_domain", "till_storage"];

#[test]
fn outgoing_calls_know_neither_webhooks_nor_merchants() {
    let files = code_of("actors/src/outgoing");
    assert!(files.len() > 3, "there are outgoing calls");
    for (file, tokens) in files {
        for word in FORBIDDEN_IN_OUTGOING {
            assert!(!tokens.iter().any(|token| token == word), "{file} must not contain {word}");
        }
    }
}

#[test]
fn only_the_start_and_offline_commands_name_the_engine() {
    for (file, tokens) in ["src", "actors/src", "benches/load/src"].into_iter().flat_map(code_of) {
        let may = MAY_NAME_THE_ENGINE.iter().any(|beginning| file.starts_with(beginning));
        assert!(may || !names_module(&tokens, "till_storage", "engine"), "{file} must not name till_storage::engine");
    }
}

/// The one file that names an acquirer at which merchants have accounts, besides its connector: the table of acquirers.
const TABLE_OF_ACQUIRERS: &str = "domain/src/acquirer.rs";

#[test]
fn only_the_table_of_acquirers_names_one_with_accounts() {
    let rooms = TABLE.iter().filter(|room| room.directory != "actors/stripe");
    let files: Vec<_> = rooms.flat_map(|room| code_of(room.sources)).collect();
    let named = |tokens: &[String]| tokens.iter().any(|token| token.eq_ignore_ascii_case("stripe"));
    let naming: Vec<&String> = files.iter().filter(|(_, tokens)| named(tokens)).map(|(file, _)| file).collect();
    assert_eq!(naming, [TABLE_OF_ACQUIRERS]);
}

#[test]
fn nothing_outside_of_tests_unwraps() {
    for room in &TABLE {
        for (file, tokens) in code_of(room.sources) {
            assert!(!calls_unwrap(&tokens), "{file} unwraps: say with expect why it holds");
        }
    }
}

#[test]
fn a_lint_is_expected_with_a_reason_and_never_allowed() {
    for directory in ["src", "domain", "protocol", "storage", "actors", "tests", "benches"] {
        for file in rust_files(directory) {
            assert!(!has_attribute(&tokens(&read(&file)), "allow"), "{file} allows a lint: expect it, with a reason");
        }
    }
}

#[test]
fn no_module_is_a_catch_all() {
    for room in &TABLE {
        for file in rust_files(room.sources) {
            let mut names =
                Path::new(&file).iter().filter_map(|part| part.to_str()).map(|part| part.trim_end_matches(".rs"));
            assert!(!names.any(|name| CATCH_ALLS.contains(&name)), "{file}");
        }
    }
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let circles: Vec<_> = TABLE.iter().flat_map(|room| circles(room.sources)).collect();
    let shown = |circle: &BTreeSet<(String, String)>| {
        circle.iter().map(|(from, to)| format!("\n  {from} -> {to}")).collect::<String>()
    };
    let text: Vec<String> = circles.iter().map(shown).collect();
    assert!(circles.is_empty(), "{} circles of imports:{}", circles.len(), text.join("\n"));
}

#[test]
fn the_reader_sees_code_without_comments_texts_and_tests() {
    let source = r##"
        // HashMap in a comment, /* and f64
        /* HashMap /* nested */ HashMap */
        fn a<'a>(text: &'a str) -> char { let _ = "HashMap \" HashMap"; let _ = r#"HashMap "quoted" "#; '"' }
        fn b() -> char { let c = b'\''; '\u{41}' }
        #[cfg(test)]
        mod tests { use std::collections::HashMap; fn c() { HashMap::new().get(&1).unwrap(); } }
        #[cfg(test)]
        mod more_tests;
        fn d(x: f64) { x.unwrap(); }
    "##;
    let code = Code::of(source);
    assert!(!code.tokens.iter().any(|token| token == "HashMap"), "{:?}", code.tokens);
    assert!(code.tokens.iter().any(|token| token == "f64") && calls_unwrap(&code.tokens));
    assert_eq!(code.test_files("src/a/mod.rs"), ["src/a/more_tests.rs", "src/a/mod/more_tests.rs"]);
    assert!(!calls_unwrap(&tokens("x.unwrap_or(1); unwrap(x)")));
    assert!(has_attribute(&tokens("#![allow(dead_code)]"), "allow") && has_attribute(&tokens("#[allow(x)]"), "allow"));
    assert!(!has_attribute(&tokens("// #[allow(x)]\n#[expect(x)] fn allow() {}"), "allow"));
    let names = |source: &str| names_module(&tokens(source), "till_storage", "engine");
    assert!(names("use till_storage::engine::Engine;") && names("let _ = till_storage::engine::open();"));
    assert!(names("use till_storage::{rows::Row, engine};") && names("use till_storage::{engine::Engine};"));
    assert!(!names("use till_storage::{rows::engine, keys};") && !names("use till_actors::engine;"));
}

#[test]
fn no_variable_of_the_build_is_named_as_a_setting() {
    // `cargo run` gives these to the program, which refuses to start with a variable `TILL_...` that is no setting.
    let build = read("benches/load/build.rs");
    assert!(build.contains("cargo::rustc-env="), "it names variables");
    assert!(!build.contains("rustc-env=TILL_"), "a variable of the build would refuse every start by `cargo run`");
}

/// The rows of a table of the architecture, cell by cell, below a header that begins with these words.
fn architecture_table(header: &str) -> Vec<Vec<String>> {
    let text = read("ARCHITECTURE.md");
    let (_, rows) = text.split_once(&format!("\n| {header} |")).expect("the table is there");
    let rows = rows.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

#[test]
fn the_architecture_has_the_same_rooms() {
    let rows = architecture_table("room");
    for room in &TABLE {
        let directory = if room.directory == "." { "src" } else { room.directory };
        let row = rows.iter().find(|row| row[0].starts_with(&format!("`{directory}/`")));
        let may_use = &row.unwrap_or_else(|| panic!("{directory} has no row"))[2];
        let named = |other: &Room| may_use.contains(&format!("`{}`", other.directory));
        let named: BTreeSet<&str> = TABLE.iter().filter(|other| named(other)).map(|other| other.directory).collect();
        let package = |directory: &str| manifest(directory)["package"]["name"].as_str().expect("a name").to_owned();
        let named: BTreeSet<String> = named.into_iter().map(package).collect();
        let allowed: BTreeSet<String> = room.may_use.iter().map(|name| (*name).to_owned()).collect();
        assert!(
            named == allowed || may_use.starts_with("all") || may_use.contains("all below"),
            "{directory}: {named:?}"
        );
    }
}

#[test]
fn the_folders_that_the_architecture_explains_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for row in architecture_table("folder") {
        let mut names = row[0].split('`').skip(1).step_by(2).map(|name| name.trim_end_matches('/'));
        let first = root.join(names.next().expect("a row names a folder"));
        assert!(first.exists(), "{}", row[0]);
        let beside = first.parent().expect("a folder is in another one");
        assert!(names.all(|name| root.join(name).exists() || beside.join(name).exists()), "{}", row[0]);
    }
}

/// The order of the files and folders in a folder: groups from above to below.
fn order_of(cell: &str) -> Vec<Vec<&str>> {
    cell.split('>').map(|group| group.split(',').map(str::trim).collect()).collect()
}

#[test]
fn folders_keep_the_order_of_the_architecture() {
    let rows = architecture_table("sources");
    let mut against = Vec::new();
    for room in &TABLE {
        assert!(rows.iter().any(|row| row[0] == format!("`{}`", room.sources)), "{} has no order", room.sources);
        let arrows = between_siblings(room.sources);
        for row in rows.iter().filter(|row| arrows.keys().any(|(folder, _)| row[0] == format!("`{folder}`"))) {
            let (folder, order) = (row[0].trim_matches('`'), order_of(&row[1]));
            let place = |child: &str| {
                let place = order.iter().position(|group| group.contains(&child));
                place.unwrap_or_else(|| panic!("{folder}/{child} has no place in the order"))
            };
            for ((_, (from, to)), files) in arrows.iter().filter(|((of, _), _)| of == folder) {
                if place(from) >= place(to) {
                    against.push(format!("{folder}: {from} -> {to}: {files:?}"));
                }
            }
        }
    }
    assert!(against.is_empty(), "{} arrows go up:\n{}", against.len(), against.join("\n"));
}

#[test]
fn no_folders_import_each_other_in_a_circle() {
    let mut knots = Vec::new();
    for room in &TABLE {
        let arrows = between_siblings(room.sources);
        let folders: BTreeSet<&String> = arrows.keys().map(|(folder, _)| folder).collect();
        for folder in folders {
            let within = arrows.keys().filter(|(of, _)| of == folder).map(|(_, siblings)| siblings.clone()).collect();
            knots.extend(circles_of(&within).into_iter().map(|circle| format!("{folder}: {circle:?}")));
        }
    }
    assert!(knots.is_empty(), "{} knots:\n{}", knots.len(), knots.join("\n"));
}
