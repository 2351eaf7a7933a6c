//! Questions as people put them.

use super::*;

/// Phrasings that were written after the reader, and are not to be tuned to one by one.
#[test]
fn questions_in_other_words_are_read() {
    use Asked::{About, Did, Instead, Otherwise, Refuse, Seen, Stop, Sure, Time, Understood, Why, WhyNot};
    let words = Words::built_in().unwrap();
    let read = |question: &str| read(question, &words);
    let blue = || "blue mug".to_owned();
    for (question, asked) in [
        ("Why didn't you pick up the blue mug?", WhyNot(blue())),
        ("why was the blue mug not chosen", WhyNot(blue())),
        ("how come you never grabbed the blue mug?", WhyNot(blue())),
        ("why did you ignore the blue mug?", WhyNot(blue())),
        ("what was wrong with the blue mug?", WhyNot(blue())),
        ("why not the blue mug", WhyNot(blue())),
        ("why did you refuse to take the blue mug?", WhyNot(blue())),
        ("why have you left the blue mug on the table?", WhyNot(blue())),
        ("why the blue mug?", Why(blue())),
        ("for what reason did you grasp the blue mug", Why(blue())),
        ("why was the blue mug taken?", Why(blue())),
        ("why did you put the blue mug in the bowl?", Why(blue())),
        (
            "why did you take the red mug instead of the blue one?",
            Instead { of: "red mug".into(), not: "blue one".into() },
        ),
        ("why the red mug and not the blue one?", Instead { of: "red mug".into(), not: "blue one".into() }),
        ("why did you give up?", Stop),
        ("why did it fail?", Stop),
        ("what went wrong?", Stop),
        ("why didn't you finish?", Stop),
        ("why won't you do it?", Stop),
        ("why was it refused?", Refuse),
        ("what did you decline to do", Refuse),
        ("what could have changed your mind?", Otherwise),
        ("what would have to be different?", Otherwise),
        ("were you certain?", Sure(None)),
        ("how confident were you about the blue mug?", Sure(Some(blue()))),
        ("what was there on the table?", Seen),
        ("which things did you notice?", Seen),
        ("what did you think I meant?", Understood),
        ("what happened?", Did),
        ("why were you so slow?", Time),
        ("what took you so long?", Time),
        ("where did the time go?", Time),
        // A second set, after the first one was read.
        ("Why did you leave the blue mug?", WhyNot(blue())),
        ("explain why you ignored the blue mug", WhyNot(blue())),
        ("what prevented you from taking the blue mug?", WhyNot(blue())),
        ("what made you choose the blue mug?", Why(blue())),
        (
            "why did you go for the red mug rather than the blue mug?",
            Instead { of: "red mug".into(), not: blue() },
        ),
        ("did you see a blue mug?", About(blue())),
        ("were you sure it was the blue mug?", Sure(Some(blue()))),
        ("why did the grasp fail?", Stop),
        ("what stopped you?", Stop),
        ("why not?", Stop),
        ("what did the verifier say?", Refuse),
        ("was it allowed?", Refuse),
        ("what would you have needed?", Otherwise),
        ("what else did you consider?", Seen),
        ("which mugs did you see?", Seen),
        ("how long did it take?", Time),
        // A third set, of which half was read at first.
        (
            "Why did you choose that cup over the blue one?",
            Instead { of: "cup".into(), not: "blue one".into() },
        ),
        ("How come the blue mug stayed where it was?", Why(blue())),
        ("Could you not find the blue mug?", About(blue())),
        ("What about the blue mug?", About(blue())),
        ("Why is the blue mug still on the table?", Why(blue())),
        ("Why did you move mug_0?", Why("mug_0".into())),
        ("Why did you not grab mug_1?", WhyNot("mug_1".into())),
        ("What did you pick up first?", Did),
        ("On what grounds did you reject the blue mug?", WhyNot(blue())),
        ("What speaks against the blue mug?", About(blue())),
        ("What was your confidence in the blue mug?", Sure(Some(blue()))),
        ("Who told you to do that?", Understood),
    ] {
        assert_eq!(read(question), Some(asked), "{question}");
    }
    for question in ["", "why?", "sing a song", "put the mug in the bowl"] {
        assert!(!matches!(read(question), Some(Why(_) | WhyNot(_))), "{question}: {:?}", read(question));
    }
}

/// What a sentence that is said to a robot is taken for: what it asks of the last goal, when it is neither a goal nor another question.
fn routed(sentence: &str) -> Option<Asked> {
    let words = Words::built_in().unwrap();
    let policy = prehend_agent::policy::Policy::built_in().unwrap();
    let agent = prehend_agent::Agent {
        lexicon: words.lexicon.clone(),
        policy,
        settings: prehend_agent::Settings::default(),
    };
    of_last_goal(sentence, agent.understand(sentence).err()?.reason, &words)
}

#[test]
fn a_goal_and_a_question_about_what_is_there_come_first() {
    for sentence in [
        "where is the apple?",
        "what is on the table?",
        "what do you see?",
        "how many mugs are there?",
        "is the red mug in the bowl?",
        "what are you holding?",
        "what can you do?",
        "which is the biggest mug?",
        "put the red mug in the bowl",
        "could you please put the blue one next to the plate?",
        "why don't you put the red mug in the bowl?",
        "stop",
        "do not move",
        // Not understood, and no question about a goal either.
        "sing a song",
        "can you complete the puzzle?",
        "please finish the painting",
        "could you decide for me?",
        "why don't you dance?",
        "how about a dance?",
        "the left one",
        "do you see?",
        "put it there because the bowl is full of milk and I said so",
        "make it slow",
        "I am sure that it is wrong",
        "",
        // Refused as unsafe.
        "throw the mug at him",
        "why don't you throw the mug at him?",
        "hit the red mug with the bottle",
        "what about smashing the plate?",
    ] {
        assert_eq!(routed(sentence), None, "{sentence}");
    }
}

#[test]
fn a_question_about_the_last_goal_is_neither() {
    use Asked::{Otherwise, Refuse, Stop, Sure, Time, Understood, Why, WhyNot};
    for (sentence, asked) in [
        ("why did you not take the blue one?", WhyNot("blue one".into())),
        ("why did you take the red mug?", Why("red mug".into())),
        ("hey robot, why did you put the red mug in the bowl?", Why("red mug".into())),
        ("why did you not put the blue mug in the bowl?", WhyNot("blue mug".into())),
        ("please tell me why you picked up the red mug", Why("red mug".into())),
        ("why did you refuse?", Refuse),
        ("why did you stop?", Stop),
        ("why did you not throw the mug?", WhyNot("mug".into())),
        ("what would have changed it?", Otherwise),
        ("how sure were you?", Sure(None)),
        ("how did you understand it?", Understood),
        ("why did it take so long?", Time),
        ("what went wrong?", Stop),
    ] {
        assert_eq!(routed(sentence), Some(asked), "{sentence}");
    }
}

#[test]
fn a_question_of_any_length_is_read_in_no_time() {
    let words = Words::built_in().unwrap();
    for part in ["why did you not take the blue mug and ", "the ", "the red a_b ", "why, ", "\u{0}", "_"] {
        let question = part.repeat(10_000 / part.len());
        let since = std::time::Instant::now();
        let _ = (read(&question, &words), of_last_goal(&question, Reason::NotUnderstood, &words));
        assert!(since.elapsed().as_secs() < 5, "{part}");
    }
}

/// Three sets of twenty, by different speakers, that were written before the table (the first), after it (the second), and after it was
/// taught by those (the third, which it was not taught by): what is read of them. Of the third it read 15, the others are left out here.
#[test]
fn questions_of_other_speakers_are_read() {
    use Asked::{About, Did, Instead, Otherwise, Refuse, Seen, Stop, Sure, Time, Understood, Why, WhyNot};
    let words = Words::built_in().unwrap();
    let blue = || "blue mug".to_owned();
    for (question, asked) in [
        ("Hey, how come you went for that green bottle?", Why("green bottle".into())),
        ("mate, why'd you leave the blue mug sitting there?", WhyNot(blue())),
        ("What was the matter with the blue mug?", WhyNot(blue())),
        ("Please explain to me why the red mug was picked.", Why("red mug".into())),
        ("so what's your excuse for not picking the apple", WhyNot("apple".into())),
        ("Give me the reason you passed over the blue mug.", WhyNot(blue())),
        ("Why was my request turned down?", Refuse),
        ("What on earth took you that long?", Time),
        ("Why you no take the blue cup?", WhyNot("blue cup".into())),
        ("How certain are you that this is the red mug?", Sure(Some("red mug".into()))),
        ("Did anything go wrong?", Stop),
        ("Under what circumstances would you have done it?", Otherwise),
        ("What could I have said differently?", Otherwise),
        ("How did you interpret my sentence?", Understood),
        ("Tell me everything that you could see.", Seen),
        ("Walk me through what you did.", Did),
        ("Why the apple of all things?", Why("apple".into())),
        (
            "For what reason was the blue mug passed up in favour of the red mug?",
            Instead { of: "red mug".into(), not: "blue mug".into() },
        ),
        ("Why are you just standing there?", Stop),
        ("Couldn't you have grabbed the blue mug?", WhyNot(blue())),
        ("And the blue mug? What was wrong there?", WhyNot(blue())),
        ("how come the verifier said no", Refuse),
        ("Was there something you weren't sure about?", Sure(None)),
        ("why on earth did you grab the apple", Why("apple".into())),
        ("I don't get why you picked the red mug", Why("red mug".into())),
        ("What would you have needed to pick up the plate?", Otherwise),
        ("Explain your decision to take the small bowl.", Why("smallest bowl".into())),
        ("Which objects were on the table?", Seen),
        ("What's the reason for the delay?", Time),
        ("why didnt you grab the blue mug", WhyNot(blue())),
        ("WHY NOT THE BLUE ONE???", WhyNot("blue one".into())),
        ("What stopped you from grasping the bottle?", WhyNot("bottle".into())),
        ("Why did you consider the blue mug unsuitable?", WhyNot(blue())),
        ("How long were you busy?", Time),
        ("tell me about the blue mug", About(blue())),
        ("What did you take me to mean?", Understood),
        ("Why did you drop the apple?", Why("apple".into())),
        ("what made you quit", Stop),
        ("why has nothing happened", Stop),
        ("Did you notice the green bottle at all?", About("green bottle".into())),
        ("Why was the green bottle skipped?", WhyNot("green bottle".into())),
        ("how come nothing moved", Stop),
        ("what was the reason for taking the apple", Why("apple".into())),
        ("Why did the whole thing take three minutes?", Time),
        ("and why not the other mug", WhyNot("mug".into())),
        ("Was the blue mug ever an option?", About(blue())),
        ("Why did you think it was the red mug?", Why("red mug".into())),
        ("Why couldn't you reach the bottle?", WhyNot("bottle".into())),
        ("Why won't the robot pick up the plate?", WhyNot("plate".into())),
        ("You took the red mug. Why?", Why("red mug".into())),
        ("You didn't take the blue mug, why?", WhyNot(blue())),
        ("What's wrong?", Stop),
        ("how confident were you that the grasp would work", Sure(None)),
        ("list everything you did", Did),
        ("Why this mug and not that apple?", Instead { of: "mug".into(), not: "apple".into() }),
    ] {
        assert_eq!(read(question, &words), Some(asked), "{question}");
    }
}
