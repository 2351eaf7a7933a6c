//! On traces of real runs: `tests/runs` of this crate. Some are of a version that told less.

use super::*;
use serde_json::json;

fn fixture(name: &str) -> String {
    let path = format!("{}/tests/runs/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn told(trace: &str, result: &Value) -> Explanation {
    explain(trace, result, &Words::built_in().unwrap())
}

fn of(name: &str) -> Explanation {
    told(&fixture(name), &Value::Null)
}

fn ask(name: &str, question: &str) -> Answer {
    answer(&of(name), question, &Words::built_in().unwrap())
}

/// The answer to a question must have each of the words.
fn check(name: &str, question: &str, words: &[&str]) {
    let said = ask(name, question).said.join(" ");
    for word in words {
        assert!(said.contains(word), "{question}: no \"{word}\" in: {said}");
    }
}

fn decisive(explained: &Explanation) -> &Decision {
    &explained.decisions[explained.decisive.unwrap()]
}

#[test]
fn a_refusal_by_the_verifier_has_its_rules_numbers_and_the_other_side() {
    let explained = of("refused");
    let decision = decisive(&explained);
    assert_eq!(decision.kind, Kind::Verdict);
    assert_eq!(decision.came, Came::Badly);
    assert_eq!(decision.because.len(), 3, "{decision:#?}");
    let number = |name: &str| decision.numbers.iter().find(|number| number.name == name).unwrap();
    assert_eq!(number("uncertain name: confidence").limit, Some(0.99));
    assert_eq!(number("v").limit, Some(0.99));
    assert_eq!(number("v").holds, Some(false));
    let otherwise = decision.otherwise.join("; ");
    assert!(otherwise.contains("0.99 of the votes or more for \"mug\""), "{otherwise}");
    assert!(otherwise.contains("accepted with") || otherwise.contains("no single number"), "{otherwise}");
    assert!(!explained.not_recorded.iter().any(|one| one.contains("limits")), "{:?}", explained.not_recorded);
    let evidence = explained.decisions.iter().find(|one| one.kind == Kind::Evidence).unwrap();
    assert!(
        evidence.because[0].starts_with("geometry (for omega): 1 record(s) more; omega 0."),
        "{evidence:#?}"
    );
    assert_eq!(evidence.came, Came::Badly);
}

#[test]
fn what_an_older_trace_does_not_tell_is_said_to_be_not_recorded() {
    let explained = of("pushed");
    let verdict = explained.decisions.iter().find(|one| one.kind == Kind::Verdict).unwrap();
    assert!(verdict.otherwise.is_empty(), "{verdict:#?}");
    check("pushed", "what would have changed it?", &["would have meant"]);
    assert!(
        explained.not_recorded.iter().any(|one| one.contains("limits of the commit rule")),
        "{explained:#?}"
    );
    let v = verdict.numbers.iter().find(|number| number.name == "v").unwrap();
    assert_eq!((v.limit, v.holds), (None, None));
}

#[test]
fn a_choice_has_what_was_not_taken_and_the_words_that_would_have_meant_it() {
    let explained = of("pushed");
    let choice = explained.decisions.iter().find(|one| one.kind == Kind::Choice).unwrap();
    assert_eq!(choice.objects.len(), 1);
    assert!(choice.rejected.iter().any(|one| one.would_be.as_deref() == Some("blue mug")), "{choice:#?}");
    let explained = of("ambiguous");
    let choice = explained.decisions.iter().find(|one| one.what.starts_with("took \"blue mug\"")).unwrap();
    assert!(choice.times > 1, "one decision for the same words after the next look: {choice:#?}");
    assert_eq!(decisive(&explained).otherwise.len(), 2, "two apples of two colours are told apart");
}

#[test]
fn each_end_is_traced_to_its_decision() {
    for (name, kind, words) in [
        ("ambiguous", Kind::Choice, "\"apple\" can mean"),
        ("unknown_word", Kind::Choice, "nothing seen is \"jug\""),
        ("unsafe", Kind::Reading, "breaks the safety rule hitting"),
        ("refused", Kind::Verdict, "the verifier refused: grasp"),
    ] {
        let explained = of(name);
        let decision = decisive(&explained);
        assert_eq!(decision.kind, kind, "{name}");
        assert!(decision.what.contains(words), "{name}: {}", decision.what);
        assert_eq!(decision.came, Came::Badly, "{name}");
        assert!(!decision.otherwise.is_empty(), "{name}");
    }
    assert_eq!(of("pushed").decisive, None, "it was done in the end");
}

#[test]
fn a_grasp_that_slipped_and_its_repetition_are_told() {
    let explained = of("pushed");
    let motions: Vec<&Decision> = explained.decisions.iter().filter(|one| one.kind == Kind::Motion).collect();
    let slipped = motions.iter().find(|one| one.came == Came::Badly).unwrap();
    assert!(
        slipped.what.contains("did not work") && slipped.what.contains("nothing is between the pads"),
        "{slipped:#?}"
    );
    assert!(
        slipped.because[0].contains("approach (") && slipped.because[0].contains("by permit"),
        "{slipped:#?}"
    );
    assert!(
        motions.iter().any(|one| one.came == Came::Well && one.what.starts_with("grasp")),
        "{motions:#?}"
    );
    assert!(explained.times.iter().any(|(what, seconds)| what == "motion: transit" && *seconds > 1.0));
}

#[test]
fn sizes_that_were_compared_are_one_decision() {
    let explained = of("biggest");
    let compared = explained.decisions.iter().find(|one| one.what == "compared by size_of").unwrap();
    assert_eq!(compared.numbers.len(), 9);
    check("biggest", "why did you not take the plate?", &["number 2 of 9", "bowl_0 0.130 m"]);
}

#[test]
fn a_trace_that_is_cut_off_or_broken_is_explained_as_far_as_it_goes() {
    let whole = fixture("pushed");
    for cut in [whole.len() / 3, whole.len() / 2, whole.len() - 30] {
        let explained = told(&whole[..cut], &Value::Null);
        assert!(explained.not_recorded[0].contains("cut off"), "{:?}", explained.not_recorded);
        assert!(explained.not_recorded.iter().any(|one| one.contains("no end of the goal")));
        assert!(explained.ending.is_none() && !explained.decisions.is_empty());
        let words = Words::built_in().unwrap();
        assert!(answer(&explained, "why did you stop?", &words).said[0].contains("not recorded"));
        assert!(text(&explained).contains("cut off"));
    }
    let lines: Vec<&str> = whole.lines().collect();
    let broken = format!("{}\n{{not json\n[]\n{{\"t\":\"x\"}}\n{}", lines[0], lines[1..].join("\n"));
    let explained = told(&broken, &Value::Null);
    assert!(
        explained.not_recorded[0].starts_with("3 line(s) of the trace cannot be read"),
        "{:?}",
        explained.not_recorded
    );
    assert_eq!(explained.decisions, of("pushed").decisions);
    for nothing in ["", "\n\n", "\u{0}\u{1}"] {
        assert!(told(nothing, &Value::Null).not_recorded.iter().any(|one| one.contains("no event")));
    }
}

#[test]
fn of_several_goals_the_last_is_explained() {
    // As a graph that is kept tells them: one clock.
    let both = format!("{}\n{}", fixture("unsafe"), fixture("refused"));
    let explained = told(&both, &Value::Null);
    let alone = of("refused");
    assert_eq!((&explained.goal, &explained.decisions), (&alone.goal, &alone.decisions));
    assert!(explained.not_recorded[0].starts_with("1 earlier goal"), "{:?}", explained.not_recorded);
}

#[test]
fn a_result_tells_what_the_trace_does_not() {
    let result =
        json!({"goal": "g", "outcome": "failed", "reason": "timeout", "message": "m", "physics_ok": false});
    let explained = told("", &result);
    assert_eq!(explained.goal.as_deref(), Some("g"));
    assert_eq!(explained.ending.unwrap().reason.as_deref(), Some("timeout"));
    assert_eq!(told(&fixture("pushed"), &json!({"physics_ok": true})).ending.unwrap().physics_ok, Some(true));
}

#[test]
fn questions_are_answered_from_the_trace() {
    check(
        "pushed",
        "why did you not take the blue one?",
        &["mug_0", "it is blue, not red", "\"blue mug\" would have meant it"],
    );
    check(
        "pushed",
        "why did you take the red mug?",
        &["took \"red mug\" for", "similarity", "evidence about", "permitted"],
    );
    check("pushed", "what did you see?", &["bowl_0", "plate_0"]);
    check("pushed", "why did it take so long?", &["motion: ", "did not work"]);
    check("pushed", "how sure were you?", &["omega", "similarity"]);
    check("pushed", "did you refuse anything?", &["refused nothing"]);
    check("pushed", "why did you stop?", &["it was done", "On the way"]);
    check("pushed", "what did you do?", &["Grasp", "did not work"]);
    check("pushed", "how did you understand it?", &["place(the red mug -> in the bowl)"]);
    check("refused", "why did you refuse?", &["0.99 is needed", "What would have changed it"]);
    check("refused", "what would have changed it?", &["uncertain name", "needs 0.99 of the votes"]);
    check("ambiguous", "why did you stop?", &["ambiguous", "can mean"]);
    check("ambiguous", "why not the apple?", &["one of several"]);
    check(
        "drawer",
        "why did you not open the other drawer?",
        &["one of several", "I acted on object_0", "+side top"],
    );
    check("pushed", "why not the other mug?", &["it is blue, not red"]);
    check("pushed", "why did you not take mug_0?", &["it is blue, not red"]);
    check(
        "too_wide",
        "why did you not take the red box?",
        &["could not take it", "the gripper grasps 78 mm"],
    );
    check("refused", "why did you not take the red mug?", &["could not take it", "needs 0.99 of the votes"]);
    check("unsafe", "why didn't you take the bottle?", &["had not looked", "safety rule hitting"]);
    check("unknown_word", "why did you refuse?", &["jug"]);
    check("pushed", "why did you not take the banana?", &["Nothing that I saw is \"banana\"", "bowl_0"]);
}

#[test]
fn what_cannot_be_answered_says_what_can() {
    assert_eq!(ask("pushed", "sing a song").asked, None);
    let answer = ask("pushed", "who are you?");
    assert_eq!(answer.asked, None);
    assert!(answer.said[0].contains("why did you refuse?"));
}

#[test]
fn a_page_needs_no_network_and_texts_are_texts() {
    let mut trace = fixture("pushed");
    trace = trace.replace(
        "put the red mug in the bowl",
        "put <script>alert(1)</script> & \\\"it\\\" http://x.example",
    );
    let explained = told(&trace, &json!({"physics_ok": true}));
    let key = explained.seen[0].key.clone();
    let pictures = [
        Picture { caption: "the <camera>".into(), of: None, decision: None, png: vec![1, 2, 3] },
        Picture { caption: "a thing".into(), of: Some(key), decision: None, png: vec![4, 5, 6] },
    ];
    let words = Words::built_in().unwrap();
    let asked = answer(&explained, "why did you not take the <b>blue</b> one?", &words);
    let html = page(&explained, Some(&asked), &pictures);
    assert!(!html.contains("<script") && !html.contains("<b>blue") && html.contains("&lt;script&gt;"));
    assert!(html.contains("name=\"viewport\"") && html.contains("prefers-color-scheme:dark"));
    for outside in ["src=\"http", "href=\"http", "url(http", "@import", "<link", "src=\"/", "<iframe"] {
        assert!(!html.contains(outside), "{outside}");
    }
    for source in html.split("src=\"").skip(1).chain(html.split("url(").skip(1)) {
        assert!(source.starts_with("data:image/png;base64,"), "{}", &source[..40]);
    }
    assert!(
        html.contains("src=\"data:image/png;base64,AQID\"")
            && html.contains("url(data:image/png;base64,BAUG)")
    );
    let sections = explained.decisions.len() + 1;
    assert_eq!(html.matches("<section").count(), sections);
    assert_eq!(html.matches("</section>").count(), sections);
}

#[test]
fn the_text_is_of_one_screen() {
    for name in ["pushed", "refused", "ambiguous", "unknown_word", "unsafe", "biggest"] {
        let said = text(&of(name));
        assert!(said.lines().count() <= 60, "{name}: {} lines\n{said}", said.lines().count());
    }
}

/// The refused run, with the plan that a newer version tells before it asks the verifier.
fn refused_with_plan() -> String {
    let hand = |x: f64| json!({"position": [x, 0.1, 0.1], "rotation": [1.0, 0.0, 0.0, 0.0], "opening": 0.05});
    let mut missed = hand(0.41);
    missed["missed"] = json!("outside the workspace");
    let plan = json!({"object": "mug_0", "skill": "grasp", "chosen": hand(0.4),
        "candidates": [missed, hand(0.4), hand(0.42)], "joints": []});
    let lines = fixture("refused").lines().map(str::to_owned).collect::<Vec<_>>();
    let mut told = Vec::new();
    for line in lines {
        let event: Value = serde_json::from_str(&line).unwrap();
        told.push(line);
        if event["name"] == "grasp/candidates" {
            let (t, goal_id) = (event["t"].as_f64().unwrap() + 0.001, &event["goal_id"]);
            let event = json!({"t": t, "goal_id": goal_id, "node": "skills", "kind": "motion", "name": "grasp/plan",
                "status": "planned", "message": "there", "data": plan});
            told.push(event.to_string());
        }
    }
    told.join("\n")
}

#[test]
fn a_refusal_is_shown_with_the_hands_that_it_was_about() {
    let explained = told(&refused_with_plan(), &Value::Null);
    let index = explained.decisive.unwrap();
    let hands = &explained.decisions[index].hands;
    assert_eq!(hands.iter().filter(|hand| hand.is_chosen).count(), 1);
    assert_eq!(hands.len(), 3);
    let chosen = explained.decisions.iter().find(|one| one.what.starts_with("took one of 3 candidates"));
    let chosen = chosen.unwrap_or_else(|| panic!("{:#?}", explained.decisions));
    assert_eq!(chosen.because, ["1 x outside the workspace"]);
    let over = Picture { caption: "over".into(), of: None, decision: Some(index), png: vec![7, 8, 9] };
    let html = page(&explained, None, &[over]);
    let head = html.split("<h2>What was decided").next().unwrap();
    assert!(head.contains("class=\"taken\"") && head.contains("class=\"missed\""), "{head}");
    assert!(head.contains("src=\"data:image/png;base64,BwgJ\""), "the camera's picture is with its decision");
    assert!(head.contains("<title>outside the workspace</title>"));
}

#[test]
fn a_refusal_about_things_has_a_picture_even_from_a_trace_alone() {
    for name in ["refused", "ambiguous", "unknown_word", "too_wide"] {
        let html = page(&of(name), None, &[]);
        let head = html.split("<h2>What was decided").next().unwrap();
        assert!(head.contains("<svg"), "{name}");
    }
    assert!(!page(&of("unsafe"), None, &[]).contains("<svg"), "a sentence has no picture");
}
