//! Tells the program how it is built, so that a report of the load tester can say so. `cargo run` gives these variables to
//! the program as well, so that they must not be named as settings are.

fn main() {
    let told = |variable: &str| std::env::var(variable).unwrap_or_else(|_| "unknown".to_owned());
    println!("cargo::rustc-env=BUILT_WITH_PROFILE={}", told("PROFILE"));
    println!("cargo::rustc-env=BUILT_AT_OPT_LEVEL={}", told("OPT_LEVEL"));
    println!("cargo::rerun-if-changed=build.rs");
}
