//! A noun phrase under construction: what was read so far, and what each further word adds to it.

use crate::language::goal::{
    Attribute, AttributeKind, Head, Modifier, NounPhrase, Quantity, Selector, Spatial, TableRegion,
};
use crate::language::lexicon::{Describing, Determiner};

/// What stood before the noun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) determiner: Option<Determiner>,
    pub(super) number: Option<u32>,
    /// The number that a singular noun which starts at this word would have for a name: "the 8 key".
    pub(super) name: Option<(usize, u32)>,
}

/// A noun phrase under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Core {
    pub(super) np: NounPhrase,
    /// "second", waiting for "from the left".
    pub(super) ordinal: Option<u32>,
    /// "closest" (true) or "farthest" (false) before the noun, waiting for "to the plate".
    pub(super) distance: Option<bool>,
}

impl PartialEq for Core {
    fn eq(&self, other: &Self) -> bool {
        self.np == other.np && self.ordinal == other.ordinal && self.distance == other.distance
    }
}

/// Something read after a noun.
#[derive(Clone, Debug)]
pub(super) enum Post {
    /// Relations it must have.
    Where(Vec<Modifier>),
    /// Choices.
    Select(Vec<Selector>),
    /// Attributes it must have.
    Attributes(Vec<Attribute>),
    /// Attributes it must not have.
    NotAttributes(Vec<Attribute>),
    /// "from the left", after an ordinal.
    From(TableRegion),
    /// "from the top", after an ordinal.
    FromLevel(bool),
    /// "to the plate", after "the closest mug".
    To(Vec<NounPhrase>),
    /// ", not the red one".
    Except(Vec<NounPhrase>),
    /// "except the red one", of several.
    ExceptAll(Vec<NounPhrase>),
    /// "of the cabinet".
    Of(NounPhrase),
    /// Several of these.
    Several(Vec<Post>),
}

/// Adds a describing word; `None` when it makes no sense here.
pub(super) fn describe(core: &Core, describing: Describing, word: String, excluded: bool) -> Option<Core> {
    let mut core = core.clone();
    let kind = match describing {
        Describing::Color => AttributeKind::Color,
        Describing::Material => AttributeKind::Material,
        Describing::Shape => AttributeKind::Shape,
        Describing::State(relation, not) => {
            core.np.modifiers.push(in_state(relation, not != excluded));
            return Some(core);
        }
        Describing::Other => AttributeKind::Other,
        Describing::Size(dimension, most) => {
            let selector = if most { Selector::Most(dimension) } else { Selector::Least(dimension) };
            core.np.selectors.push(selector);
            return (!excluded).then_some(core);
        }
        Describing::Side(TableRegion::Edge) => return None,
        Describing::Side(region) => {
            match core.ordinal.take() {
                Some(number) => core.np.selectors.push(Selector::Nth(number, region)),
                None => core.np.selectors.push(Selector::Side(region)),
            }
            return (!excluded).then_some(core);
        }
        Describing::Level(top) => {
            match core.ordinal.take() {
                Some(number) => core.np.selectors.push(Selector::NthLevel(number, top)),
                None => core.np.selectors.push(Selector::Level(top)),
            }
            return (!excluded).then_some(core);
        }
        Describing::Distance(closest) => {
            core.distance = Some(closest);
            return (!excluded).then_some(core);
        }
    };
    let list = if excluded { &mut core.np.excluded_attributes } else { &mut core.np.attributes };
    list.push(Attribute { kind, word });
    Some(core)
}

/// How many are meant, from determiner, number and the noun's form.
pub(super) fn quantity(start: Start, plural: bool, plural_only: bool) -> Quantity {
    match (start.determiner, start.number) {
        (Some(Determiner::Both), _) if plural_only => Quantity::Any,
        // "both the soup and the cheese" names each.
        (Some(Determiner::Both), None) if !plural => Quantity::One,
        (Some(Determiner::Both), _) => Quantity::Exactly(2),
        (Some(Determiner::Rest), _) => Quantity::Others,
        (Some(Determiner::Other), _) if plural => Quantity::Others,
        (Some(Determiner::Other), _) => Quantity::Other,
        (Some(Determiner::Any), Some(number)) => Quantity::Some(number),
        (Some(Determiner::Any), None) => Quantity::Any,
        (Some(_), Some(1)) => Quantity::One,
        (Some(_), Some(number)) => Quantity::Exactly(number),
        (None, Some(1)) => Quantity::Any,
        (None, Some(number)) => Quantity::Some(number),
        (Some(Determiner::All), None) => Quantity::All,
        (Some(Determiner::One) | None, None) => {
            if plural {
                Quantity::All
            } else {
                Quantity::One
            }
        }
    }
}

/// Applies what was read after the noun; `None` when it does not fit.
pub(super) fn attach(core: &Core, post: &Post) -> Option<Core> {
    let mut core = core.clone();
    match post {
        Post::Where(modifiers) => core.np.modifiers.extend(modifiers.iter().cloned()),
        Post::Select(selectors) => core.np.selectors.extend(selectors.iter().cloned()),
        Post::Attributes(attributes) => core.np.attributes.extend(attributes.iter().cloned()),
        Post::NotAttributes(attributes) => core.np.excluded_attributes.extend(attributes.iter().cloned()),
        Post::From(region) => match core.ordinal.take() {
            Some(number) => core.np.selectors.push(Selector::Nth(number, *region)),
            None => return None,
        },
        Post::FromLevel(top) => match core.ordinal.take() {
            Some(number) => core.np.selectors.push(Selector::NthLevel(number, *top)),
            None => return None,
        },
        Post::To(targets) => match core.distance.take() {
            Some(true) => core.np.selectors.push(Selector::Closest(targets.clone())),
            Some(false) => core.np.selectors.push(Selector::Farthest(targets.clone())),
            None => return None,
        },
        Post::Except(_) if core.np.quantity == Quantity::One && core.np.head == Head::It => return None,
        Post::ExceptAll(except) if has_exceptions(&core.np) => core.np.except.extend(except.iter().cloned()),
        Post::ExceptAll(_) => return None,
        Post::Except(except) => core.np.except.extend(except.iter().cloned()),
        // A part's whole follows its noun directly.
        Post::Of(_) if !core.np.modifiers.is_empty() => return None,
        Post::Of(whole) => {
            let superlative =
                !core.np.selectors.is_empty() || core.ordinal.is_some() || core.distance.is_some();
            let one = core.np.head == Head::Noun("one".to_owned());
            if one && superlative && whole.quantity != Quantity::One {
                // "the largest of the mugs"
                let mut np = whole.clone();
                np.selectors.extend(core.np.selectors.clone());
                np.quantity = Quantity::One;
                core.np = np;
            } else if matches!(core.np.head, Head::Noun(_)) && !one {
                core.np.modifiers.push(Modifier {
                    relation: Spatial::PartOf,
                    targets: vec![whole.clone()],
                    negated: false,
                });
            } else {
                return None;
            }
        }
        Post::Several(posts) => {
            for post in posts {
                core = attach(&core, post)?;
            }
        }
    }
    Some(core)
}

/// Where something is, of anything, said with one word: "empty" is not with anything.
pub(super) fn in_state(relation: Spatial, negated: bool) -> Modifier {
    let anything =
        NounPhrase { quantity: Quantity::Any, text: "anything".to_owned(), ..NounPhrase::default() };
    let targets = if relation == Spatial::Held { Vec::new() } else { vec![anything] };
    Modifier { relation, targets, negated }
}

/// Whether several objects are meant.
pub(super) fn is_plural(np: &NounPhrase) -> bool {
    match np.quantity {
        Quantity::All | Quantity::Others => true,
        Quantity::Exactly(number) | Quantity::Some(number) => number > 1,
        Quantity::One | Quantity::Any | Quantity::Other => false,
    }
}

/// Whether a phrase can have exceptions: "any mug except the blue one", "all mugs but the blue one".
pub(super) fn has_exceptions(np: &NounPhrase) -> bool {
    is_plural(np) || np.quantity == Quantity::Any
}
