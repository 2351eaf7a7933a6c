#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]
fn main() {
    let l = prehend_agent::language::Lexicon::built_in();
    let mut l = l;
    l.tables_are_things = true;
    let r = prehend_agent::language::rooms::RoomNames::built_in();
    for s in std::env::args().skip(1) {
        println!("== {s}\n{:?}", prehend_memory::request::readings(&s, &l, &r));
        println!("{:?}", prehend_agent::language::parse(&s, &l).map(|g| g.len()));
    }
}
