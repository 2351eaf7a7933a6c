//! The words by which a deed is told from a name: "smash it" and "the smash burger".

use super::words_of;
use crate::language::Phrases;
use prehend_config::Map;
use std::collections::HashMap;

/// What the policy's file says of the words around a deed.
#[derive(Clone, Debug, Default)]
pub(super) struct Usage {
    /// Words after which a verb form is a verb.
    pub(super) before_verb: Phrases<()>,
    /// Words after which a gerund is a verb.
    pub(super) before_gerund: Phrases<()>,
    /// Of the words before a verb, those after which a participle is one even before a noun.
    pub(super) before_participle: Phrases<()>,
    /// Words that take an object and then a verb: "make the cup smash", "want it broken".
    pub(super) causing: Phrases<()>,
    /// Words that make a forbidden deed a deed that is not asked for.
    pub(super) negating: Phrases<()>,
    /// Words that may stand between these and the deed.
    pub(super) after_negation: Phrases<()>,
    /// Words that stand before a person and are neither owners nor describing.
    pub(super) before_person: Phrases<()>,
    /// Words that follow a noun and go on with no longer one.
    pub(super) after_noun: Phrases<()>,
    /// Words that end a clause, for `$` in patterns.
    pub(super) clause_ends: Phrases<()>,
}

impl Usage {
    pub(super) fn from_map(map: &mut Map<'_>) -> Option<Self> {
        Some(Self {
            before_verb: words_of(map, "before_verb")?,
            before_gerund: words_of(map, "before_gerund")?,
            before_participle: words_of(map, "before_participle")?,
            causing: words_of(map, "causing")?,
            negating: words_of(map, "negating")?,
            after_negation: words_of(map, "after_negation")?,
            before_person: words_of(map, "before_person")?,
            after_noun: words_of(map, "after_noun")?,
            clause_ends: words_of(map, "clause_ends")?,
        })
    }
}

/// Past forms that the rules of inflection do not make, by the base form of the verb.
#[derive(Clone, Debug, Default)]
pub(super) struct Irregular {
    by_base: HashMap<String, Vec<String>>,
}

impl Irregular {
    pub(super) fn from_map(map: &mut Map<'_>) -> Option<Self> {
        let mut by_base = HashMap::new();
        for (base, forms) in map.req("irregular_pasts")?.map(|m| Some(m.entries()))? {
            by_base.insert(base, forms.list(|v| v.text())?);
        }
        Some(Self { by_base })
    }

    /// The past forms of a verb that no rule makes.
    pub(super) fn pasts(&self, base: &str) -> &[String] {
        self.by_base.get(base).map_or(&[], Vec::as_slice)
    }
}
