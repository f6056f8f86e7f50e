//! Texts as glyphs: each part of a text in the first font that has its characters.

use std::collections::BTreeSet;

use harfrust::{ShapeOptions, UnicodeBuffer};
use krilla::text::{GlyphId, KrillaGlyph};
use unicode_segmentation::UnicodeSegmentation;

use super::fonts::{Face, Fonts};

/// The sign for a character that no font has.
pub(super) const REPLACEMENT: &str = "\u{FFFD}";

/// A part of a text, in one font.
pub(super) struct Run<'a> {
    pub(super) face: &'a Face,
    pub(super) text: String,
    pub(super) glyphs: Vec<KrillaGlyph>,
    /// The width in thousandths of the font size.
    pub(super) width: i32,
    /// True when no font has the text, and a sign stands for it.
    pub(super) is_replaced: bool,
}

/// The parts of a text in the order in which they are written. A character that is replaced is a part of its own, since
/// readers of PDF connect one sign with one text.
pub(super) fn runs<'a>(fonts: &'a Fonts, text: &str) -> Vec<Run<'a>> {
    let mut parts: Vec<(Option<&Face>, String)> = Vec::new();
    for cluster in text.graphemes(true) {
        let face = fonts.of(cluster);
        match parts.last_mut() {
            Some((Some(last), part)) if face.is_some_and(|face| std::ptr::eq(*last, face)) => part.push_str(cluster),
            Some(_) | None => parts.push((face, cluster.to_owned())),
        }
    }
    parts.into_iter().map(|(face, part)| run(fonts, face, part)).collect()
}

fn run<'a>(fonts: &'a Fonts, face: Option<&'a Face>, text: String) -> Run<'a> {
    if let Some(face) = face {
        let (glyphs, width) = glyphs(face, &text);
        return Run { face, text, glyphs, width, is_replaced: false };
    }
    let (mut glyphs, width) = glyphs(fonts.main(), REPLACEMENT);
    glyphs.iter_mut().for_each(|glyph| glyph.text_range = 0..text.len());
    Run { face: fonts.main(), text, glyphs, width, is_replaced: true }
}

/// The width of a text in thousandths of the font size.
pub(super) fn width(fonts: &Fonts, text: &str) -> i32 {
    runs(fonts, text).iter().fold(0, |width, run| width.saturating_add(run.width))
}

/// A text in lines of this width at most, in thousandths of the font size. It is broken between any two characters,
/// since Thai, Chinese and Japanese have no spaces.
pub(super) fn lines(fonts: &Fonts, text: &str, width_max: i32) -> Vec<String> {
    let (mut lines, mut used) = (vec![String::new()], 0_i32);
    for cluster in text.graphemes(true) {
        let width = width(fonts, cluster);
        used = used.saturating_add(width);
        if used > width_max {
            lines.push(String::new());
            used = width;
        }
        lines.last_mut().expect("there is a line").push_str(cluster);
    }
    lines
}

/// The glyphs of a text in one font, and their width in thousandths of the font size.
fn glyphs(face: &Face, text: &str) -> (Vec<KrillaGlyph>, i32) {
    let tables = face.tables();
    let shaper = face.shaper.shaper(&tables).build();
    let units = shaper.units_per_em().max(1);
    let mut buffer = UnicodeBuffer::new();
    buffer.push_str(text);
    buffer.guess_segment_properties();
    let shaped = shaper.shape(buffer, ShapeOptions::new());
    let starts: BTreeSet<usize> = shaped.glyph_infos().iter().map(|info| start(info.cluster)).collect();
    let end = |start: usize| starts.range(start.saturating_add(1)..).next().copied().unwrap_or(text.len());
    let placed = shaped.glyph_infos().iter().zip(shaped.glyph_positions());
    let glyphs = placed.map(|(info, at)| {
        let of_size = |length: i32| ratio(length, units);
        let range = start(info.cluster)..end(start(info.cluster));
        let (x, y) = (of_size(at.x_offset), of_size(at.y_offset));
        KrillaGlyph::new(GlyphId::new(info.glyph_id), of_size(at.x_advance), x, y, of_size(at.y_advance), range, None)
    });
    let width = shaped.glyph_positions().iter().fold(0_i32, |width, at| width.saturating_add(at.x_advance));
    (glyphs.collect(), width.saturating_mul(1_000) / units)
}

/// The byte at which the text of a glyph begins.
fn start(cluster: u32) -> usize {
    usize::try_from(cluster).unwrap_or(usize::MAX)
}

/// A length in parts of another.
#[expect(clippy::float_arithmetic, clippy::cast_precision_loss, reason = "a place on paper, and no money")]
pub(super) fn ratio(length: i32, unit: i32) -> f32 {
    length as f32 / unit as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fonts() -> Fonts {
        Fonts::in_directories(Vec::new())
    }

    #[test]
    fn a_text_is_split_where_its_font_changes() {
        let fonts = fonts();
        let shown = |text: &str| -> Vec<(String, bool)> {
            runs(&fonts, text).into_iter().map(|run| (run.text, run.is_replaced)).collect()
        };
        let part = |text: &str| (text.to_owned(), false);
        assert_eq!(shown("Shop 24"), [part("Shop 24")]);
        let thai = "\u{E23}\u{E49}\u{E32}\u{E19}";
        assert_eq!(shown(&format!("{thai} 24")), [part(thai), part(" 24")]);
        let replaced = |text: &str| (text.to_owned(), true);
        assert_eq!(shown("A\u{682A}\u{5F0F}B"), [part("A"), replaced("\u{682A}"), replaced("\u{5F0F}"), part("B")]);
    }

    #[test]
    fn a_thai_mark_stands_above_its_letter_and_takes_no_room() {
        let fonts = fonts();
        assert_eq!(width(&fonts, "\u{E17}\u{E35}\u{E48}"), width(&fonts, "\u{E17}"));
        let glyphs = runs(&fonts, "\u{E17}\u{E35}\u{E48}").remove(0).glyphs;
        assert_eq!(glyphs.len(), 3);
        assert!(glyphs.iter().all(|glyph| glyph.text_range == (0..9)), "one cluster");
    }

    #[test]
    fn every_byte_of_a_text_belongs_to_a_glyph() {
        let fonts = fonts();
        for text in
            ["Shop", "\u{E17}\u{E35}\u{E48}\u{E19}\u{E33}", "\u{645}\u{62D}\u{644}", "\u{1F4B3}\u{200D}\u{1F4B3}"]
        {
            for run in runs(&fonts, text) {
                let mut covered: Vec<_> = run.glyphs.iter().map(|glyph| glyph.text_range.clone()).collect();
                covered.sort_by_key(|range| range.start);
                covered.dedup();
                let ends: Vec<usize> = covered.iter().map(|range| range.end).collect();
                let starts: Vec<usize> = covered.iter().skip(1).map(|range| range.start).collect();
                assert_eq!((covered[0].start, ends.last().copied()), (0, Some(run.text.len())), "{text}");
                assert_eq!(ends[..ends.len() - 1], starts[..], "{text}");
            }
        }
    }

    #[test]
    fn a_long_text_is_broken_between_characters() {
        let fonts = fonts();
        let syllable = "\u{E17}\u{E35}\u{E48}";
        let broken = lines(&fonts, &syllable.repeat(10), width(&fonts, syllable).saturating_mul(4));
        assert_eq!(broken, [syllable.repeat(4), syllable.repeat(4), syllable.repeat(2)]);
        assert_eq!(lines(&fonts, "Shop", 10_000), ["Shop"]);
    }
}
