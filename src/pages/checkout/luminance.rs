//! The relative luminance of colours, and the contrast between two, in whole numbers.
//!
//! Source: WCAG 2.2, definitions of "relative luminance" and "contrast ratio"; IEC 61966-2-1 for the table.

/// A colour of sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rgb([u8; 3]);

/// White.
pub(super) const WHITE: Rgb = Rgb([0xff; 3]);

/// The luminance that the contrast ratio adds to both colours, 0.05, in units of [`Rgb::luminance`].
const FLARE: u64 = 500_000_000;

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

    /// The relative luminance in units of 10^-10: 0 of black, 10^10 of white.
    fn luminance(self) -> u64 {
        let [red, green, blue] = self.0.map(|part| u64::from(LINEAR_MILLIONTHS[usize::from(part)]));
        2_126 * red + 7_152 * green + 722 * blue
    }

    /// True when the contrast of both colours is at least 4.5, which text of any size needs.
    pub(super) fn is_legible_on(self, other: Rgb) -> bool {
        let (one, two) = (self.luminance() + FLARE, other.luminance() + FLARE);
        2 * one.max(two) >= 9 * one.min(two)
    }
}

/// The linear light of each value of a part of a colour, in millionths.
#[rustfmt::skip]
const LINEAR_MILLIONTHS: [u32; 256] = [
    0, 304, 607, 911, 1_214, 1_518, 1_821, 2_125,
    2_428, 2_732, 3_035, 3_347, 3_677, 4_025, 4_391, 4_777,
    5_182, 5_605, 6_049, 6_512, 6_995, 7_499, 8_023, 8_568,
    9_134, 9_721, 10_330, 10_960, 11_612, 12_286, 12_983, 13_702,
    14_444, 15_209, 15_996, 16_807, 17_642, 18_500, 19_382, 20_289,
    21_219, 22_174, 23_153, 24_158, 25_187, 26_241, 27_321, 28_426,
    29_557, 30_713, 31_896, 33_105, 34_340, 35_601, 36_889, 38_204,
    39_546, 40_915, 42_311, 43_735, 45_186, 46_665, 48_172, 49_707,
    51_269, 52_861, 54_480, 56_128, 57_805, 59_511, 61_246, 63_010,
    64_803, 66_626, 68_478, 70_360, 72_272, 74_214, 76_185, 78_187,
    80_220, 82_283, 84_376, 86_500, 88_656, 90_842, 93_059, 95_307,
    97_587, 99_899, 102_242, 104_616, 107_023, 109_462, 111_932, 114_435,
    116_971, 119_538, 122_139, 124_772, 127_438, 130_136, 132_868, 135_633,
    138_432, 141_263, 144_128, 147_027, 149_960, 152_926, 155_926, 158_961,
    162_029, 165_132, 168_269, 171_441, 174_647, 177_888, 181_164, 184_475,
    187_821, 191_202, 194_618, 198_069, 201_556, 205_079, 208_637, 212_231,
    215_861, 219_526, 223_228, 226_966, 230_740, 234_551, 238_398, 242_281,
    246_201, 250_158, 254_152, 258_183, 262_251, 266_356, 270_498, 274_677,
    278_894, 283_149, 287_441, 291_771, 296_138, 300_544, 304_987, 309_469,
    313_989, 318_547, 323_143, 327_778, 332_452, 337_164, 341_914, 346_704,
    351_533, 356_400, 361_307, 366_253, 371_238, 376_262, 381_326, 386_429,
    391_572, 396_755, 401_978, 407_240, 412_543, 417_885, 423_268, 428_690,
    434_154, 439_657, 445_201, 450_786, 456_411, 462_077, 467_784, 473_531,
    479_320, 485_150, 491_021, 496_933, 502_886, 508_881, 514_918, 520_996,
    527_115, 533_276, 539_479, 545_724, 552_011, 558_340, 564_712, 571_125,
    577_580, 584_078, 590_619, 597_202, 603_827, 610_496, 617_207, 623_960,
    630_757, 637_597, 644_480, 651_406, 658_375, 665_387, 672_443, 679_542,
    686_685, 693_872, 701_102, 708_376, 715_694, 723_055, 730_461, 737_910,
    745_404, 752_942, 760_525, 768_151, 775_822, 783_538, 791_298, 799_103,
    806_952, 814_847, 822_786, 830_770, 838_799, 846_873, 854_993, 863_157,
    871_367, 879_622, 887_923, 896_269, 904_661, 913_099, 921_582, 930_111,
    938_686, 947_307, 955_973, 964_686, 973_445, 982_251, 991_102, 1_000_000,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn is_legible(one: &str, two: &str) -> bool {
        let read = |digits| Rgb::from_digits(digits).expect("a colour");
        read(one).is_legible_on(read(two))
    }

    #[test]
    fn the_table_rises_from_black_to_white() {
        assert_eq!((LINEAR_MILLIONTHS[0], LINEAR_MILLIONTHS[255]), (0, 1_000_000));
        assert!(LINEAR_MILLIONTHS.is_sorted_by(|low, high| low < high));
        assert_eq!(LINEAR_MILLIONTHS[188], 502_886, "half of the light is 188 of 255");
        assert_eq!((WHITE.luminance(), Rgb::new(0, 0, 0).luminance()), (10_000_000_000, 0));
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
