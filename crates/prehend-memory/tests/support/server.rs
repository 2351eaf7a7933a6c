//! What only a server does.

use super::proxy::{Proxy, Way, tls};
use super::records::{LENGTH, episode, look, memory, seen, thing, view};
use super::{Kept, open, postgres, sql};
use prehend_memory::record::{Area, Thing, View};
use prehend_memory::store::Forget;
use prehend_memory::{Memory, Request, Settings, StoreError};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn refused(address: &str) -> String {
    match open(address) {
        Ok(store) => panic!("{} was opened", store.name()),
        Err(error @ StoreError::Unreachable { .. }) => error.to_string(),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_memory_on_a_server_is_the_same_as_one_in_a_file() {
    let Some(server) = Kept::database() else { return };
    let fill = |kept: &Kept| {
        let mut memory = memory(kept.open());
        for (number, robot) in ["r1", "r2", "r1", "r2", "r1", "r1"].into_iter().enumerate() {
            let x = number as f64;
            let mut things = vec![
                seen("mug", [x, 0.0, 0.8]),
                seen("sink", [x / 2.0, 1.0, 0.8]),
                seen("bed", [9.0, x, 0.4]),
            ];
            things.truncate(1 + number % 3);
            memory.observe(&look(["home", "work"][number / 4], robot, x * 400.0, things)).unwrap();
        }
        let done = prehend_memory::memory::Outcome {
            episode: episode("home", "r1", 3000.0),
            place: Some([0.0, 0.0, 0.8]),
            thing: None,
            onto: None,
        };
        memory.learn(&done).unwrap();
        let asked = Request { robot: "r1".to_owned(), now: 4000.0, k: 5, ..Request::default() };
        let found = memory.recall(&asked, &Settings::default()).unwrap();
        let found: Vec<(i64, f64)> = found.things.iter().map(|found| (found.thing.id, found.fits)).collect();
        (all(&mut memory, "home"), all(&mut memory, "work"), found)
    };
    assert_eq!(fill(&server), fill(&Kept::file().unwrap()));
}

fn all(memory: &mut Memory, building: &str) -> (Vec<View>, Vec<Thing>, Vec<Area>) {
    let store = memory.store();
    (store.views_of(building).unwrap(), store.things_of(building).unwrap(), store.areas_of(building).unwrap())
}

#[test]
fn a_lost_connection_is_made_anew_but_not_in_the_middle_of_writing() {
    let Some(kept) = Kept::database() else { return };
    let Kept::Database(url) = &kept else { return };
    let end = || {
        let ended = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                     WHERE application_name = 'prehend' AND datname = current_database()";
        assert_eq!(sql(url, ended), ["t"]);
    };
    let mut store = kept.open();
    store.put_episode(&episode("home", "r1", 1.0)).unwrap();
    end();
    assert_eq!(store.counts().unwrap().episodes, 1);
    end();
    store.begin("home").unwrap();
    store.put_view(&view(1, "home", "r1", 1.0)).unwrap();
    assert_eq!(store.counts().unwrap().views, 1);
    end();
    let lost = store.views_of("home").map(drop);
    assert!(matches!(lost, Err(StoreError::Unreachable { .. })), "{lost:?}");
    let lost = store.put_view(&view(2, "home", "r1", 1.0)).and_then(|()| store.commit());
    assert!(matches!(lost, Err(StoreError::Unreachable { .. })), "{lost:?}");
    store.abandon();
    assert_eq!(store.counts().unwrap().views, 0);
}

#[test]
fn an_end_of_writing_that_got_no_answer_is_looked_up() {
    let Some(kept) = Kept::database() else { return };
    let url = kept.address();
    let name = url.split(['/', '?']).nth(3).unwrap();
    for is_kept in [true, false] {
        kept.open();
        let commits = Arc::new(AtomicUsize::new(0));
        let way = if is_kept { Way::AnswerLost } else { Way::CommitLost }(Arc::clone(&commits));
        let proxy = Proxy::start(&url, way);
        let mut store = open(&format!("postgres://postgres@127.0.0.1:{}/{name}", proxy.port)).unwrap();
        let before = store.counts().unwrap().episodes;
        store.begin("home").unwrap();
        store.put_episode(&episode("home", "r1", 1.0)).unwrap();
        let done = store.commit();
        assert_eq!((done.is_ok(), commits.load(Ordering::SeqCst)), (is_kept, 1), "{done:?}");
        store.abandon();
        assert_eq!(store.counts().unwrap().episodes, before + u64::from(is_kept));
    }
}

#[test]
fn tls_is_asked_for_and_checked_as_libpq_does() {
    let Some(kept) = Kept::database() else { return };
    let url = kept.address();
    let name = url.split(['/', '?']).nth(3).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (way, authority) = tls("localhost", folder.path());
    let (_, stranger) = tls("elsewhere", folder.path());
    let proxy = Proxy::start(&url, way);
    let at =
        |host: &str, rest: &str| format!("postgres://postgres:secret@{host}:{}/{name}?{rest}", proxy.port);
    let with = |mode: &str, file: &std::path::Path| format!("sslmode={mode}&sslrootcert={}", file.display());
    for good in [
        at("127.0.0.1", "sslmode=disable"),
        at("127.0.0.1", "sslmode=prefer"),
        at("127.0.0.1", "sslmode=require"),
        at("127.0.0.1", &with("require", &authority)),
        at("127.0.0.1", &with("verify-ca", &authority)),
        at("localhost", &with("verify-full", &authority)),
    ] {
        let mut store = open(&good).unwrap_or_else(|error| panic!("{good}: {error}"));
        assert_eq!(store.counts().unwrap().views, 0, "{good}");
        assert!(!store.name().contains("secret"));
    }
    for bad in [
        at("127.0.0.1", &with("require", &stranger)),
        at("localhost", &with("verify-full", &stranger)),
        at("127.0.0.1", &with("verify-full", &authority)),
    ] {
        let said = refused(&bad);
        assert!(said.contains("certificate") && !said.contains("secret"), "{said}");
    }
    let plain = Proxy::start(&url, Way::CommitLost(Arc::default()));
    let at = |mode: &str| format!("postgres://postgres@127.0.0.1:{}/{name}?sslmode={mode}", plain.port);
    open(&at("prefer")).unwrap();
    assert!(refused(&at("require")).contains("does not support TLS"));
}

#[test]
fn a_server_that_is_not_there_or_says_nothing_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://ann:secret@{}/memory", listener.local_addr().unwrap());
    let said = refused(&url);
    assert!(said.contains("no answer") && !said.contains("secret"), "{said}");
    drop(listener);
    let said = refused(&url);
    assert!(said.contains("refused") && !said.contains("secret"), "{said}");
    refused("postgres:///memory?host=/nowhere");
}

#[test]
fn a_database_without_pgvector_says_what_to_do() {
    let Some(server) = postgres() else { return };
    sql(server, "CREATE ROLE plain LOGIN; ");
    sql(server, "CREATE DATABASE bare OWNER plain");
    let url = server.replace("//postgres:@/postgres?", "//plain:@/bare?");
    let said = refused(&url);
    assert!(said.contains("CREATE EXTENSION vector"), "{said}");
    sql(&server.replace("/postgres?", "/bare?"), "CREATE EXTENSION vector");
    open(&url).unwrap();
    let said = refused(&url.replace("/bare?", "/nothing?"));
    assert!(said.contains("nothing"), "{said}");
}

#[test]
fn of_two_encoders_at_once_the_second_is_refused() {
    let Some(kept) = Kept::database() else { return };
    let (mut first, mut second) = (kept.open(), kept.open());
    assert_eq!((first.space().unwrap(), second.space().unwrap()), (None, None));
    first.set_space("one", LENGTH).unwrap();
    second.set_space("one", LENGTH).unwrap();
    let refused = second.set_space("two", LENGTH);
    assert!(matches!(refused, Err(StoreError::OtherSpace { .. })), "{refused:?}");
    second.put_thing(&thing(1, "home", [0.0; 3])).unwrap();
    assert_eq!(first.things_of("home").unwrap(), second.things_of("home").unwrap());
}

#[test]
fn two_buildings_do_not_wait_for_each_other_but_all_of_them_do() {
    let Some(kept) = Kept::database() else { return };
    let (mut first, mut second) = (kept.open(), kept.open());
    first.begin("home").unwrap();
    first.reserve(3).unwrap();
    second.begin("work").unwrap();
    second.reserve(3).unwrap();
    second.put_view(&view(1, "work", "r2", 1.0)).unwrap();
    second.commit().unwrap();
    // The second forgets its building only, but what it does then is seen in all.
    second.begin("work").unwrap();
    let busy = second.forget(&Forget::Building("work".to_owned()));
    assert!(matches!(busy, Err(StoreError::Busy { .. })), "{busy:?}");
    second.abandon();
    first.commit().unwrap();
    second.begin("").unwrap();
    assert_eq!(second.forget(&Forget::Building("work".to_owned())).unwrap(), 1);
}

#[test]
fn what_the_server_says_is_told_apart() {
    let Some(kept) = Kept::database() else { return };
    let Kept::Database(url) = &kept else { return };
    let mut store = kept.open();
    let mut told = |code: &str| {
        let raise = format!(
            "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{code}'; END $$;
             CREATE OR REPLACE TRIGGER fail BEFORE INSERT ON prehend_episodes EXECUTE FUNCTION fail()"
        );
        sql(url, &raise);
        store.put_episode(&episode("home", "r1", 1.0)).unwrap_err()
    };
    for code in ["53100", "53200"] {
        assert!(matches!(told(code), StoreError::Full { .. }), "{code}");
    }
    for code in ["55P03", "40001", "40P01", "57014", "53300"] {
        assert!(matches!(told(code), StoreError::Busy { .. }), "{code}");
    }
    assert!(matches!(told("08006"), StoreError::Unreachable { .. }));
    assert!(matches!(told("XX001"), StoreError::Damaged { .. }));
    assert!(matches!(told("23505"), StoreError::Failed { .. }));
}

#[test]
fn it_works_inside_of_another_runtime() {
    let Some(kept) = Kept::database() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut store = kept.open();
        assert_eq!(store.counts().unwrap().views, 0);
    });
}
