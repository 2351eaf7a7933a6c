//! Views as a model is shown them: with a number on each thing (Affordance RAG IV-A.1, visual prompting with set of marks).

use super::looks::NewView;
use prehend_drawing::overlay::{Annotation, PALETTE, annotate};
use prehend_memory::Action;
use prehend_perception::MarkedView;
use prehend_perception::affordances::MarkedThing;

/// A view with numbers on at most so many of its things, those that fill most of the picture; and which of the look's things they are,
/// in the order of their numbers. `None` when there is no picture, or nothing in it.
pub(super) fn marked(view: &NewView, most: usize) -> Option<(MarkedView, Vec<usize>)> {
    let NewView { look, picture, masks } = view;
    let picture = picture.as_ref()?;
    let mut shown: Vec<usize> = (0..look.seen.len().min(masks.len())).collect();
    shown.sort_by(|a, b| look.seen[*b].share.total_cmp(&look.seen[*a].share).then(a.cmp(b)));
    shown.truncate(most);
    shown.sort_unstable();
    if shown.is_empty() {
        return None;
    }
    let marks: Vec<Annotation> = shown
        .iter()
        .enumerate()
        .map(|(index, seen)| Annotation {
            label: (index + 1).to_string(),
            color: PALETTE[index % PALETTE.len()],
            mask: Some(masks[*seen].clone()),
            ..Annotation::default()
        })
        .collect();
    let mut marked = picture.clone();
    annotate(&mut marked, &marks);
    let things = shown.iter().map(|index| {
        let seen = &look.seen[*index];
        MarkedThing {
            name: seen.name.clone(),
            color: seen.colors.first().map_or_else(String::new, |(color, _)| color.clone()),
            size: seen.place.size,
        }
    });
    let things = things.collect();
    let affordances = Action::ALL.map(|(_, name)| name.to_owned()).to_vec();
    Some((MarkedView { picture: picture.clone(), marked, things, affordances }, shown))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::looks::tests::new_view;

    #[test]
    fn the_largest_things_have_numbers_in_the_order_of_the_look() {
        let view = new_view(&[("fork", 0.01), ("table", 0.5), ("mug", 0.05)]);
        let (question, shown) = marked(&view, 2).unwrap_or_else(|| panic!("nothing is shown"));
        assert_eq!(shown, [1, 2]);
        let names: Vec<&str> = question.things.iter().map(|thing| thing.name.as_str()).collect();
        assert_eq!(names, ["table", "mug"]);
        assert_eq!(question.affordances, ["pick", "place", "open", "close", "press"]);
        let changed = |index: usize| {
            let mask = &view.masks[index];
            mask.indices().into_iter().any(|at| question.picture.pixels[at] != question.marked.pixels[at])
        };
        assert!(changed(1) && changed(2), "both are outlined");
        assert_eq!(Some(&question.picture), view.picture.as_ref());
        assert!(marked(&NewView { picture: None, ..view }, 2).is_none());
        assert!(marked(&new_view(&[]), 2).is_none());
    }
}
