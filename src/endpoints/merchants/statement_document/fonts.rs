//! The fonts of a statement: two in this program, and those of the system for Chinese, Japanese and Korean.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Once, OnceLock};

use harfrust::ShaperData;
use krilla::text::Font;
use skrifa::{FontRef, MetadataProvider};

/// The directories in which Linux has its fonts.
const DIRECTORIES: [&str; 2] = ["/usr/local/share/fonts", "/usr/share/fonts"];

/// The files that have Chinese, Japanese and Korean characters, the best first: those of the Debian packages
/// fonts-noto-cjk, fonts-droid-fallback, fonts-wqy-microhei, fonts-wqy-zenhei and fonts-nanum, and of the same fonts
/// elsewhere. The first has all of the three languages, the second few Korean characters, the last only these.
const EAST_ASIAN_FILES: [&str; 5] =
    ["NotoSansCJK-Regular.ttc", "DroidSansFallbackFull.ttf", "wqy-microhei.ttc", "wqy-zenhei.ttc", "NanumGothic.ttf"];

/// The depth of directories below those of the system: Linux needs two.
const DEPTH_MAX: usize = 4;

/// The limit of bytes of a font file, which is kept in memory once it is needed: three times the largest known.
pub(super) const FILE_BYTES_MAX: u64 = 64 << 20;

/// The fonts of all statements.
pub(super) static FONTS: LazyLock<Fonts> =
    LazyLock::new(|| Fonts::in_directories(DIRECTORIES.map(PathBuf::from).to_vec()));

/// A font.
pub(super) struct Face {
    bytes: Arc<dyn AsRef<[u8]> + Send + Sync>,
    /// For the layout of pages.
    pub(super) font: Font,
    /// For the choice of glyphs.
    pub(super) shaper: ShaperData,
}

impl Face {
    /// The first font of a file's bytes; none when they are not those of a font.
    fn new(bytes: Arc<dyn AsRef<[u8]> + Send + Sync>) -> Option<Face> {
        let shaper = ShaperData::new(&first_font(&*bytes)?);
        let font = Font::new(Arc::clone(&bytes).into(), 0)?;
        Some(Face { bytes, font, shaper })
    }

    fn built_in(bytes: &'static [u8]) -> Face {
        Face::new(Arc::new(bytes)).expect("a font in this program can be read")
    }

    /// The tables of the font.
    pub(super) fn tables(&self) -> FontRef<'_> {
        first_font(&*self.bytes).expect("it could be read before")
    }

    /// True when it has every visible character of a text.
    fn has(&self, text: &str) -> bool {
        let characters = self.tables().charmap();
        text.chars().all(|character| is_invisible(character) || characters.map(character).is_some())
    }
}

fn first_font(bytes: &(dyn AsRef<[u8]> + Send + Sync)) -> Option<FontRef<'_>> {
    FontRef::from_index(bytes.as_ref(), 0).ok()
}

/// The fonts in the order in which they are tried. Each is loaded when a text asks for it for the first time.
pub(super) struct Fonts {
    /// DejaVu Sans Mono: Latin, Greek, Cyrillic and Arabic letters, and all texts of a statement but names.
    main: LazyLock<Face>,
    /// Noto Sans Thai.
    thai: LazyLock<Face>,
    east_asian: OnceLock<Vec<SystemFont>>,
    east_asian_is_missing: Once,
    directories: Vec<PathBuf>,
}

/// A font of the system, which is read when a character asks for it.
struct SystemFont {
    file: PathBuf,
    /// None inside when it cannot be used.
    face: OnceLock<Option<Face>>,
}

impl SystemFont {
    fn face(&self) -> Option<&Face> {
        self.face.get_or_init(|| read(&self.file)).as_ref()
    }
}

impl Fonts {
    /// The fonts of this program, and those that are found below these directories.
    pub(super) fn in_directories(directories: Vec<PathBuf>) -> Fonts {
        Fonts {
            main: LazyLock::new(|| Face::built_in(include_bytes!("DejaVuSansMono.ttf"))),
            thai: LazyLock::new(|| Face::built_in(include_bytes!("NotoSansThai.ttf"))),
            east_asian: OnceLock::new(),
            east_asian_is_missing: Once::new(),
            directories,
        }
    }

    /// The font of all texts but names.
    pub(super) fn main(&self) -> &Face {
        &self.main
    }

    /// The font of a character with its marks; none when no font has them.
    pub(super) fn of(&self, cluster: &str) -> Option<&Face> {
        if self.main().has(cluster) {
            Some(self.main())
        } else if cluster.contains(is_thai) {
            Some(&*self.thai).filter(|face| face.has(cluster))
        } else if is_east_asian(cluster) {
            self.east_asian(cluster)
        } else {
            None
        }
    }

    fn east_asian(&self, cluster: &str) -> Option<&Face> {
        let fonts = self.east_asian.get_or_init(|| system_fonts(&self.directories));
        let found = fonts.iter().filter_map(SystemFont::face).find(|face| face.has(cluster));
        if found.is_none() {
            self.east_asian_is_missing.call_once(|| {
                tracing::warn!(
                    directories = ?self.directories,
                    "no font of the system has a Chinese, Japanese or Korean character of a merchant's name in a \
                     statement: install the package fonts-noto-cjk, and restart the server"
                );
            });
        }
        found
    }
}

/// True when a text has Chinese, Japanese or Korean characters, whose font is large.
pub(super) fn is_east_asian(text: &str) -> bool {
    text.contains(|character| {
        matches!(character,
            '\u{1100}'..='\u{11FF}' | '\u{2E80}'..='\u{9FFF}' | '\u{A960}'..='\u{A97F}' | '\u{AC00}'..='\u{D7FF}'
                | '\u{F900}'..='\u{FAFF}' | '\u{FE30}'..='\u{FE4F}' | '\u{FF00}'..='\u{FFEF}'
                | '\u{20000}'..='\u{3FFFF}')
    })
}

fn is_thai(character: char) -> bool {
    matches!(character, '\u{E00}'..='\u{E7F}')
}

/// True for joiners, marks of direction, selectors of variants and tags, which have no glyphs of their own.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}'
            | '\u{E0000}'..='\u{E0FFF}')
}

/// The known fonts below these directories, the best first.
fn system_fonts(directories: &[PathBuf]) -> Vec<SystemFont> {
    let mut files = Vec::new();
    directories.iter().for_each(|directory| collect(directory, DEPTH_MAX, &mut files));
    files.sort_by_key(|file| rank(file));
    files.into_iter().map(|file| SystemFont { file, face: OnceLock::new() }).collect()
}

/// The place of a file among those that have Chinese, Japanese and Korean characters.
fn rank(file: &Path) -> Option<usize> {
    EAST_ASIAN_FILES.iter().position(|known| file.file_name().is_some_and(|name| name == *known))
}

fn collect(directory: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if rank(&path).is_some() {
            files.push(path);
        } else if depth > 0 && path.is_dir() {
            collect(&path, depth.saturating_sub(1), files);
        }
    }
}

/// The font in a file; none when it cannot be used, which is logged.
fn read(file: &Path) -> Option<Face> {
    let is_small = fs::metadata(file).is_ok_and(|metadata| metadata.len() <= FILE_BYTES_MAX);
    let bytes = is_small.then(|| fs::read(file).ok()).flatten();
    let face = bytes.and_then(|bytes| Face::new(Arc::new(bytes)));
    if face.is_some() {
        tracing::info!(file = %file.display(), "this font is used for Chinese, Japanese and Korean names in \
            statements");
    } else {
        tracing::warn!(file = %file.display(), "this font cannot be read, and is not used in statements");
    }
    face
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(face: Option<&Face>, fonts: &Fonts) -> &'static str {
        match face.map(std::ptr::from_ref) {
            None => "none",
            Some(face) if std::ptr::eq(face, &*fonts.main) => "main",
            Some(face) if std::ptr::eq(face, &*fonts.thai) => "Thai",
            Some(_) => "system",
        }
    }

    #[test]
    fn each_character_has_the_first_font_that_has_it() {
        let fonts = Fonts::in_directories(Vec::new());
        let expected = [
            ("A", "main"),
            ("\u{E9}", "main"),
            ("\u{416}", "main"),
            ("\u{E23}", "Thai"),
            ("\u{E49}", "Thai"),
            ("\u{E17}\u{E35}\u{E48}", "Thai"),
            ("\u{682A}", "none"),
            ("\u{1F4B3}", "none"),
        ];
        for (cluster, font) in expected {
            assert_eq!(name_of(fonts.of(cluster), &fonts), font, "{cluster}");
        }
    }

    /// A directory with these files. None of them has Chinese, Japanese or Korean characters.
    fn directory(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, bytes) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
            fs::write(path, bytes).expect("a file");
        }
        directory
    }

    /// The names of the fonts that were found, with true for those that were read.
    fn found_names(fonts: &Fonts) -> Option<Vec<(String, bool)>> {
        let name = |font: &SystemFont| font.file.file_name().map(|name| name.to_string_lossy().into_owned());
        let found = fonts.east_asian.get()?.iter();
        found.map(|font| Some((name(font)?, font.face.get().is_some_and(Option::is_some)))).collect()
    }

    #[test]
    fn a_font_of_the_system_is_read_when_a_character_asks_for_it() {
        let directory = directory(&[("truetype/droid/DroidSansFallbackFull.ttf", include_bytes!("NotoSansThai.ttf"))]);
        let fonts = Fonts::in_directories(vec![directory.path().join("none"), directory.path().to_owned()]);
        for cluster in ["A", "\u{E23}", "\u{1F4B3}", "\u{5D0}"] {
            fonts.of(cluster);
        }
        assert_eq!(found_names(&fonts), None, "nothing asked for it");
        assert!(!fonts.east_asian_is_missing.is_completed());
        assert!(fonts.of("\u{682A}").is_none());
        assert_eq!(found_names(&fonts), Some(vec![("DroidSansFallbackFull.ttf".to_owned(), true)]));
        assert!(fonts.east_asian_is_missing.is_completed(), "the operator is told");
    }

    #[test]
    fn the_known_fonts_are_tried_from_the_best_on() {
        let font: &[u8] = include_bytes!("NotoSansThai.ttf");
        let files: [(&str, &[u8]); 3] =
            [("wqy-zenhei.ttc", font), ("NotoSansCJK-Regular.ttc", b"damaged"), ("Other.ttf", b"never read")];
        let directory = directory(&files);
        let fonts = Fonts::in_directories(vec![directory.path().to_owned()]);
        assert!(fonts.of("\u{AC00}").is_none());
        let expected = [("NotoSansCJK-Regular.ttc".to_owned(), false), ("wqy-zenhei.ttc".to_owned(), true)];
        assert_eq!(found_names(&fonts), Some(expected.to_vec()));
    }
}
