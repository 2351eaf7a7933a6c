//! "If there is a banana, put it in the bowl, otherwise the apple": what is done depends on what is seen before anything moves.
//!
//! A condition is a question with yes or no for an answer; it is read by the grammar of questions, with its words in a question's order.
//! Conditions about what comes later ("until the bowl is full", "when you are done") are not read.

use super::goal::{Condition, Goal, Head, NounPhrase, Quantity, Question, Step};
use super::grammar::{Parser, replace_pronoun, resolve_ones};
use super::lexicon::Lexicon;
use super::token::Token;

/// "Put apples in the bowl until it is full": as many as there is room for. `None` when the sentence ends otherwise, or what is to be full is
/// not what things are put into.
pub(super) fn until_full(tokens: &[Token], lexicon: &Lexicon) -> Option<Goal> {
    let is = |position: usize, word: &str| tokens.get(position).is_some_and(|token| token.word() == word);
    let begin = (1..tokens.len()).rev().find(|position| is(*position, "until") || is(*position, "till"))?;
    let asked = without_marks(&tokens[begin + 1..]);
    let (last, named) = asked.split_last().filter(|(last, _)| last.word() == "full")?;
    let (copula, named) = named.split_last().filter(|_| !last.word().is_empty())?;
    if !lexicon.list("becoming").has_word(copula.word()) {
        return None;
    }
    let full = Parser::new(named, lexicon).whole_list()?;
    let main = without_marks(&tokens[..begin]);
    // "Keep putting" is "put".
    let kept = usize::from(is(0, "keep")) + usize::from(is(0, "keep") && is(1, "on"));
    let mut main = main.get(kept..)?.to_vec();
    let verb = lexicon.verbs.at(&main, 0).map(|(_, verb)| verb.lemma.clone()).next();
    if let Some(verb) = verb.filter(|_| kept > 0) {
        main[0] = Token::Word(verb);
    }
    let mut steps = steps(&main, lexicon)?;
    let Some(Step::Place { objects, destination, .. }) = steps.last_mut() else { return None };
    let fits = full.iter().all(|np| {
        matches!(np.head, Head::It | Head::Them)
            || destination.targets.iter().any(|target| target.head == np.head)
    });
    if !fits || destination.targets.is_empty() {
        return None;
    }
    destination.until_full = true;
    // "Blocks" and "the blocks" are as many as there are.
    objects.iter_mut().filter(|np| np.quantity == Quantity::Any).for_each(|np| np.quantity = Quantity::All);
    Some(Goal::Steps(steps))
}

/// The reading of a sentence that begins or ends with a condition; `None` when there is none, or a part of it is not understood.
pub(super) fn conditional(tokens: &[Token], lexicon: &Lexicon) -> Option<Goal> {
    let is = |position: usize, word: &str| tokens.get(position).is_some_and(|token| token.word() == word);
    // The words before it may be an address or a greeting.
    let opened = (0..tokens.len().min(4)).find(|position| is(*position, "if") || is(*position, "unless"));
    if let Some(begin) = opened
        && Parser::new(&tokens[..begin], lexicon).is_idle()
    {
        let (rest, otherwise) = split_otherwise(&tokens[begin + 1..], lexicon);
        // The condition ends at a mark or "then"; without one it takes what it can.
        let ends_it = |end: &usize| rest[*end].word().is_empty() || rest[*end].word() == "then";
        let (marked, bare): (Vec<usize>, Vec<usize>) = (2..rest.len()).partition(ends_it);
        return marked.into_iter().chain(bare.into_iter().rev()).find_map(|end| {
            let (asked, told) = rest.split_at(end);
            let told = without_joint(told)?;
            build(is(begin, "unless"), asked, told, otherwise, lexicon)
        });
    }
    let (main, otherwise) = split_otherwise(tokens, lexicon);
    let middle = (1..main.len()).rev().find(|position| {
        let word = main[*position].word();
        word == "if" || word == "unless"
    })?;
    let told = without_marks(&main[..middle]);
    build(is(middle, "unless"), &main[middle + 1..], told, otherwise, lexicon)
}

/// The sentence before "otherwise", and what comes after it.
fn split_otherwise<'t>(tokens: &'t [Token], lexicon: &Lexicon) -> (&'t [Token], Option<&'t [Token]>) {
    let joints = lexicon.list("otherwise");
    let joint = (1..tokens.len())
        .find_map(|position| joints.longest(tokens, position).map(|length| (position, position + length)));
    match joint {
        Some((begin, end)) => (without_marks(&tokens[..begin]), Some(trimmed(&tokens[end..]))),
        None => (tokens, None),
    }
}

/// What follows a condition: after a comma or "then", or at once with a verb.
fn without_joint(tokens: &[Token]) -> Option<&[Token]> {
    let rest = trimmed(tokens);
    let rest = match rest.first() {
        Some(token) if token.word() == "then" => trimmed(&rest[1..]),
        _ => rest,
    };
    (!rest.is_empty()).then_some(rest)
}

fn trimmed(tokens: &[Token]) -> &[Token] {
    let begin = tokens.iter().position(|token| !token.word().is_empty()).unwrap_or(tokens.len());
    &tokens[begin..]
}

fn without_marks(tokens: &[Token]) -> &[Token] {
    let end = tokens.iter().rposition(|token| !token.word().is_empty()).map_or(0, |last| last + 1);
    &tokens[..end]
}

fn build(
    negated: bool,
    asked: &[Token],
    told: &[Token],
    otherwise: Option<&[Token]>,
    lexicon: &Lexicon,
) -> Option<Goal> {
    let mut then = steps(told, lexicon)?;
    let (mut question, no) = question(without_marks(asked), lexicon)?;
    let mut otherwise = match otherwise {
        Some(tokens) => steps(tokens, lexicon)
            .or_else(|| same_with(&then, tokens, lexicon))
            .or_else(|| same_there(&then, tokens, lexicon))?,
        None => Vec::new(),
    };
    // "it" is what the condition speaks of; in the condition, where or what something was to be put.
    let spoken = match &mut question {
        Question::Exists(np) => {
            // "if there is one" after the command.
            if np.head == Head::Noun("one".to_owned())
                && let Some(object) = then.iter().find_map(|step| objects_of(step)?.first())
            {
                np.head = object.head.clone();
            }
            let several = told.iter().any(|token| ["them", "these", "those"].contains(&token.word()));
            let quantity = if several { Quantity::All } else { np.quantity };
            Some(NounPhrase { quantity, ..np.clone() })
        }
        Question::Is { subject, .. } => {
            if matches!(subject.head, Head::It | Head::Them) {
                *subject = spoken_of(&then)?;
            }
            Some(subject.clone())
        }
        _ => None,
    };
    if let Some(np) = &spoken {
        then.iter_mut().take(1).for_each(|step| replace_pronoun(step, np));
    }
    // In the other case the place is still the one that was named.
    let place = then.iter().find_map(|step| match step {
        Step::Place { destination, .. } => destination.targets.first(),
        _ => None,
    });
    if let Some(place) = place.or(spoken.as_ref()).cloned() {
        otherwise.iter_mut().take(1).for_each(|step| replace_pronoun(step, &place));
    }
    let condition = Condition { question, negated: negated != no };
    let mut goal = Goal::Conditional { condition, then, otherwise };
    resolve_ones(&mut goal, lexicon);
    Some(goal)
}

/// The steps of a sentence; `None` when it asks something, or is not understood.
fn steps(tokens: &[Token], lexicon: &Lexicon) -> Option<Vec<Step>> {
    // Cheapest first.
    let parser = Parser::new(tokens, lexicon);
    match parser.goal(parser.sentence().first()?) {
        Ok(Goal::Steps(steps)) => Some(steps),
        _ => None,
    }
}

/// "otherwise the apple": the same step with other objects.
fn same_with(then: &[Step], tokens: &[Token], lexicon: &Lexicon) -> Option<Vec<Step>> {
    let [step] = then else { return None };
    let others = Parser::new(tokens, lexicon).whole_list()?;
    let mut step = step.clone();
    match &mut step {
        Step::Place { objects, .. } | Step::Pick { objects, .. } | Step::Act { objects, .. } => {
            *objects = others
        }
        _ => return None,
    }
    Some(vec![step])
}

/// "else put the apple there": the place is the one that was named.
fn same_there(then: &[Step], tokens: &[Token], lexicon: &Lexicon) -> Option<Vec<Step>> {
    let tokens = without_marks(tokens);
    let (last, rest) = tokens.split_last().filter(|(last, _)| ["there", "instead"].contains(&last.word()))?;
    let (verb, objects) = rest.split_first()?;
    let is_verb = lexicon.verbs.has_word(verb.word());
    let objects = if is_verb { objects } else { rest };
    same_with(then, objects, lexicon).filter(|_| !last.word().is_empty())
}

/// What a step moves or acts on.
fn objects_of(step: &Step) -> Option<&Vec<NounPhrase>> {
    match step {
        Step::Place { objects, .. } | Step::Pick { objects, .. } | Step::Act { objects, .. } => Some(objects),
        _ => None,
    }
}

/// What "it" in a condition after the command is: the place, else the thing.
fn spoken_of(then: &[Step]) -> Option<NounPhrase> {
    then.iter().find_map(|step| match step {
        Step::Place { objects, destination, .. } => {
            destination.targets.first().or_else(|| objects.first()).cloned()
        }
        other => objects_of(other)?.first().cloned(),
    })
}

/// A condition as a question, and whether its answer must be no ("there is no banana").
fn question(tokens: &[Token], lexicon: &Lexicon) -> Option<(Question, bool)> {
    let words: Vec<&str> = tokens.iter().map(Token::word).collect();
    let word = |text: &str| Token::Word(text.to_owned());
    let ask = |asked: Vec<Token>| {
        Parser::new(&asked, lexicon).question().into_iter().find_map(|(goal, _)| match goal {
            Goal::Question(question @ (Question::Exists(_) | Question::Is { .. })) => Some(question),
            _ => None,
        })
    };
    if let Some(opening) = lexicon.list("condition_there").longest(tokens, 0) {
        let mut rest = &tokens[opening..];
        if rest.first().is_some_and(|token| token.word() == "still") {
            rest = &rest[1..];
        }
        let no = rest.first().is_some_and(|token| token.word() == "no");
        let no = no || rest.first().is_some_and(|token| token.word() == "not");
        let phrase = if no { &rest[1..] } else { rest };
        let mut asked = vec![word("is"), word("there")];
        if no && !phrase.first().is_some_and(|token| ["a", "an", "any"].contains(&token.word())) {
            asked.push(word("a"));
        }
        asked.extend(phrase.iter().cloned());
        return ask(asked).map(|question| (question, no));
    }
    // "the bowl is empty" is asked as "is the bowl empty".
    (1..tokens.len()).filter(|place| ["is", "are"].contains(&words[*place])).find_map(|place| {
        let mut predicate = &tokens[place + 1..];
        let no = predicate.first().is_some_and(|token| token.word() == "not");
        if no {
            predicate = &predicate[1..];
        }
        let mut asked = vec![tokens[place].clone()];
        asked.extend(tokens[..place].iter().cloned());
        asked.extend(predicate.iter().cloned());
        ask(asked).map(|question| (question, no))
    })
}
