//! The guides are run: the examples against the real program, the sections of the API's against the declarations.

mod comparison;
mod example;
mod examples;
mod guide;
mod month;
mod pasted;
mod sections;
