//! An event as one line for a person.

use jiff::Zoned;
use serde_json::Value;
use till_domain::money::Currency;

use super::judgement::Judgement;

/// The limit of characters printed of one member, since a body may come from anybody.
const SHOWN_MAX: usize = 80;

/// The colours of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colours {
    /// Coloured, for terminals.
    On,
    /// Plain, for files and with NO_COLOR set.
    Off,
}

impl Colours {
    fn paint(self, sequence: &str, text: &str) -> String {
        match self {
            Colours::On => format!("\x1b[{sequence}m{text}\x1b[0m"),
            Colours::Off => text.to_owned(),
        }
    }
}

/// The line of a delivery: the time, the event and the judgement.
pub(super) fn line(body: &[u8], judgement: &Judgement, colours: Colours) -> String {
    let time = colours.paint("2", &Zoned::now().strftime("%H:%M:%S").to_string());
    let event = match serde_json::from_slice::<Value>(body) {
        Ok(event) if event.is_object() => described(&event, colours),
        Ok(_) | Err(_) => "(the body is no JSON object)".to_owned(),
    };
    let judgement = match judgement {
        Judgement::Verified => colours.paint("32", "verified"),
        Judgement::NotVerified => colours.paint("33", "not verified"),
        Judgement::Refused(reason) => colours.paint("31", &format!("refused: {reason}")),
    };
    format!("{time}  {event}  {judgement}")
}

fn described(event: &Value, colours: Colours) -> String {
    let text = |name: &str| event[name].as_str().map(printable);
    let name = colours.paint("1", &text("event").unwrap_or_else(|| "(no event)".to_owned()));
    let sequence = event["sequence"].as_u64().map(|sequence| format!("#{sequence}"));
    let parts = [Some(name), sequence, text("payment_id"), text("status"), amount(event)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("  ")
}

/// The amount with the decimal point of its currency.
fn amount(event: &Value) -> Option<String> {
    let minor = event["amount"].as_u64()?;
    let currency: Currency = event["currency"].as_str()?.parse().ok()?;
    let digits = usize::from(currency.minor_digits());
    let padded = format!("{minor:0>width$}", width = digits + 1);
    let (whole, fraction) = padded.split_at(padded.len() - digits);
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{whole}{point}{fraction} {currency}"))
}

/// A text without control characters, which could steer a terminal.
fn printable(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(SHOWN_MAX).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn amounts_have_the_point_of_their_currency() {
        for (minor, currency, shown) in [
            (12_345, "THB", Some("123.45 THB")),
            (5, "USD", Some("0.05 USD")),
            (500, "JPY", Some("500 JPY")),
            (1_234, "KWD", Some("1.234 KWD")),
            (1, "nothing", None),
        ] {
            let event = json!({ "amount": minor, "currency": currency });
            assert_eq!(amount(&event).as_deref(), shown, "{currency}");
        }
    }

    #[test]
    fn a_body_cannot_steer_the_terminal() {
        let body = json!({ "event": "test\u{1b}[2J\u{9b}31m\r\n", "status": "x".repeat(1_000) }).to_string();
        let line = line(body.as_bytes(), &Judgement::NotVerified, Colours::Off);
        assert!(line.contains("  test[2J31m  x") && !line.contains(char::is_control), "{line}");
        assert!(line.len() < 150, "{line}");
    }

    #[test]
    fn only_a_terminal_gets_colours() {
        let body = br#"{"event":"payment_completed"}"#;
        let refused = Judgement::Refused("a reason".to_owned());
        assert!(line(body, &refused, Colours::On).contains("\x1b[31mrefused: a reason\x1b[0m"));
        assert!(line(body, &refused, Colours::Off).ends_with("  payment_completed  refused: a reason"));
        assert!(line(b"[1]", &refused, Colours::Off).contains("(the body is no JSON object)"));
    }
}
