//! Names that SDF accepts, each once.

use std::collections::HashSet;

/// The names that are taken among siblings.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// `wanted` as SDF may have it, with a number behind it when it is taken: letters, digits, `-` and `_`; SDF reserves `::`, `world` and
    /// names between `__`.
    pub(super) fn unique(&mut self, wanted: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
        let kept: String = wanted.chars().map(plain).collect();
        let base = match kept.trim_matches('_') {
            "" => "unnamed".to_owned(),
            "world" => "world_1".to_owned(),
            kept => kept.to_owned(),
        };
        let mut name = base.clone();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_none_is_reserved() {
        let mut names = Names::default();
        let given = ["red mug", "red_mug", "world", "a::b", "__model__", "Teekännchen", "", "红"];
        let made = given.map(|name| names.unique(name));
        assert_eq!(
            made,
            ["red_mug", "red_mug_2", "world_1", "a__b", "model", "Teek_nnchen", "unnamed", "unnamed_2"]
        );
    }
}
