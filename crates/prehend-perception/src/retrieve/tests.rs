use super::*;
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_geometry::{OrientedBox, PointCloud};

fn lexicon() -> Lexicon {
    Lexicon::parse("synonyms.yaml", include_str!("../../../../config/language/synonyms.yaml"))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Any pixel of a colour.
fn pixel(color: &str) -> [u8; 3] {
    match color {
        "red" => [200, 30, 30],
        "green" => [30, 160, 40],
        "blue" => [30, 60, 200],
        "orange" => [230, 120, 20],
        "purple" => [120, 30, 160],
        _ => [128; 3],
    }
}

/// An object from `class:colour:size in cm`; names repeat as they like.
fn map(objects: &[&str]) -> ObjectMap {
    let objects = objects
        .iter()
        .zip(1_u8..)
        .map(|(text, number)| {
            let place = Isometry3::translation(0.3 * f64::from(number), 0.0, 0.0);
            let mut parts = text.split(':');
            let class = parts.next().unwrap().to_owned();
            let color = parts.next().unwrap_or("grey").to_owned();
            let size = parts.next().map_or(5.0, |s| s.parse::<f64>().unwrap()) / 100.0;
            Object {
                class_votes: vec![(class.clone(), 0.9), (String::new(), 0.1)],
                class_name: class,
                confidence: 0.9,
                color: pixel(&color),
                color_fractions: vec![(color, 1.0)],
                view_count: 1,
                ..Object::unnamed(
                    ObjectKey((*text).to_owned()),
                    PointCloud::from_points(
                        [-0.5, 0.5].map(|s| place * Point3::new(s * size, 0.0, 0.0)).to_vec(),
                    ),
                    OrientedBox { pose: place, size: Vector3::repeat(size) },
                )
            }
        })
        .collect();
    ObjectMap { objects, ..ObjectMap::default() }
}

fn keys(objects: &[&str], query: &str, k: usize) -> Vec<String> {
    retrieve(&map(objects), query, k, &lexicon()).matches.into_iter().map(|m| m.key.0).collect()
}

fn check(objects: &[&str], query: &str, expected: &[&str]) {
    let mut found = keys(objects, query, 0);
    let mut expected = expected.to_vec();
    found.sort();
    expected.sort_unstable();
    let all = retrieve(&map(objects), query, 0, &lexicon());
    assert_eq!(found, expected, "{query}: {all:?}");
}

#[test]
fn words_find_what_they_mean() {
    let table = [
        "mug:red",
        "mug:blue",
        "bowl:white",
        "apple:red",
        "banana:yellow",
        "block:blue:3",
        "block:blue:8",
        ":green",
    ];
    check(&table, "red mug", &["mug:red"]);
    check(&table, "the red mug", &["mug:red"]);
    check(&table, "mug", &["mug:red", "mug:blue"]);
    check(&table, "cup", &["mug:red", "mug:blue"]);
    check(&table, "the blue coffee cup", &["mug:blue"]);
    check(&table, "fruit", &["apple:red", "banana:yellow"]);
    check(&table, "fruits", &["apple:red", "banana:yellow"]);
    check(&table, "red fruit", &["apple:red"]);
    check(&table, "blue block", &["block:blue:3", "block:blue:8"]);
    check(&table, "cubes", &["block:blue:3", "block:blue:8"]);
    check(&table, "large blue block", &["block:blue:8"]);
    check(&table, "the smallest cube", &["block:blue:3"]);
    check(&table, "crimson mug", &["mug:red"]);
    check(&table, "the red thing", &["mug:red", "apple:red"]);
    check(&table, "green object", &[":green"]);
    check(&["cup:yellow", "mug:red"], "the cup", &["cup:yellow"]);
    check(&["cup:yellow", "mug:red"], "the red cup", &["mug:red"]);
    check(&["cup:yellow", "mug:red"], "both cups", &["cup:yellow", "mug:red"]);
    check(&table, "stapler", &[]);
    check(&table, "green mug", &[]);
    check(&table, "orange", &[]);
    check(&table, "bananna", &["banana:yellow"]);
    check(&table, "the yellow one", &["banana:yellow"]);
}

#[test]
fn unseen_words_and_multiword_classes() {
    check(&["akita black bowl:black", "plate:white"], "black bowl", &["akita black bowl:black"]);
    check(&["akita black bowl:black", "plate:white"], "akita black bowl", &["akita black bowl:black"]);
    check(&["akita black bowl:black", "bowl:white"], "the white bowl", &["bowl:white"]);
    check(&["duck:yellow", "mug:red"], "rubber duck", &["duck:yellow"]);
    check(&["rubber duck:yellow", "mug:red"], "duck", &["rubber duck:yellow"]);
    check(&["stapler:red"], "stapler", &["stapler:red"]);
    check(&["frobnicator:red", "mug:red"], "the frobnicators", &["frobnicator:red"]);
    check(&["tomato can:red", "tomato:red"], "tomato", &["tomato:red"]);
    check(&["tomato can:red", "tomato:red"], "tomato can", &["tomato can:red"]);
    check(&["tomato can:red"], "tomato", &[]);
    check(&["milk carton:white"], "milk", &["milk carton:white"]);
    check(&["cookies:brown"], "cookies box", &["cookies:brown"]);
    check(&["orange juice:orange", "orange:orange"], "orange", &["orange:orange"]);
    check(&["orange juice:orange", "orange:orange"], "orange juice", &["orange juice:orange"]);
    check(&["tomato sauce:red", "bbq sauce:brown"], "tomato sauce", &["tomato sauce:red"]);
    check(
        &["alphabet soup:red", "tomato sauce:red", "basket:brown"],
        "the alphabet soup",
        &["alphabet soup:red"],
    );
    check(
        &["glazed rim porcelain ramekin:white", "cookies:brown"],
        "ramekin",
        &["glazed rim porcelain ramekin:white"],
    );
    check(&["basket:brown", "apple:red"], "container", &["basket:brown"]);
    check(&["wine bottle:green", "ketchup:red"], "wine bottle", &["wine bottle:green"]);
    check(&["orange:orange", "block:orange"], "orange block", &["block:orange"]);
    check(&["box:brown", "bowl:brown"], "wooden box", &["box:brown"]);
    check(&["knife:grey", "spoon:grey"], "knives", &["knife:grey"]);
}

#[test]
fn the_number_of_keys_varies() {
    let apples = ["apple:red", "apple:green", "apple:yellow", "apple:grey", "apple:pink"];
    assert_eq!(keys(&apples, "apples", 0).len(), 5);
    assert_eq!(keys(&apples, "red apple", 0).len(), 1);
    assert!(keys(&[], "apple", 0).is_empty());
    assert!(keys(&apples, "", 10).len() == 5, "nothing asked, nothing excluded");
}

#[test]
fn rejected_candidates_say_why_nearest_first() {
    let found = retrieve(&map(&["bowl:white", "mug:blue", "banana:yellow"]), "red mug", 0, &lexicon());
    assert!(found.matches.is_empty());
    assert_eq!(found.rejected[0].key.0, "mug:blue");
    assert_eq!(found.rejected[0].reason, "it is blue, not red");
    assert!(found.rejected[1].reason.contains("not mug"), "{found:?}");
    let nameless = retrieve(&map(&["bowl:white", ":blue", "banana:yellow"]), "mug", 0, &lexicon());
    assert_eq!(nameless.rejected[0].key.0, ":blue");
    assert_eq!(nameless.rejected[0].reason, "no view has named it yet");
    assert!(found.rejected.windows(2).all(|w| w[0].similarity >= w[1].similarity));
}

#[test]
fn garbage_is_no_object_and_no_panic() {
    for text in
        ["", "   ", "!!!", "ß", "s", "es", "ies", "'s", "-", "日本語", "the the the", &"x".repeat(10_000)]
    {
        let found = retrieve(&map(&["mug:red"]), text, usize::MAX, &lexicon());
        assert!(found.matches.len() <= 1, "{text}");
    }
}

#[test]
fn a_name_in_doubt_is_believed_when_nothing_else_fits() {
    let mut called_crate = map(&["crate:brown", "apple:red", "jar:white"]);
    called_crate.objects[0].class_votes = vec![("crate".to_owned(), 2.0), ("basket".to_owned(), 1.0)];
    let found = |map: &ObjectMap, query: &str| -> Vec<String> {
        retrieve(map, query, 0, &lexicon()).matches.into_iter().map(|m| m.key.0).collect()
    };
    assert_eq!(found(&called_crate, "basket"), ["crate:brown"]);
    assert_eq!(found(&called_crate, "blue basket"), Vec::<String>::new());
    assert_eq!(found(&called_crate, "banana"), Vec::<String>::new());
    // Another that bears the name is meant instead.
    called_crate.objects[1].class_name = "basket".to_owned();
    called_crate.objects[1].class_votes = vec![("basket".to_owned(), 1.0)];
    assert_eq!(found(&called_crate, "basket"), ["apple:red"]);

    let unnamed = [":purple", "bowl:black", ":green"];
    assert_eq!(keys(&unnamed, "purple block", 0), [":purple"]);
    assert_eq!(keys(&unnamed, "block", 0), Vec::<String>::new());
    assert_eq!(keys(&[":purple", ":purple:9"], "purple block", 0), Vec::<String>::new());
}

#[test]
fn what_looks_just_like_the_one_that_bears_the_name_is_meant_too() {
    let mut table =
        map(&["block:orange:4.8", "cube:orange:4.7", "cube:orange:7", "block:red:4.8", ":orange:4.9"]);
    for object in &mut table.objects {
        object.color = if object.key.0.contains("red") { [200, 30, 30] } else { [230, 120, 20] };
    }
    let found = retrieve(&table, "orange block", 5, &lexicon());
    let mut keys: Vec<&str> = found.matches.iter().map(|m| m.key.0.as_str()).collect();
    keys.sort_unstable();
    assert_eq!(keys, [":orange:4.9", "block:orange:4.8", "cube:orange:4.7"], "{found:?}");
}

#[test]
fn what_touches_the_one_that_bears_the_name_may_be_a_part_of_it() {
    let mut halves = map(&["mug:red:5", "cup:red:5"]);
    halves.objects[1].cloud =
        PointCloud::from_points(vec![Point3::new(0.33, 0.0, 0.0), Point3::new(0.38, 0.0, 0.0)]);
    let found = retrieve(&halves, "red mug", 0, &lexicon());
    assert_eq!(found.matches.len(), 1, "{found:?}");
}

#[test]
fn a_name_that_views_dispute_is_in_doubt() {
    let doubtful = |votes: &[(&str, f64)], query: &str| {
        let mut map = map(&["mug:red", "bowl:white"]);
        map.objects[0].class_votes =
            votes.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect();
        map.objects[0].class_name = votes[0].0.to_owned();
        retrieve(&map, query, 0, &lexicon()).doubtful.len()
    };
    assert_eq!(doubtful(&[("mug", 0.6), ("jar", 0.3)], "mug"), 1, "it may be a jar");
    assert_eq!(doubtful(&[("jar", 0.6), ("mug", 0.3)], "mug"), 1, "it may be a mug");
    assert_eq!(doubtful(&[("jar", 0.6), ("mug", 0.3)], "bowl"), 0, "whatever it is, it is no bowl");
    assert_eq!(doubtful(&[("mug", 0.9), ("jar", 0.1)], "mug"), 0, "one view of ten does not count");
    assert_eq!(doubtful(&[("mug", 0.9)], "mug"), 0);
    // What no view has named may be anything, when nothing else is what is asked for.
    assert_eq!(doubtful(&[("", 0.9)], "plate"), 1);
    assert_eq!(doubtful(&[("", 0.9)], "bowl"), 0);
}

#[test]
fn a_word_that_something_bears_is_no_misspelling() {
    check(&["bell:grey", "ball:white"], "desk bell", &["bell:grey"]);
    check(&["bell:grey", "ball:white"], "bell", &["bell:grey"]);
    check(&["bottel:green", "ball:white"], "ball", &["ball:white"]);
    // Nothing is called so: the one that is spelled nearly like it is meant.
    check(&["box:grey", "ball:white"], "bell", &["ball:white"]);
}

#[test]
fn a_color_that_belongs_to_the_name_says_nothing_of_the_thing() {
    let things = ["cream cheese:blue", "basket:brown", "butter:yellow"];
    check(&things, "cream cheese box", &["cream cheese:blue"]);
    check(&things, "cream cheese", &["cream cheese:blue"]);
    check(&["mug:blue"], "cream mug", &[]);
}

#[test]
fn of_two_colors_one_may_be_that_of_a_small_part() {
    let mut map = map(&["mug:white", "mug:white:6", "mug:red"]);
    map.objects[1].color_fractions = vec![("white".to_owned(), 0.9), ("yellow".to_owned(), 0.05)];
    let keys = |map: &ObjectMap, query: &str| -> Vec<String> {
        retrieve(map, query, 0, &lexicon()).matches.into_iter().map(|m| m.key.0).collect()
    };
    assert_eq!(keys(&map, "yellow and white mug"), ["mug:white:6"]);
    assert_eq!(keys(&map, "yellow mug"), [""; 0], "it is hardly yellow");
    assert_eq!(keys(&map, "white mug"), ["mug:white"], "the plain one is meant");
    assert_eq!(keys(&map, "white mugs").len(), 2);
    map.objects.remove(0);
    assert_eq!(keys(&map, "white mug"), ["mug:white:6"], "when there is no plain one");
}

/// A thing without a vivid colour of its own is called by that of its part, unless another one is all of that colour.
#[test]
fn the_red_button_is_the_one_with_the_red_cap() {
    let colored = |colors: &[(&str, f64)]| -> Vec<(String, f64)> {
        colors.iter().map(|(word, share)| ((*word).to_owned(), *share)).collect()
    };
    let cap = [("grey", 0.81), ("red", 0.19)];
    let found = |things: &[&str], first: &[(&str, f64)], query: &str| {
        let mut map = map(things);
        map.objects[0].color_fractions = colored(first);
        let found = retrieve(&map, query, 0, &lexicon());
        found.matches.into_iter().map(|found| found.key.0).collect::<Vec<_>>()
    };
    let one = ["button:grey", "apple:red"];
    assert_eq!(found(&one, &cap, "red button"), ["button:grey"]);
    assert_eq!(found(&one, &cap, "red buttons"), ["button:grey"]);
    assert_eq!(found(&one, &cap, "blue button"), [""; 0]);
    assert_eq!(found(&one, &[("grey", 0.95), ("red", 0.04)], "red button"), [""; 0], "a neighbour's border");
    assert_eq!(found(&one, &[("red", 0.85), ("green", 0.12)], "green button"), [""; 0], "it is red");
    assert_eq!(found(&["button:grey", "button:red"], &cap, "red button"), ["button:red"]);
    assert_eq!(found(&["button:grey", "button:blue"], &cap, "red button"), ["button:grey"]);
}

/// What a detector once took for a bell is no second bell; alone it may be the bell, and two that are sure are two.
#[test]
fn what_hardly_a_view_calls_so_is_no_rival() {
    let lexicon = lexicon();
    let found = |votes: [&[(&str, f64)]; 2]| {
        let mut map = map(&["bell:grey", "bell:brown"]);
        for (object, votes) in map.objects.iter_mut().zip(votes) {
            object.class_votes = votes.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect();
        }
        retrieve(&map, "bell", 0, &lexicon).matches.len()
    };
    let sure: &[(&str, f64)] = &[("bell", 22.4), ("", 4.4), ("bowl", 1.5)];
    let glimpse: &[(&str, f64)] = &[("", 0.35), ("bell", 0.22)];
    let misnamed: &[(&str, f64)] = &[("", 2.5), ("bell", 0.4), ("apple", 0.3), ("drawer", 0.2)];
    assert_eq!(found([sure, glimpse]), 1);
    assert_eq!(found([sure, misnamed]), 1);
    let was_inside: &[(&str, f64)] = &[("bell", 36.0), ("drawer", 33.0), ("", 19.0)];
    assert_eq!(found([was_inside, misnamed]), 1, "what it is called now counts");
    assert_eq!(found([sure, &[("bell", 0.7), ("", 0.3)]]), 2, "one good view of a second one");
    assert_eq!(found([sure, &[("bell", 1.4), ("", 1.9)]]), 2, "many middling views");
    assert_eq!(found([glimpse, glimpse]), 2);
}

/// What one view from afar half believes beside what is sure is no match yet, but more views could make it one; what many views did
/// not call so is settled.
#[test]
fn what_was_hardly_seen_is_open() {
    let lexicon = lexicon();
    let open = |votes: &[(&str, f64)]| {
        let mut map = map(&["apple:red", "apple:green"]);
        map.objects[0].class_votes = vec![("apple".to_owned(), 1.9)];
        map.objects[1].class_votes =
            votes.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect();
        let found = retrieve(&map, "apple", 0, &lexicon);
        assert_eq!(found.matches.len(), 1, "{votes:?}");
        found.doubtful.iter().map(|key| key.0.clone()).collect::<Vec<_>>()
    };
    assert_eq!(open(&[("apple", 0.4), ("", 0.5)]), ["apple:green"]);
    assert_eq!(open(&[("apple", 0.4), ("", 2.5)]), [""; 0]);
}
