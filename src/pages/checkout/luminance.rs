//! The relative luminance of colours, and the contrast between two.
//!
//! Source: WCAG 2.2, definitions of "relative luminance" and "contrast ratio".

/// A colour of sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rgb([u8; 3]);

/// White.
pub(super) const WHITE: Rgb = Rgb([0xff; 3]);

/// The contrast that text of any size needs.
const CONTRAST_MIN: f64 = 4.5;

impl Rgb {
    pub(super) const fn new(red: u8, green: u8, blue: u8) -> Rgb {
        Rgb([red, green, blue])
    }

    /// Reads six hexadecimal digits.
    pub(super) fn from_digits(digits: &str) -> Option<Rgb> {
        let is_color = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let [_, red, green, blue] = u32::from_str_radix(digits, 16).ok().filter(|_| is_color)?.to_be_bytes();
        Some(Rgb::new(red, green, blue))
    }

    /// Six lower-case hexadecimal digits.
    pub(super) fn digits(self) -> String {
        let Rgb([red, green, blue]) = self;
        format!("{red:02x}{green:02x}{blue:02x}")
    }

    /// The relative luminance: 0 of black, 1 of white.
    #[expect(clippy::float_arithmetic, reason = "a colour is no money")]
    fn luminance(self) -> f64 {
        let [red, green, blue] = self.0.map(|part| match f64::from(part) / 255.0 {
            dark if dark <= 0.04045 => dark / 12.92,
            part => ((part + 0.055) / 1.055).powf(2.4),
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// True when text of any size in one of both colours can be read on the other.
    #[expect(clippy::float_arithmetic, reason = "a colour is no money")]
    pub(super) fn is_legible_on(self, other: Rgb) -> bool {
        let (one, two) = (self.luminance() + 0.05, other.luminance() + 0.05);
        one.max(two) / one.min(two) >= CONTRAST_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_legible(one: &str, two: &str) -> bool {
        let read = |digits| Rgb::from_digits(digits).expect("a colour");
        read(one).is_legible_on(read(two))
    }

    #[test]
    fn luminance_rises_from_black_to_white() {
        let greys: Vec<f64> = (0..=255).map(|grey| Rgb::new(grey, grey, grey).luminance()).collect();
        assert!(greys.is_sorted_by(|low, high| low < high));
        assert!(greys[0] == 0.0 && (greys[255] - 1.0).abs() < 1e-9, "{} {}", greys[0], greys[255]);
        assert!((greys[188] - 0.502_886).abs() < 1e-6, "half of the light is 188 of 255: {}", greys[188]);
    }

    /// Published pairs: #767676 is the lightest grey that is legible on white, #777777 is not (4.48).
    #[test]
    fn colours_are_legible_from_a_contrast_of_four_and_a_half() {
        for (one, two, expected) in [
            ("767676", "ffffff", true),
            ("777777", "ffffff", false),
            ("ff0000", "ffffff", false),
            ("0000ff", "ffffff", true),
            ("ffff00", "000000", true),
            ("000000", "000000", false),
        ] {
            assert_eq!((is_legible(one, two), is_legible(two, one)), (expected, expected), "{one} {two}");
        }
    }

    #[test]
    fn only_six_hexadecimal_digits_are_a_colour() {
        assert_eq!(Rgb::from_digits("0aBcFf").map(Rgb::digits), Some("0abcff".to_owned()));
        for text in ["", "fff", "#ffffff", "ffffff0", "+fffff", "gggggg", "ｆｆ"] {
            assert_eq!(Rgb::from_digits(text), None, "{text}");
        }
    }
}
