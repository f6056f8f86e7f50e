//! The guide to the API is run: its examples against the real program, its sections against the declarations.

mod comparison;
mod example;
mod examples;
mod guide;
mod pasted;
mod sections;
