//! Names of rooms, known by the furniture that stands in them; read from `config/language/rooms.yaml`.

use prehend_config::{Findings, read};

/// The rooms that are built in.
pub const DEFAULT: &str = include_str!("../../../../config/language/rooms.yaml");

/// A kind of room.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RoomKind {
    words: Vec<String>,
    has: Vec<String>,
}

/// Kinds of rooms and the classes of furniture by which each is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoomNames(Vec<RoomKind>);

impl RoomNames {
    /// Reads a list of rooms; `file` names it in findings.
    ///
    /// Errors: every finding at once, as [`prehend_config::read`].
    pub fn from_yaml(file: &str, text: &str) -> Result<Self, Findings> {
        read(file, text, |root| {
            root.map(|map| {
                let rooms = map.req("rooms")?.list(|room| {
                    room.map(|room| {
                        let words = room.req("words")?.list(|word| word.text())?;
                        Some(RoomKind { words, has: room.req("has")?.list(|word| word.text())? })
                    })
                })?;
                Some(Self(rooms))
            })
        })
    }

    /// The built-in rooms; none when the built-in file is broken, which tests rule out.
    pub fn built_in() -> Self {
        Self::from_yaml("rooms.yaml", DEFAULT).unwrap_or_default()
    }

    /// The kinds of rooms, each by its first word.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|kind| kind.words.first().map(String::as_str))
    }

    /// Whether a noun names a kind of room.
    pub fn is_room(&self, noun: &str) -> bool {
        self.0.iter().any(|kind| kind.words.iter().any(|word| word == noun))
    }

    /// The kind of room that furniture of these classes tells most of, by its first word; `None` when none tells of a room, or
    /// two tell as much.
    pub fn told_by<'a>(&self, classes: impl IntoIterator<Item = &'a str> + Clone) -> Option<&str> {
        let told = |kind: &RoomKind| {
            classes.clone().into_iter().filter(|class| kind.has.iter().any(|name| name == class)).count()
        };
        let mut counts: Vec<(usize, &RoomKind)> = self.0.iter().map(|kind| (told(kind), kind)).collect();
        counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        match counts.as_slice() {
            [(most, kind), rest @ ..] if *most > 0 && rest.first().is_none_or(|(next, _)| next < most) => {
                kind.words.first().map(String::as_str)
            }
            _ => None,
        }
    }

    /// Whether two nouns name one kind of room.
    pub fn same(&self, a: &str, b: &str) -> bool {
        let has = |kind: &RoomKind, noun: &str| kind.words.iter().any(|word| word == noun);
        a == b || self.0.iter().any(|kind| has(kind, a) && has(kind, b))
    }

    /// Whether furniture of this class tells the room that `noun` names: `None` when it tells of no room.
    pub fn tells(&self, noun: &str, class: &str) -> Option<bool> {
        let telling: Vec<&RoomKind> =
            self.0.iter().filter(|kind| kind.has.iter().any(|name| name == class)).collect();
        let is_named = |kind: &&RoomKind| kind.words.iter().any(|word| word == noun);
        (!telling.is_empty()).then(|| telling.iter().any(is_named))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn furniture_tells_the_room() {
        let rooms = RoomNames::from_yaml("rooms.yaml", DEFAULT).unwrap_or_else(|error| panic!("{error}"));
        assert!(rooms.is_room("kitchen") && rooms.is_room("living room") && !rooms.is_room("bowl"));
        assert_eq!(rooms.tells("kitchen", "counter"), Some(true));
        assert_eq!(rooms.tells("office", "counter"), Some(false));
        assert_eq!(rooms.tells("kitchen", "table"), None);
        assert!(
            rooms.kinds().any(|kind| kind == "living room") && rooms.kinds().all(|kind| kind != "lounge")
        );
    }

    #[test]
    fn what_is_wrong_in_a_file_is_found() {
        let error =
            RoomNames::from_yaml("rooms.yaml", "rooms: [{words: [attic]}]").expect_err("no furniture");
        assert!(error.to_string().contains("has"), "{error}");
    }
}
