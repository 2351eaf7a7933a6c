//! Forms of English verbs and nouns by rule; exceptions stand in the lexicon.

fn is_vowel(c: char) -> bool {
    matches!(c, 'a' | 'e' | 'i' | 'o' | 'u')
}

/// Whether the last consonant is doubled before -ing and -ed: one vowel between consonants, in a short word.
fn doubles(base: &str) -> bool {
    let chars: Vec<char> = base.chars().collect();
    let vowels = chars.iter().filter(|c| is_vowel(**c)).count();
    match chars.as_slice() {
        [.., a, b, c] => {
            vowels == 1 && !is_vowel(*a) && is_vowel(*b) && !is_vowel(*c) && !matches!(c, 'w' | 'x' | 'y')
        }
        _ => false,
    }
}

fn ends_consonant_y(base: &str) -> bool {
    let mut chars = base.chars().rev();
    chars.next() == Some('y') && chars.next().is_some_and(|c| !is_vowel(c))
}

/// "puts", "passes", "carries".
pub(super) fn third_person(base: &str) -> String {
    if ends_consonant_y(base) {
        format!("{}ies", &base[..base.len() - 1])
    } else if ["s", "x", "z", "ch", "sh", "o"].iter().any(|end| base.ends_with(end)) {
        format!("{base}es")
    } else {
        format!("{base}s")
    }
}

/// "putting", "placing".
pub(super) fn gerund(base: &str) -> String {
    if let Some(stem) = base.strip_suffix("ie") {
        format!("{stem}ying")
    } else if base.ends_with('e') && !base.ends_with("ee") && base.len() > 2 {
        format!("{}ing", &base[..base.len() - 1])
    } else if doubles(base) {
        format!("{base}{}ing", &base[base.len() - 1..])
    } else {
        format!("{base}ing")
    }
}

/// "placed", "dropped", "carried".
pub(super) fn past(base: &str) -> String {
    if base.ends_with('e') {
        format!("{base}d")
    } else if ends_consonant_y(base) {
        format!("{}ied", &base[..base.len() - 1])
    } else if doubles(base) {
        format!("{base}{}ed", &base[base.len() - 1..])
    } else {
        format!("{base}ed")
    }
}

/// Third person, gerund and past of a regular verb.
pub fn inflections(base: &str) -> [String; 3] {
    [third_person(base), gerund(base), past(base)]
}

/// The singular of a regular plural noun, or `None` when the word does not look like one.
pub(super) fn regular_singular(word: &str) -> Option<String> {
    if word.len() < 4
        || word.ends_with("ss")
        || word.ends_with("us")
        || word.ends_with("is")
        || !word.is_ascii()
    {
        return None;
    }
    if let Some(stem) = word.strip_suffix("ies") {
        return Some(format!("{stem}y"));
    }
    for ending in ["ches", "shes", "xes", "sses", "zes"] {
        if word.ends_with(ending) {
            return Some(word[..word.len() - 2].to_owned());
        }
    }
    word.strip_suffix('s').map(str::to_owned)
}

/// The regular plural of a noun, for messages.
pub fn plural(noun: &str) -> String {
    if ["scissors", "tongs", "pliers"].iter().any(|word| noun.ends_with(word)) {
        return noun.to_owned();
    }
    match noun {
        _ if noun.ends_with("knife") => format!("{}ves", &noun[..noun.len() - 2]),
        _ if noun.ends_with("tomato") || noun.ends_with("potato") => format!("{noun}es"),
        _ if noun.ends_with('o') => format!("{noun}s"),
        _ => third_person(noun),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        for (base, s, ing, ed) in [
            ("place", "places", "placing", "placed"),
            ("drop", "drops", "dropping", "dropped"),
            ("pass", "passes", "passing", "passed"),
            ("carry", "carries", "carrying", "carried"),
            ("lift", "lifts", "lifting", "lifted"),
            ("move", "moves", "moving", "moved"),
            ("clean", "cleans", "cleaning", "cleaned"),
        ] {
            assert_eq!((third_person(base), gerund(base), past(base)), (s.into(), ing.into(), ed.into()));
        }
    }

    #[test]
    fn singulars() {
        for (plural, singular) in [
            ("mugs", Some("mug")),
            ("cherries", Some("cherry")),
            ("matches", Some("match")),
            ("glass", None),
            ("bus", None),
            ("mug", None),
            ("\u{e9}s", None),
        ] {
            assert_eq!(regular_singular(plural).as_deref(), singular, "{plural}");
        }
    }
}
