#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]
use prehend_eval::memory::*;
fn main() {
    let arg = |i: usize| std::env::args().nth(i);
    let n: u64 = arg(1).unwrap().parse().unwrap();
    let seed: u64 = arg(2).unwrap().parse().unwrap();
    let kept = arg(3).is_some_and(|a| a == "kept");
    let names =
        prehend_perception::Lexicon::load(std::path::Path::new("config/language/synonyms.yaml")).unwrap();
    let words = Words {
        names,
        language: {
            let mut l = prehend_agent::language::Lexicon::built_in();
            l.tables_are_things = true;
            l
        },
        rooms: prehend_agent::language::rooms::RoomNames::built_in(),
    };
    let setting = Setting {
        generator: if kept { Generator::Office } else { Generator::Home },
        rooms: 10,
        views: 540,
        instructions: 84,
        speaker: if kept { Speaker::Talkative } else { Speaker::Plain },
        camera: if kept { Camera::Low } else { Camera::Head },
        detector: prehend_sim::scene::DetectorSpec::imperfect(),
    };
    let runs: Vec<Run> = std::thread::scope(|s| {
        let hs: Vec<_> = (0..n)
            .map(|i| {
                let (w, st) = (&words, &setting);
                s.spawn(move || run(st, w, seed + i, || {}).unwrap())
            })
            .collect();
        hs.into_iter().map(|h| h.join().unwrap()).collect()
    });
    for r in &runs {
        let mut q = r.questions.clone();
        q.sort();
        println!(
            "views {} things {} of {} areas {} sentences {} unread {} look {:?} summary {:?} q50 {:?} q99 {:?}",
            r.views,
            r.things,
            r.true_things,
            r.areas,
            r.sentences.len(),
            r.unread.len(),
            r.look,
            r.summary,
            q[q.len() / 2],
            q[q.len() * 99 / 100]
        );
    }
    for (m, name) in Method::ALL {
        let t = tally(&runs, m);
        let p = |r: Recall| format!("{:5.1} {:5.1} {:5.1}", 100. * r.r5, 100. * r.r10, 100. * r.r20);
        println!(
            "{name:22} target {} | recept {} | overall {} | sr {:?}",
            p(t.target),
            p(t.receptacle),
            p(t.overall),
            t.sr.map(|x| (1000.0 * x).round() / 10.0)
        );
    }
    if arg(4).is_some() {
        for r in &runs {
            for u in &r.unread {
                println!("unread: {u}");
            }
            for (s, l) in r.sentences.iter().zip(&r.lists[&Method::Memory]) {
                if !(l[0].is_hit(5) && l[1].is_hit(5)) {
                    println!("miss {:?}: {s}", [l[0].is_hit(5), l[1].is_hit(5)]);
                }
            }
        }
    }
}
