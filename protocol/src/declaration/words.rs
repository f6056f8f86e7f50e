//! The words that an argument or a member can have, taken from the domain's own lists.

/// The type of a closed list of words: the names in `ALL` of a domain type.
#[macro_export]
macro_rules! words_of {
    ($named:ty) => {
        $crate::words_of!($named, name)
    };
    ($named:ty, $name:ident) => {{
        const WORDS: [&str; <$named>::ALL.len()] = {
            let mut words = [""; <$named>::ALL.len()];
            let mut at = 0;
            while at < words.len() {
                words[at] = <$named>::ALL[at].$name();
                at += 1;
            }
            words
        };
        $crate::declaration::ValueType::words(&WORDS)
    }};
}

pub use words_of;

#[cfg(test)]
mod tests {
    use till_domain::merchant::Platform;

    #[test]
    fn the_words_are_the_names_in_the_order_of_the_list() {
        assert_eq!(words_of!(Platform).choices(), ["WEB", "IOS", "ANDROID", "TERMINAL"]);
    }
}
