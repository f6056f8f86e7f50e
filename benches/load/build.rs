//! Passes the properties of the build to the load tester, which names them in its reports. `cargo run` also sets these
//! environment variables for the program that it starts, so their names must not look like those of settings.

fn main() {
    let build_property = |variable: &str| std::env::var(variable).unwrap_or_else(|_| "unknown".to_owned());
    println!("cargo::rustc-env=BUILT_WITH_PROFILE={}", build_property("PROFILE"));
    println!("cargo::rustc-env=BUILT_AT_OPT_LEVEL={}", build_property("OPT_LEVEL"));
    println!("cargo::rerun-if-changed=build.rs");
}
