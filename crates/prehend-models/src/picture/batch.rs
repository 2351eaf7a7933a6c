//! Several pictures in as few calls of a model as it allows.

use crate::Session;
use crate::session::{Feed, Numbers, Tensor};
use prehend_perception::InferenceError;

/// Pictures that go into one call of a model whose first axis counts them: all, or as many as its fixed axis says.
pub fn at_once(session: &Session, count: usize) -> usize {
    session.pictures().axes.first().and_then(|axis| axis.fixed()).unwrap_or(count).max(1)
}

/// Runs a model whose first axis counts pictures: one call for all of them, or as many as its fixed axis makes necessary.
/// `numbers` holds `count` pictures of the shape `picture`, one after the other; `beside` goes into every call. Gives the outputs of
/// these names, each with the pictures along its first axis.
///
/// Errors: as [`Session::run`], and [`InferenceError::Output`] when an output does not count pictures.
pub fn run_pictures(
    session: &Session,
    count: usize,
    picture: &[usize],
    mut numbers: Vec<f32>,
    beside: &[Feed<'_>],
    outputs: &[&str],
) -> Result<Vec<Tensor>, InferenceError> {
    let input = session.pictures();
    let at_once = at_once(session, count);
    let length: usize = picture.iter().product();
    // The last call of a model with a fixed batch is filled up with black pictures, whose answers are dropped.
    numbers.resize(count.div_ceil(at_once) * at_once * length, 0.0);
    let shape: Vec<usize> = std::iter::once(at_once).chain(picture.iter().copied()).collect();
    let mut answers: Vec<Tensor> = Vec::new();
    for (call, part) in numbers.chunks_exact(at_once * length).enumerate() {
        let feed = Feed { name: &input.name, shape: &shape, numbers: Numbers::Float(part) };
        let feeds: Vec<Feed<'_>> = std::iter::once(feed).chain(beside.iter().copied()).collect();
        let wanted = (count - call * at_once).min(at_once);
        for (place, mut tensor) in session.run(&feeds, outputs)?.into_iter().enumerate() {
            if tensor.shape.first() != Some(&at_once) {
                return Err(
                    session.wrong_output(&tensor, &format!("one answer for each of {at_once} pictures"))
                );
            }
            tensor.numbers.truncate(tensor.numbers.len() / at_once * wanted);
            tensor.shape[0] = wanted;
            match answers.get_mut(place) {
                None => answers.push(tensor),
                Some(answer) if answer.shape[1..] == tensor.shape[1..] => {
                    answer.shape[0] += wanted;
                    answer.numbers.extend(tensor.numbers);
                }
                Some(answer) => {
                    let expected = format!("of the shape {:?} again", &answer.shape[1..]);
                    return Err(session.wrong_output(&tensor, &expected));
                }
            }
        }
    }
    Ok(answers)
}
