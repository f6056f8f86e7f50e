//! Names of arguments and of members as people read them.

/// Names whose words are others than those that they consist of.
const OWN: [(&str, &str); 5] = [
    ("terms", "Search"),
    ("role_id", "Role"),
    ("payment_method_display_name", "Paid by"),
    ("latency_ms", "Latency (ms)"),
    ("url", "Address"),
];

/// A name in words: `external_id` is "External ID", `created_at` is "Created".
pub(in crate::pages) fn words(name: &str) -> String {
    if let Some((_, own)) = OWN.iter().find(|(known, _)| *known == name) {
        return (*own).to_owned();
    }
    let words = name.strip_suffix("_at").unwrap_or(name).split('_').enumerate();
    words.map(|(place, word)| spelt(place == 0, word)).collect::<Vec<String>>().join(" ")
}

fn spelt(is_first: bool, word: &str) -> String {
    let mut spelt = match word {
        "id" | "url" | "qr" | "api" => word.to_uppercase(),
        _ => word.to_owned(),
    };
    if is_first && let Some(first) = spelt.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    spelt
}

/// The words of a declaration's description, which is Markdown, for an amount that is given in major units.
pub(in crate::pages) fn plain(docs: &str) -> String {
    docs.replace(" in minor units", "").replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_in_words() {
        for (name, told) in [
            ("external_id", "External ID"),
            ("return_url", "Return URL"),
            ("payment_method", "Payment method"),
            ("created_at", "Created"),
            ("evidence_due_at", "Evidence due"),
            ("role_id", "Role"),
            ("terms", "Search"),
        ] {
            assert_eq!(words(name), told);
        }
        assert_eq!(plain("The amount in minor units; `all` when left out."), "The amount; all when left out.");
    }
}
