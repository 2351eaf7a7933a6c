//! How things of a class usually move, before they did: words, as detectors and people say them.
//!
//! They are a vocabulary, like a language: one for the whole process, the built-in one or what [`install`] was given as the process
//! started (`config/language/furniture.yaml`).

use prehend_config::{Findings, Map, Value, read, read_file};
use std::path::Path;
use std::sync::OnceLock;

/// The file that is built in.
const DEFAULT: &str = include_str!("../../../../config/language/furniture.yaml");

static IN_USE: OnceLock<Vocabulary> = OnceLock::new();

/// How things of a class move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usual {
    /// Out of their whole.
    Drawer,
    /// About an upright edge.
    Door,
    /// About a level edge.
    Lid,
    /// Sideways along their face.
    Sliding,
    /// About their own middle.
    Knob,
    /// About the end at which they are fixed.
    Lever,
    /// Nobody knows.
    Unknown,
}

impl Usual {
    /// By the words of a class: the last one decides, but "sliding" goes before it.
    pub fn of(class: &str) -> Self {
        in_use().usual(class)
    }

    /// Whether such things turn; `None` when nobody knows.
    pub fn turns(self) -> Option<bool> {
        match self {
            Self::Drawer | Self::Sliding => Some(false),
            Self::Door | Self::Lid | Self::Knob | Self::Lever => Some(true),
            Self::Unknown => None,
        }
    }
}

const KINDS: [(&str, Usual); 6] = [
    ("drawers", Usual::Drawer),
    ("doors", Usual::Door),
    ("lids", Usual::Lid),
    ("sliding", Usual::Sliding),
    ("knobs", Usual::Knob),
    ("levers", Usual::Lever),
];

/// Words for what moves in or on something larger; lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vocabulary {
    kinds: Vec<(String, Usual)>,
    sideways: Vec<String>,
    panels: Vec<String>,
}

impl Vocabulary {
    /// Reads it; `file` names the text in findings.
    ///
    /// Errors: every finding at once with its line: unknown or missing keys, what is no word, a word of two kinds, a panel that is no
    /// drawer, door or lid.
    pub fn from_yaml(file: &str, text: &str) -> Result<Self, Findings> {
        read(file, text, |root| root.map(Self::from_map))
    }

    /// Reads the file at `path`. Errors: as [`Vocabulary::from_yaml`], and when the file cannot be read.
    pub fn load(path: &Path) -> Result<Self, Findings> {
        read_file(path, |root| root.map(Self::from_map))
    }

    fn from_map(map: &mut Map<'_>) -> Option<Self> {
        let lists = KINDS.map(|(key, usual)| (words(map, key), usual));
        let (sideways, panels) = (words(map, "sideways"), words(map, "panels"));
        let mut kinds: Vec<(String, Usual)> = Vec::new();
        for (list, usual) in lists {
            for (word, value) in list? {
                if kinds.iter().any(|(known, _)| *known == word) {
                    value.report("stands in the file before: a word is of one kind");
                }
                kinds.push((word, usual));
            }
        }
        let closes = |word: &String| {
            let kind = kinds.iter().find(|(known, _)| known == word);
            kind.is_some_and(|(_, usual)| matches!(usual, Usual::Drawer | Usual::Door | Usual::Lid))
        };
        let panels = panels?;
        for (_, value) in panels.iter().filter(|(word, _)| !closes(word)) {
            value.report("is none of the drawers, doors and lids above");
        }
        let plain = |list: Vec<(String, Value<'_>)>| list.into_iter().map(|(word, _)| word).collect();
        Some(Self { sideways: plain(sideways?), panels: plain(panels), kinds })
    }

    fn usual(&self, class: &str) -> Usual {
        if class.split([' ', '_']).any(|word| self.sideways.iter().any(|sideways| sideways == word)) {
            return Usual::Sliding;
        }
        self.kind(class)
    }

    /// By the last word alone.
    fn kind(&self, class: &str) -> Usual {
        let last = last_word(class);
        self.kinds.iter().find(|(word, _)| word == last).map_or(Usual::Unknown, |(_, usual)| *usual)
    }

    fn is_panel(&self, class: &str) -> bool {
        let last = last_word(class);
        self.panels.iter().any(|panel| panel == last)
    }
}

fn last_word(class: &str) -> &str {
    class.rsplit([' ', '_']).next().unwrap_or_default()
}

/// The words of a list, each with its place in the file.
fn words<'a>(map: &mut Map<'a>, key: &'static str) -> Option<Vec<(String, Value<'a>)>> {
    map.req(key)?.list(|value| {
        let word = value.text()?;
        if word.is_empty() || !word.chars().all(|c| c.is_alphanumeric() && !c.is_uppercase()) {
            value.report("must be one word in lower case");
            return None;
        }
        Some((word, value))
    })
}

/// Makes this the vocabulary of the process; once, before anything asks for a word. Returns whether it is: when another one is in use
/// already, that stays.
pub fn install(vocabulary: Vocabulary) -> bool {
    *IN_USE.get_or_init(|| vocabulary.clone()) == vocabulary
}

fn in_use() -> &'static Vocabulary {
    // A test rules out that the built-in file is broken.
    IN_USE.get_or_init(|| Vocabulary::from_yaml("furniture.yaml", DEFAULT).unwrap_or_default())
}

/// Whether things of this class close a front and look alike side by side: what is known of them is where they are now, and two that
/// meet are two.
pub fn is_panel(class: &str) -> bool {
    in_use().is_panel(class)
}

/// Whether things of this class are panels that slide out.
pub fn is_drawer(class: &str) -> bool {
    in_use().is_panel(class) && in_use().kind(class) == Usual::Drawer
}

/// Whether things of this class are panels that turn about an upright edge.
pub fn is_door(class: &str) -> bool {
    in_use().is_panel(class) && in_use().kind(class) == Usual::Door
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_name_tells() {
        let check = |class: &str, usual: Usual, is_closing: bool| {
            assert_eq!((Usual::of(class), is_panel(class)), (usual, is_closing), "{class}");
        };
        check("top drawer", Usual::Drawer, true);
        check("cabinet_door", Usual::Door, true);
        check("sliding door", Usual::Sliding, true);
        check("oven flap", Usual::Lid, true);
        check("pot lid", Usual::Lid, false);
        check("microwave", Usual::Door, false);
        check("tray", Usual::Drawer, false);
        check("door mat", Usual::Unknown, false);
        check("trapdoor", Usual::Unknown, false);
        check("", Usual::Unknown, false);
        assert!(is_drawer("layer") && !is_drawer("tray") && is_door("gate") && !is_door("oven"));
    }

    #[test]
    fn a_deployment_has_words_of_its_own() {
        let text = "drawers: [schublade]\ndoors: [tür]\nlids: []\nsliding: []\nknobs: []\nlevers: []\nsideways: []\npanels: [schublade]\n";
        let words = Vocabulary::from_yaml("x.yaml", text).expect("valid");
        assert_eq!(words.usual("obere schublade"), Usual::Drawer);
        assert!(words.is_panel("obere schublade") && !words.is_panel("tür"));
        assert_eq!(words.usual("drawer"), Usual::Unknown);
    }

    #[test]
    fn a_broken_file_names_every_place() {
        let text = "drawers: [drawer]\ndoors: [drawer, Door mat]\nlid: []\nsliding: []\nknobs: [knob]\nlevers: []\nsideways: []\npanels: [knob]\n";
        let error = Vocabulary::from_yaml("x.yaml", text).expect_err("broken").to_string();
        for wanted in ["x.yaml:2:", "one word", "lids", "did you mean"] {
            assert!(error.contains(wanted), "{wanted} in {error}");
        }
        let text = "drawers: [drawer]\ndoors: [drawer]\nlids: []\nsliding: []\nknobs: [knob]\nlevers: []\nsideways: []\npanels: [knob]\n";
        let error = Vocabulary::from_yaml("x.yaml", text).expect_err("broken").to_string();
        for wanted in ["x.yaml:2:", "of one kind", "x.yaml:8:", "none of the drawers"] {
            assert!(error.contains(wanted), "{wanted} in {error}");
        }
    }

    #[test]
    fn the_vocabulary_in_use_stays() {
        assert!(install(in_use().clone()));
        assert!(!install(Vocabulary::default()));
        assert!(is_drawer("drawer"));
    }
}
