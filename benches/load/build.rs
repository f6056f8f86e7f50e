//! Passes the properties of the build to the program, so that a report of the load tester names them. `cargo run` gives
//! these variables to the program as well, so their names must not look like those of settings.

fn main() {
    let told = |variable: &str| std::env::var(variable).unwrap_or_else(|_| "unknown".to_owned());
    println!("cargo::rustc-env=BUILT_WITH_PROFILE={}", told("PROFILE"));
    println!("cargo::rustc-env=BUILT_AT_OPT_LEVEL={}", told("OPT_LEVEL"));
    println!("cargo::rerun-if-changed=build.rs");
}
