//! Tells the program how it is built, so that a report of the load tester can say so.

fn main() {
    let told = |variable: &str| std::env::var(variable).unwrap_or_else(|_| "unknown".to_owned());
    println!("cargo::rustc-env=TILL_BUILD_PROFILE={}", told("PROFILE"));
    println!("cargo::rustc-env=TILL_BUILD_OPTIMIZATION={}", told("OPT_LEVEL"));
    println!("cargo::rerun-if-changed=build.rs");
}
