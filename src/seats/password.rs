//! The rules of passwords.

use zxcvbn::{Score, zxcvbn};

/// Characters of a password.
const LENGTH: std::ops::RangeInclusive<usize> = 12..=128;

/// Checks that a password is long enough and not easily guessed by somebody who knows these words.
///
/// # Errors
/// The reasons, as sentences for the person who chose it.
pub(crate) fn check_password(password: &str, known_words: &[&str]) -> Result<(), String> {
    if !LENGTH.contains(&password.chars().count()) {
        return Err(format!("Use {} to {} characters.", LENGTH.start(), LENGTH.end()));
    }
    let estimate = zxcvbn(password, known_words);
    if estimate.score() >= Score::Three {
        return Ok(());
    }
    let mut reasons = vec!["This password is easy to guess.".to_owned()];
    if let Some(feedback) = estimate.feedback() {
        reasons.extend(feedback.warning().map(|warning| warning.to_string()));
        reasons.extend(feedback.suggestions().iter().map(ToString::to_string));
    }
    Err(reasons.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_has_12_to_128_characters() {
        let of = |length: usize| {
            "kq7ц"
                .chars()
                .cycle()
                .zip("W!p3zT9".chars().cycle())
                .flat_map(|(one, other)| [one, other])
                .take(length)
                .collect::<String>()
        };
        assert!(check_password(&of(11), &[]).is_err() && check_password(&of(129), &[]).is_err());
        assert_eq!((check_password(&of(12), &[]), check_password(&of(128), &[])), (Ok(()), Ok(())));
    }

    #[test]
    fn a_password_that_is_easy_to_guess_is_refused_with_reasons() {
        for easy in ["passwordpassword", "aaaaaaaaaaaaaaaa", "123456789012", "qwertyuiop[]"] {
            let reasons = check_password(easy, &[]).expect_err(easy);
            assert!(reasons.starts_with("This password is easy to guess. ") && reasons.ends_with('.'), "{reasons}");
        }
        assert_eq!(check_password("correct horse battery staple", &[]), Ok(()));
        assert!(check_password("somchai.jaidee@shop.example", &["somchai.jaidee@shop.example"]).is_err());
    }
}
