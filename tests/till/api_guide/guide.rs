//! The guide of `docs/api.md` and `docs/admin-api.md`: its sections with their text, tables and blocks.

use std::fs;
use std::path::Path;

use super::example::Example;

/// The documents of the guide. The examples of the second continue those of the first.
pub(super) const DOCUMENTS: [&str; 2] = ["docs/api.md", "docs/admin-api.md"];

/// The guide.
#[derive(Debug)]
pub(super) struct Guide {
    /// The sections under headings of any level, in order.
    pub(super) sections: Vec<Section>,
}

/// The contents under one heading.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// The path of its endpoint, if it describes one.
    pub(super) endpoint: Option<String>,
    /// Its examples.
    pub(super) examples: Vec<Example>,
    paragraphs: Vec<String>,
}

/// A fenced block.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// Its language.
    pub(super) language: String,
    /// Its contents.
    pub(super) text: String,
    /// The line of its fence, and the document: `docs/api.md, line 7`.
    pub(super) place: String,
}

impl Guide {
    /// The text of the guide.
    pub(super) fn text() -> String {
        DOCUMENTS.map(text_of).concat()
    }

    /// All its commands, in order, as they are pasted into a shell.
    pub(super) fn commands() -> String {
        let commands = DOCUMENTS.into_iter().flat_map(blocks).filter(|block| block.language == "sh");
        commands.map(|block| block.text + "\n").collect()
    }

    /// Reads the guide.
    pub(super) fn read() -> Guide {
        Guide { sections: DOCUMENTS.into_iter().flat_map(Guide::sections_of).collect() }
    }

    fn sections_of(document: &str) -> Vec<Section> {
        let mut sections = vec![Section::default()];
        let mut blocks = Vec::new();
        for part in parts(document) {
            let section = sections.last_mut().expect("there is the one before the first heading");
            match part {
                Part::Heading(heading) => {
                    section.examples = examples(&std::mem::take(&mut blocks));
                    let endpoint = heading.strip_prefix("### POST ").map(str::to_owned);
                    sections.push(Section { endpoint, ..Section::default() });
                }
                Part::Paragraph(paragraph) => section.paragraphs.push(paragraph),
                Part::Block(block) => blocks.push(block),
            }
        }
        sections.last_mut().expect("as above").examples = examples(&blocks);
        sections
    }
}

/// The text of a document, which is named by its path in the repository.
pub(super) fn text_of(document: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The fenced blocks of a document, in order.
pub(super) fn blocks(document: &str) -> Vec<Block> {
    let blocks = parts(document).into_iter().filter_map(|part| match part {
        Part::Block(block) => Some(block),
        Part::Heading(_) | Part::Paragraph(_) => None,
    });
    blocks.collect()
}

/// The headings of a document with their signs, such as `## Webhooks`, in order.
pub(super) fn headings(document: &str) -> Vec<String> {
    let headings = parts(document).into_iter().filter_map(|part| match part {
        Part::Heading(heading) => Some(heading),
        Part::Block(_) | Part::Paragraph(_) => None,
    });
    headings.collect()
}

/// A part of a document.
enum Part {
    Heading(String),
    Paragraph(String),
    Block(Block),
}

fn parts(document: &str) -> Vec<Part> {
    let text = text_of(document);
    let mut parts = Vec::new();
    let mut lines = (1..).zip(text.lines()).peekable();
    while let Some((line, found)) = lines.next() {
        if found.starts_with('#') {
            parts.push(Part::Heading(found.to_owned()));
        } else if let Some(language) = found.strip_prefix("```") {
            let inside = lines.by_ref().map(|(_, inside)| inside).take_while(|inside| *inside != "```");
            let text = inside.collect::<Vec<_>>().join("\n");
            let place = format!("{document}, line {line}");
            parts.push(Part::Block(Block { language: language.to_owned(), text, place }));
        } else if !found.is_empty() {
            let mut paragraph = format!("{found}\n");
            while let Some((_, more)) = lines.next_if(|(_, more)| is_word(more)) {
                paragraph.push_str(more);
                paragraph.push('\n');
            }
            parts.push(Part::Paragraph(paragraph));
        }
    }
    parts
}

/// True when a line continues a paragraph.
fn is_word(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#') && !line.starts_with("```")
}

/// Calls, each with the answer that follows it. Commands that call nothing prepare the next call.
fn examples(blocks: &[Block]) -> Vec<Example> {
    let blocks: Vec<&Block> = blocks.iter().filter(|block| !prepares(block)).collect();
    let pairs = blocks.chunks(2).map(|pair| match pair {
        [command, answer] if command.language == "sh" => Example::parse(command, answer),
        other => panic!("a command and its answer belong together: {other:?}"),
    });
    pairs.collect()
}

fn prepares(block: &Block) -> bool {
    block.language == "sh" && !block.text.contains("curl ")
}

impl Section {
    /// The documented arguments of the endpoint: those that are required, and those that are optional.
    pub(super) fn takes(&self) -> (Vec<String>, Vec<String>) {
        let taken = self.paragraph("Takes");
        let (required, optional) = match taken.split_once("optional:") {
            Some((required, optional)) => (required, optional),
            None => (taken, ""),
        };
        (quoted(required), quoted(optional))
    }

    /// The documented error codes of the endpoint.
    pub(super) fn codes(&self) -> Vec<String> {
        let rows = self.paragraphs.iter().flat_map(|paragraph| paragraph.lines());
        let first_cells = rows.filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        let own = first_cells.map(|(code, _)| code.to_owned());
        quoted(self.paragraph("Errors: ")).into_iter().chain(own).collect()
    }

    /// The first paragraph, which describes the purpose.
    pub(super) fn introduction(&self) -> &str {
        self.paragraphs.first().map_or("", String::as_str)
    }

    fn paragraph(&self, beginning: &str) -> &str {
        let mut found = self.paragraphs.iter().filter(|paragraph| paragraph.starts_with(beginning));
        let (first, second) = (found.next(), found.next());
        assert!(second.is_none(), "{:?} says twice what begins {beginning}", self.endpoint);
        first.unwrap_or_else(|| panic!("{:?} does not say what begins {beginning}", self.endpoint))
    }
}

/// The texts between backticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}
