//! Taught words put back into known ones.

use super::{Lesson, Origin};
use crate::language::Lexicon;
use crate::language::singular;
use std::ops::Range;

/// Most words of a taught noun.
const LONGEST: usize = 4;

/// A sentence with what a person taught in place of each taught noun, so that it is understood by who knows the tables alone.
/// What was learned from others is left as it stands: whether that is right is what such a reader judges.
pub fn in_known_words(sentence: &str, lessons: &[Lesson], lexicon: &Lexicon) -> String {
    let spans = spans(sentence);
    let mut known = String::with_capacity(sentence.len());
    let (mut at, mut copied) = (0, 0);
    while at < spans.len() {
        let found = (1..=LONGEST.min(spans.len() - at)).rev().find_map(|count| {
            let span = spans[at].start..spans[at + count - 1].end;
            if lexicon.determiners.has_word(&sentence[spans[at].clone()].to_lowercase()) {
                return None;
            }
            let noun = singular(&sentence[span.clone()], lexicon);
            let means =
                lessons.iter().find(|lesson| lesson.origin == Origin::Taught && lesson.word == noun)?;
            Some((span, count, means.means.as_str()))
        });
        match found {
            Some((span, count, means)) => {
                known.push_str(&sentence[copied..span.start]);
                known.push_str(means);
                copied = span.end;
                at += count;
            }
            None => at += 1,
        }
    }
    known.push_str(&sentence[copied..]);
    known
}

/// Where the words of a sentence are, bytes.
fn spans(sentence: &str) -> Vec<Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '\'');
    let mut spans = Vec::new();
    let mut began = None;
    for (at, c) in sentence.char_indices() {
        match (is_part(c), began) {
            (true, None) => began = Some(at),
            (false, Some(start)) => {
                spans.push(start..at);
                began = None;
            }
            _ => {}
        }
    }
    spans.extend(began.map(|start| start..sentence.len()));
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taught_nouns_become_what_they_mean_and_nothing_else_does() {
        let learned = Lesson { origin: Origin::Learned, ..Lesson::taught("widget", "can") };
        let lessons =
            [Lesson::taught("gizmo", "red block"), Lesson::taught("tea thing", "blue mug"), learned];
        let lexicon = Lexicon::built_in();
        for (said, known) in [
            ("put the gizmo in the bowl", "put the red block in the bowl"),
            ("Put the GIZMO, then the tea thing, away!", "Put the red block, then the blue mug, away!"),
            ("put both gizmos in the bowl", "put both red block in the bowl"),
            ("where is the widget?", "where is the widget?"),
            ("put the gizmotron in the bowl", "put the gizmotron in the bowl"),
            ("", ""),
            ("\u{00fc}ber den gizmo \u{1f916}", "\u{00fc}ber den red block \u{1f916}"),
        ] {
            assert_eq!(in_known_words(said, &lessons, &lexicon), known);
        }
        assert_eq!(in_known_words("the gizmo", &[], &lexicon), "the gizmo");
    }
}
