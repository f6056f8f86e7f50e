//! QR codes as PNG: the only pictures that banking apps read from the photographs of a phone.

use std::sync::{Arc, LazyLock};

use png::{BitDepth, ColorType, Encoder};
use qrcode::{Color, QrCode};

use super::qr::{QUIET_ZONE, code_of};
use super::text_cache::TextCache;

/// The length of a module's side, in pixels.
const MODULE_PIXELS: usize = 10;

/// The number of pictures that are kept; one of the longest text (512 bytes) has some 10 KB.
const PICTURES_MAX: usize = 256;

static PICTURES: LazyLock<TextCache<Vec<u8>>> = LazyLock::new(|| TextCache::at_most(PICTURES_MAX));

/// The picture of a text's code, black on white with its quiet zone. None when the text is too long for a code.
pub(super) fn picture_of(text: &str) -> Option<Arc<Vec<u8>>> {
    PICTURES.get_or_make(text, |text| code_of(text).map(|code| picture(&code)))
}

fn picture(code: &QrCode) -> Vec<u8> {
    let side = u32::try_from(side_of(code)).expect("a code has at most 177 modules");
    let mut picture = Vec::new();
    let mut encoder = Encoder::new(&mut picture, side, side);
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::One);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&lines(code)));
    written.expect("writing to memory cannot fail");
    picture
}

/// The length of a picture's side, in pixels.
fn side_of(code: &QrCode) -> usize {
    (code.width() + 2 * QUIET_ZONE) * MODULE_PIXELS
}

/// The lines of pixels, each of whole bytes.
fn lines(code: &QrCode) -> Vec<u8> {
    (0..code.width() + 2 * QUIET_ZONE).flat_map(|row| line(code, row).repeat(MODULE_PIXELS)).collect()
}

/// The pixels through a row of modules, a bit each: 1 is white. The quiet zone counts.
fn line(code: &QrCode, row: usize) -> Vec<u8> {
    let mut line = vec![0xff; side_of(code).div_ceil(8)];
    for pixel in (0..side_of(code)).filter(|pixel| is_dark(code, pixel / MODULE_PIXELS, row)) {
        line[pixel / 8] &= !(0x80 >> (pixel % 8));
    }
    line
}

fn is_dark(code: &QrCode, column: usize, row: usize) -> bool {
    let inside = |place: usize| place.checked_sub(QUIET_ZONE).filter(|place| *place < code.width());
    inside(column).zip(inside(row)).is_some_and(|place| code[place] == Color::Dark)
}

#[cfg(test)]
mod tests {
    use png::Decoder;

    use super::*;
    use crate::pages::checkout::examples::QR_TEXT;

    #[test]
    fn a_picture_has_the_modules_of_the_code_within_a_quiet_zone_of_four() {
        let code = code_of(QR_TEXT).expect("short enough");
        let picture = picture_of(QR_TEXT).expect("short enough");
        let mut reader = Decoder::new(std::io::Cursor::new(&picture[..])).read_info().expect("a picture");
        let side = (code.width() + 8) * 10;
        let mut lines = vec![0; reader.output_buffer_size().expect("small")];
        let info = reader.next_frame(&mut lines).expect("pixels");
        assert_eq!((info.width, info.height), (u32::try_from(side).expect("small"), info.width));
        assert_eq!((info.color_type, info.bit_depth), (ColorType::Grayscale, BitDepth::One));
        for (row, line) in lines.chunks(side.div_ceil(8)).enumerate() {
            for column in 0..side {
                let is_dark = line[column / 8] >> (7 - column % 8) & 1 == 0;
                let (x, y) = (column / 10, row / 10);
                let inside = 4..code.width() + 4;
                let expected = inside.contains(&x) && inside.contains(&y) && code[(x - 4, y - 4)] == Color::Dark;
                assert_eq!(is_dark, expected, "{column} {row}");
            }
        }
    }

    #[test]
    fn a_picture_is_small() {
        let length = picture_of(QR_TEXT).expect("short enough").len();
        assert!(length < 4_000, "{length}");
    }
}
