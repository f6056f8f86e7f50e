//! The merchant's colour, as a style sheet of its own, since no style stands in a page.

use super::assets;
use super::luminance::{Rgb, WHITE};

/// The background of the pages' content in the dark scheme, the same as `--card` there.
const DARK_CARD: Rgb = Rgb::new(0x17, 0x1b, 0x22);

/// The path of the pages' style with a colour, given as `#rrggbb`. None when no page could show the colour.
pub(super) fn path(color: &str) -> Option<String> {
    let color = Rgb::from_digits(color.strip_prefix('#')?)?;
    use_of(color).map(|_| format!("/pay/color/{}-{}.css", color.digits(), assets::style_hash()))
}

/// The style sheet for the last segment of such a path, and for a colour alone, such as `0a7d55.css`: without a colour
/// that is legible nowhere. None for a segment that names no colour, or another style.
pub(super) fn sheet(segment: &str) -> Option<String> {
    let name = segment.strip_suffix(".css")?;
    match name.split_once('-') {
        None => rule(name),
        Some((digits, hash)) if hash == assets::style_hash() => Some([assets::STYLE.as_str(), &rule(digits)?].concat()),
        Some(_) => None,
    }
}

/// The rule by which the pages know a colour.
fn rule(digits: &str) -> Option<String> {
    let color = Rgb::from_digits(digits)?;
    let digits = color.digits();
    Some(match use_of(color) {
        Some(ColorUse::Deep) => format!(":root{{--merchant-deep:#{digits}}}"),
        Some(ColorUse::Pale) => {
            format!(":root{{--merchant-pale:#{digits};--on-merchant-pale:#{}}}", DARK_CARD.digits())
        }
        None => String::new(),
    })
}

/// The schemes in which a colour is legible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColorUse {
    /// With white: the main button of both schemes, and the light scheme's links.
    Deep,
    /// On the dark scheme's background.
    Pale,
}

fn use_of(color: Rgb) -> Option<ColorUse> {
    if color.is_legible_on(WHITE) {
        return Some(ColorUse::Deep);
    }
    color.is_legible_on(DARK_CARD).then_some(ColorUse::Pale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::checkout::assets::STYLE;

    #[test]
    fn a_colour_is_used_where_it_is_legible() {
        assert_eq!(sheet("0a7d55.css").as_deref(), Some(":root{--merchant-deep:#0a7d55}"));
        assert_eq!(sheet("FFCC00.css").as_deref(), Some(":root{--merchant-pale:#ffcc00;--on-merchant-pale:#171b22}"));
        assert_eq!(sheet("ffcc00"), None);
        assert_eq!(sheet("red;}.css"), None);
    }

    #[test]
    fn the_style_with_a_colour_is_one_file() {
        let whole = path("#0a7d55").and_then(|path| sheet(path.strip_prefix("/pay/color/")?));
        assert_eq!(whole, Some([STYLE.as_str(), ":root{--merchant-deep:#0a7d55}"].concat()));
        assert_eq!(sheet("0a7d55-0123456789abcdef.css"), None);
    }

    #[test]
    fn a_page_names_no_style_sheet_of_a_colour_that_is_no_colour() {
        let path_of = format!("/pay/color/0a7d55-{}.css", assets::style_hash());
        assert_eq!(path("#0A7D55"), Some(path_of));
        for text in ["", "0a7d55", "#fff", "#0a7d5\"", "javascript:1"] {
            assert_eq!(path(text), None, "{text}");
        }
    }

    #[test]
    fn every_colour_is_legible_on_one_background_at_most() {
        let is_both = |color: Rgb| color.is_legible_on(WHITE) && color.is_legible_on(DARK_CARD);
        assert!((0..=255).all(|grey| !is_both(Rgb::new(grey, grey, grey))));
    }

    #[test]
    fn the_style_has_the_background_that_colours_are_compared_with() {
        assert!(STYLE.contains(&format!("--card: #{};", DARK_CARD.digits())));
    }
}
