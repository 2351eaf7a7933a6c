//! From a sentence to a [`Goal`]: tokens, lexicon, grammar.
//!
//! Read [`Goal`] first, then [`parse`].

pub mod answer;
mod condition;
pub mod goal;
mod grammar;
mod inflect;
mod intent;
mod lesson;
pub mod lexicon;
mod notation;
mod phrases;
pub mod rooms;
pub mod token;
mod visit;

pub use goal::{
    Attribute, AttributeKind, Condition, Destination, Dimension, Goal, Head, Modifier, NounPhrase,
    PlaceRelation, Quantity, Question, Selector, Spatial, Step, TableRegion, Toward,
};
pub use inflect::{inflections, plural};
pub(crate) use intent::read_intent;
pub use lexicon::{Lexicon, singular};
pub use phrases::Phrases;
pub use token::Token;
pub(crate) use visit::things_of;

use grammar::{Parser, resolve_ones};
use prehend_scene::Relation;

/// Most readings that are kept.
const MAX_READINGS: usize = 6;
/// Readings this much dearer than the best are kept: the scene decides between attachments.
const WINDOW: u32 = 0;

/// A sentence that has no meaning the planner knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NotUnderstood {
    /// The words it stumbled over; empty when the sentence is empty.
    pub words: String,
    /// What is not understood and the nearest thing that can be done, or the question that settles it.
    pub message: String,
}

/// Every sensible reading of a sentence, best first; not empty. Several when modifiers can belong to different nouns:
/// grounding in the scene decides.
///
/// Errors: [`NotUnderstood`] when no reading uses every word, when something is missing ("put the cup"), or when it
/// states a condition on what comes later, or an alternative.
pub fn parse(text: &str, lexicon: &Lexicon) -> Result<Vec<Goal>, NotUnderstood> {
    let tokens = lexicon.cleaned(lexicon.tokens(text));
    if tokens.iter().all(|token| token.word().is_empty()) {
        return Err(NotUnderstood {
            words: String::new(),
            message: format!("There are no words in it. {EXAMPLES}"),
        });
    }
    if tokens.len() > token::MAX_TOKENS {
        let message = format!(
            "The sentence is longer than {} words; give me a few steps at a time.",
            token::MAX_TOKENS
        );
        return Err(NotUnderstood { words: String::new(), message });
    }
    if let Some(goal) = condition::until_full(&tokens, lexicon) {
        return Ok(vec![all_of_mass(goal, lexicon)]);
    }
    if let Some(goal) = condition::conditional(&tokens, lexicon) {
        return Ok(vec![all_of_mass(goal, lexicon)]);
    }
    // "I mean" is a filler elsewhere.
    if let Some(goal) = lesson::lesson(&lexicon.tokens(text), lexicon) {
        return Ok(vec![goal]);
    }
    parse_tokens(tokens, lexicon)
}

/// As [`parse`], of a sentence without a condition.
fn parse_tokens(tokens: Vec<Token>, lexicon: &Lexicon) -> Result<Vec<Goal>, NotUnderstood> {
    let parser = Parser::new(&tokens, lexicon);
    let mut readings: Vec<(Result<Goal, String>, u32)> =
        parser.question().into_iter().map(|(goal, cost)| (Ok(goal), cost)).collect();
    readings.extend(parser.sentence().iter().map(|reading| (parser.goal(reading), reading.cost)));
    readings.sort_by_key(|(goal, cost)| (*cost, goal.as_ref().map_or(0, modified_targets)));
    let Some((_, best)) = readings.first() else {
        // "The lemon into the bowl, please": what leads somewhere needs no verb.
        let leads = |token: &Token| ["into", "onto"].contains(&token.word());
        if tokens.iter().any(leads) && tokens.first().is_some_and(|token| token.word() != ELLIPTIC) {
            let put = [Token::Word(ELLIPTIC.to_owned())].into_iter().chain(tokens.iter().cloned());
            if let Ok(goals) = parse_tokens(put.collect(), lexicon) {
                return Ok(goals);
            }
        }
        return Err(stumbled(&tokens, &parser, lexicon));
    };
    let limit = best + WINDOW;
    let mut goals: Vec<Goal> = Vec::new();
    let mut problem = None;
    for (goal, _) in readings.into_iter().take_while(|(_, cost)| *cost <= limit) {
        match goal {
            Ok(mut goal) => {
                resolve_ones(&mut goal, lexicon);
                let goal = all_of_mass(goal, lexicon);
                if !goals.contains(&goal) && goals.len() < MAX_READINGS {
                    goals.push(goal);
                }
            }
            Err(message) => problem = problem.or(Some(message)),
        }
    }
    prefer_actions(&mut goals);
    match (goals.is_empty(), problem) {
        (false, _) => Ok(goals),
        (true, Some(message)) => Err(NotUnderstood { words: String::new(), message }),
        (true, None) => Err(stumbled(&tokens, &parser, lexicon)),
    }
}

/// "Put the fruit in the bowl" means all that is there, as "put the fruits in the bowl" does; what is told apart by where it is or what it
/// is like is one piece.
fn all_of_mass(mut goal: Goal, lexicon: &Lexicon) -> Goal {
    let steps = match &mut goal {
        Goal::Steps(steps) => steps.iter_mut().collect::<Vec<_>>(),
        Goal::Conditional { then, otherwise, .. } => then.iter_mut().chain(otherwise).collect(),
        Goal::Question(_) | Goal::Lesson { .. } => Vec::new(),
    };
    for step in steps {
        let Step::Place { objects, .. } = step else { continue };
        for np in objects.iter_mut().filter(|np| np.quantity == Quantity::One) {
            let is_mass = matches!(&np.head, Head::Noun(noun) if lexicon.list("mass").has_word(noun));
            if is_mass && np.modifiers.is_empty() && np.selectors.is_empty() && np.attributes.is_empty() {
                np.quantity = Quantity::All;
            }
        }
    }
    goal
}

/// What an action takes out of its hold is not meant to be lifted from it: "take the thumbtack out of the board".
fn prefer_actions(goals: &mut Vec<Goal>) {
    let heads = |objects: &[NounPhrase]| objects.iter().map(|np| np.head.clone()).collect::<Vec<_>>();
    let only = |goal: &Goal| match goal {
        Goal::Steps(steps) => match steps.as_slice() {
            [Step::Act { objects, .. }] => Some(heads(objects)),
            _ => None,
        },
        Goal::Question(_) | Goal::Lesson { .. } | Goal::Conditional { .. } => None,
    };
    let acted: Vec<_> = goals.iter().filter_map(only).collect();
    let is_lifted = |goal: &Goal| {
        let Goal::Steps(steps) = goal else { return false };
        matches!(steps.as_slice(), [Step::Place { objects, destination, .. }]
            if destination.relation == PlaceRelation::Known(Relation::Table) && acted.contains(&heads(objects)))
    };
    goals.retain(|goal| !is_lifted(goal));
}

/// How many modifiers the targets of destinations have: attaching to the moved object is the first reading.
fn modified_targets(goal: &Goal) -> usize {
    let Goal::Steps(steps) = goal else { return 0 };
    steps
        .iter()
        .filter_map(|step| match step {
            Step::Place { destination, .. } => {
                Some(destination.targets.iter().map(|np| np.modifiers.len()).sum::<usize>())
            }
            _ => None,
        })
        .sum()
}

/// The verb of a sentence that has none.
const ELLIPTIC: &str = "put";
/// What to say as an example of what can be done.
const EXAMPLES: &str = "Try for example \"put the red mug in the bowl\", \"pick up the largest apple\" or \"where is the spoon?\".";

/// Says where the grammar stumbled and what is nearest.
fn stumbled(tokens: &[Token], parser: &Parser<'_>, lexicon: &Lexicon) -> NotUnderstood {
    let words: Vec<&str> = tokens.iter().map(Token::word).collect();
    let verbless = parser.verbless();
    let near = verbless.unwrap_or_else(|| parser.farthest()).min(tokens.len().saturating_sub(1));
    let from = (near..tokens.len()).find(|index| !words[*index].is_empty()).unwrap_or(0);
    let stumble: Vec<&str> = words[from..].iter().copied().filter(|word| !word.is_empty()).take(3).collect();
    let condition = words.iter().find(|word| lexicon.list("conditions").has_word(word));
    let message = if let Some(condition) = condition {
        format!(
            "I do not plan on this condition (\"{condition}\"). I can look before I begin: \"if there is an apple, put it in the bowl, otherwise the pear\"."
        )
    } else if words.contains(&"or") {
        "I cannot choose between alternatives (\"or\"). Which one shall it be?".to_owned()
    } else if let Some(without) = words.iter().find(|word| lexicon.list("negations").has_word(word)) {
        format!(
            "I do not understand what shall not be (\"{without}\"). Tell me what to do, for example \"put the mug in the bowl\"."
        )
    } else {
        let hint = stumble
            .first()
            .and_then(|word| {
                prehend_config::nearest(word, ["pick", "put", "place", "move", "drop", "where", "take"])
                    .filter(|near| near != word)
            })
            .filter(|_| verbless.is_some())
            .map_or(String::new(), |verb| format!(" Did you mean \"{verb}\"?"));
        format!("I do not understand \"{}\".{hint} {EXAMPLES}", stumble.join(" "))
    };
    NotUnderstood { words: stumble.join(" "), message }
}
