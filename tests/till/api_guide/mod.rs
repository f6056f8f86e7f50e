//! Tests of the guides: their examples are run against the real program, and the sections of the API guide are compared
//! with the declarations.

mod comparison;
mod contents;
mod example;
mod examples;
mod guide;
mod pasted;
mod sections;
mod shop;
