//! QR codes as PNG: the only pictures that banking apps read from the photographs of a phone.
//!
//! Source: Portable Network Graphics, <https://www.w3.org/TR/png-3/>, sections 5, 7 and 11.

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use qrcode::{Color, QrCode};

use super::qr::QUIET_ZONE;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The length of a module's side, in pixels.
const MODULE_PIXELS: usize = 10;

/// The depth in bits, then greyscale, the only methods of compression and filtering, and no interlacing.
const FORM: [u8; 5] = [1, 0, 0, 0, 0];

/// The picture of a code: black on white, with its quiet zone.
pub(super) fn picture(code: &QrCode) -> Vec<u8> {
    let side = (code.width() + 2 * QUIET_ZONE) * MODULE_PIXELS;
    let length = u32::try_from(side).expect("a code has at most 177 modules").to_be_bytes();
    let mut picture = SIGNATURE.to_vec();
    write_chunk(&mut picture, b"IHDR", &[&length[..], &length, &FORM].concat());
    write_chunk(&mut picture, b"IDAT", &compressed(&lines(code)));
    write_chunk(&mut picture, b"IEND", &[]);
    picture
}

/// The lines of pixels, each after the number of its filter, which is none.
fn lines(code: &QrCode) -> Vec<u8> {
    let modules = 0..code.width() + 2 * QUIET_ZONE;
    modules.flat_map(|row| [&[0], &line(code, row)[..]].concat().repeat(MODULE_PIXELS)).collect()
}

/// The pixels through a row of modules, a bit each: 1 is white. The quiet zone counts.
fn line(code: &QrCode, row: usize) -> Vec<u8> {
    let pixels = (code.width() + 2 * QUIET_ZONE) * MODULE_PIXELS;
    let mut line = vec![0xff; pixels.div_ceil(8)];
    for pixel in (0..pixels).filter(|pixel| is_dark(code, pixel / MODULE_PIXELS, row)) {
        line[pixel / 8] &= !(0x80 >> (pixel % 8));
    }
    line
}

fn is_dark(code: &QrCode, column: usize, row: usize) -> bool {
    let inside = |place: usize| place.checked_sub(QUIET_ZONE).filter(|place| *place < code.width());
    inside(column).zip(inside(row)).is_some_and(|place| code[place] == Color::Dark)
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("writing to memory cannot fail")
}

fn write_chunk(picture: &mut Vec<u8>, kind: &[u8; 4], content: &[u8]) {
    let length = u32::try_from(content.len()).expect("a code is small");
    let mut checked = Crc::new();
    checked.update(kind);
    checked.update(content);
    picture.extend([&length.to_be_bytes()[..], kind, content, &checked.sum().to_be_bytes()].concat());
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::ZlibDecoder;

    use super::*;
    use crate::pages::checkout::examples::QR_TEXT;
    use crate::pages::checkout::qr::code_of;

    /// The chunks of a picture, whose checksums are right.
    fn chunks(picture: &[u8]) -> Vec<(&[u8], &[u8])> {
        let mut rest = picture.strip_prefix(SIGNATURE).expect("the signature");
        let mut chunks = Vec::new();
        while !rest.is_empty() {
            let length = u32::from_be_bytes(rest[..4].try_into().expect("four bytes"));
            let end = 8 + usize::try_from(length).expect("small");
            let mut crc = Crc::new();
            crc.update(&rest[4..end]);
            assert_eq!(rest[end..end + 4], crc.sum().to_be_bytes());
            chunks.push((&rest[4..8], &rest[8..end]));
            rest = &rest[end + 4..];
        }
        chunks
    }

    #[test]
    fn a_picture_has_the_modules_of_the_code_within_a_quiet_zone_of_four() {
        let code = code_of(QR_TEXT).expect("short enough");
        let picture = picture(&code);
        let [(b"IHDR", header), (b"IDAT", packed), (b"IEND", [])] = &chunks(&picture)[..] else { panic!("chunks") };
        let side = (code.width() + 8) * 10;
        let length = u32::try_from(side).expect("small").to_be_bytes();
        assert_eq!(header, &[&length[..], &length, &[1, 0, 0, 0, 0]].concat());
        let mut lines = Vec::new();
        ZlibDecoder::new(*packed).read_to_end(&mut lines).expect("it is compressed");
        let stride = 1 + side.div_ceil(8);
        assert_eq!(lines.len(), stride * side);
        for (row, line) in lines.chunks(stride).enumerate() {
            assert_eq!(line[0], 0, "no filter");
            for column in 0..side {
                let is_dark = line[1 + column / 8] >> (7 - column % 8) & 1 == 0;
                let (x, y) = (column / 10, row / 10);
                let inside = 4..code.width() + 4;
                let expected = inside.contains(&x) && inside.contains(&y) && code[(x - 4, y - 4)] == Color::Dark;
                assert_eq!(is_dark, expected, "{column} {row}");
            }
        }
    }

    #[test]
    fn a_picture_is_small() {
        let length = picture(&code_of(QR_TEXT).expect("short enough")).len();
        assert!(length < 4_000, "{length}");
    }
}
