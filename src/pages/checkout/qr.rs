//! QR codes as SVG, with the quiet zone of four modules that scanners need.
//!
//! Source: ISO/IEC 18004, section 6.3.8.

use std::fmt::Write;
use std::sync::{Arc, LazyLock};

use qrcode::{Color, EcLevel, QrCode};

use super::text_cache::TextCache;

/// The width of the quiet zone, in modules.
pub(super) const QUIET_ZONE: usize = 4;

/// The number of drawings that are kept. That of the longest text (512 bytes) has some 60 KB, so that they take at most
/// 15 MB.
const DRAWINGS_MAX: usize = 256;

/// Drawings by their texts: a browser asks for a page that waits for its customer every few seconds, and a drawing
/// takes half a millisecond.
static DRAWINGS: LazyLock<TextCache<QrDrawing>> = LazyLock::new(|| TextCache::at_most(DRAWINGS_MAX));

/// A QR code as a template draws it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::pages) struct QrDrawing {
    /// The length of a side with the quiet zones, in modules: the unit of the path.
    pub(in crate::pages) side: usize,
    /// The dark modules, as the data of an SVG path.
    pub(in crate::pages) path: String,
}

impl QrDrawing {
    /// The drawing of a text. None when it is too long for a code.
    pub(super) fn of(text: &str) -> Option<Arc<QrDrawing>> {
        DRAWINGS.get_or_make(text, QrDrawing::draw)
    }

    /// The same, which is not kept: the text may be a secret.
    pub(in crate::pages) fn draw(text: &str) -> Option<QrDrawing> {
        let code = code_of(text)?;
        let side = code.width() + 2 * QUIET_ZONE;
        let mut path = String::new();
        for (row, modules) in code.to_colors().chunks(code.width()).enumerate() {
            draw_row(&mut path, row + QUIET_ZONE, modules);
        }
        Some(QrDrawing { side, path })
    }
}

/// The code of a text. None when it is too long for one.
pub(super) fn code_of(text: &str) -> Option<QrCode> {
    QrCode::with_error_correction_level(text, EcLevel::M).ok()
}

/// Draws each run of dark modules as a rectangle.
fn draw_row(path: &mut String, row: usize, modules: &[Color]) {
    let mut column = QUIET_ZONE;
    for run in modules.chunk_by(|left, right| left == right) {
        if run[0] == Color::Dark {
            write!(path, "M{column} {row}h{length}v1h-{length}z", length = run.len())
                .expect("writing to a text cannot fail");
        }
        column += run.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::checkout::examples::QR_TEXT;

    /// The dark modules that the path fills.
    fn filled(drawing: &QrDrawing) -> Vec<(usize, usize)> {
        let mut modules = Vec::new();
        for rectangle in drawing.path.split('M').skip(1) {
            let (start, rest) = rectangle.split_once('h').expect("a run");
            let (column, row) = start.split_once(' ').expect("a place");
            let length: usize = rest.split('v').next().and_then(|text| text.parse().ok()).expect("a length");
            let column: usize = column.parse().expect("a column");
            modules.extend((column..column + length).map(|column| (column, row.parse().expect("a row"))));
        }
        modules
    }

    #[test]
    fn a_drawing_has_the_modules_of_the_code_within_a_quiet_zone_of_four() {
        let drawing = QrDrawing::of(QR_TEXT).expect("short enough");
        let code = QrCode::with_error_correction_level(QR_TEXT, EcLevel::M).expect("short enough");
        assert_eq!(drawing.side, code.width() + 8);
        let filled = filled(&drawing);
        for row in 0..code.width() {
            for column in 0..code.width() {
                let is_dark = code[(column, row)] == Color::Dark;
                assert_eq!(filled.contains(&(column + 4, row + 4)), is_dark, "{column} {row}");
            }
        }
        let is_inside = |place: usize| (4..drawing.side - 4).contains(&place);
        assert!(filled.iter().all(|&(column, row)| is_inside(column) && is_inside(row)));
    }

    #[test]
    fn a_text_that_is_too_long_has_no_code() {
        assert_eq!(QrDrawing::of(&"a".repeat(5_000)), None);
    }
}
