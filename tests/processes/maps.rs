//! Maps on the command line: of recordings, of the simulator's frames, and against the truth.

use crate::harness::{json, prehend, text};

/// A frame that looks straight down on a table with a red block of 60 mm.
fn write_frame(folder: &std::path::Path) {
    let is_block = |u: u32, v: u32| (100..160).contains(&u) && (90..150).contains(&v);
    let color = |u, v| image::Rgb(if is_block(u, v) { [200_u8, 25, 25] } else { [150, 130, 100] });
    let depth = |u, v| image::Luma([if is_block(u, v) { 540_u16 } else { 600 }]);
    image::ImageBuffer::from_fn(320, 240, color).save(folder.join("color.png")).expect("a picture");
    image::ImageBuffer::from_fn(320, 240, depth).save(folder.join("depth.png")).expect("a picture");
    let camera = r#"{"fx": 540.0, "fy": 540.0, "cx": 159.5, "cy": 119.5, "width": 320, "height": 240}"#;
    std::fs::write(folder.join("intrinsics.json"), camera).expect("the file");
}

#[test]
fn maps_of_recordings_are_built_shown_and_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (frames, map) = (path("frames"), path("map"));
    std::fs::create_dir(&frames).expect("a folder");
    let output = prehend(&["map", "build", "--frames", &frames, "--out", &map]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("expected color.png"), "{}", text(&output.stderr));

    write_frame(std::path::Path::new(&frames));
    let built = json(&prehend(&["map", "build", "--frames", &frames, "--out", &map, "--json"]));
    assert_eq!(
        (&built["objects"], &built["frames"][0]["added"]),
        (&1.into(), &serde_json::json!(["object_0"]))
    );
    assert!(built["frames"][0]["left_out"].is_array(), "{built}");
    let shown = json(&prehend(&["map", "show", &map, "--json"]));
    assert!(shown["left_out"].is_array(), "{shown}");
    let probability = shown["scenes"][0]["objects"][0]["probability"].as_f64().expect("a probability");
    assert!((0.9..=1.0).contains(&probability), "{probability}");
    let size = shown["scenes"][0]["objects"][0]["size"][0].as_f64().expect("a size");
    assert!((size - 0.06).abs() < 0.005, "{size}");
    let pictures = shown["pictures"].as_array().expect("pictures");
    assert_eq!(pictures.len(), 2);
    for picture in pictures {
        assert!(image::open(picture.as_str().expect("a path")).is_ok(), "{picture}");
    }
    let asked = prehend(&["map", "query", &map, "the red one"]);
    assert!(asked.status.success() && text(&asked.stdout).contains("1. object_0"), "{}", text(&asked.stdout));
    assert!(text(&asked.stdout).contains("has a name"), "it says that nothing is named");
    assert_eq!(prehend(&["map", "query", &map, "the green one"]).status.code(), Some(1));

    // Voxels find the block too; nothing tells what they leave out.
    let cut =
        |how| prehend(&["map", "build", "--frames", &frames, "--out", &path("cut"), "--cut", how, "--json"]);
    let by_voxels = json(&cut("voxels"));
    assert_eq!(
        (&by_voxels["objects"], &by_voxels["frames"][0]["left_out"]),
        (&1.into(), &serde_json::json!([]))
    );
    let shown = json(&prehend(&["map", "show", &path("cut"), "--json"]));
    assert_eq!(shown["scenes"][0]["objects"][0]["probability"], 1.0, "{shown}");
    assert!(text(&cut("cubes").stderr).contains("none of surfaces, voxels"));

    // A frame in which no table is seen is passed over; if there is no other, there is no map.
    let both = folder.path().join("both");
    for name in ["a", "b"] {
        std::fs::create_dir_all(both.join(name)).expect("a folder");
        write_frame(&both.join(name));
    }
    let anywhere = |u: u32, v: u32| {
        let mixed = u.wrapping_mul(374_761_393).wrapping_add(v.wrapping_mul(668_265_263));
        let mixed = (mixed ^ (mixed >> 13)).wrapping_mul(1_274_126_177);
        image::Luma([500 + ((mixed ^ (mixed >> 16)) % 1500) as u16])
    };
    let nothing = image::ImageBuffer::from_fn(320, 240, anywhere);
    nothing.save(both.join("a/depth.png")).expect("a picture");
    let built = json(&prehend(&["map", "build", "--frames", &path("both"), "--out", &path("m"), "--json"]));
    assert_eq!((&built["scenes"], &built["passed_over"]), (&1.into(), &serde_json::json!(["a"])));
    nothing.save(both.join("b/depth.png")).expect("a picture");
    let output = prehend(&["map", "build", "--frames", &path("both"), "--out", &path("none")]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("no plane is seen"), "{}", text(&output.stderr));

    std::fs::write(std::path::Path::new(&map).join("map.json"), "{}").expect("the file");
    let output = prehend(&["map", "show", &map]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("the map is not whole"), "{}", text(&output.stderr));
}

#[test]
fn frames_of_a_simulated_table_become_maps_by_the_clock_and_against_the_truth() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (frames, map, boxes) = (path("frames"), path("map"), path("objects.json"));
    let table = ["--objects", "8", "--views", "2", "--masks", "truth", "--features", "8"];
    let output = prehend(&[&["scene", "frames", "--out", &frames][..], &table].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let again = prehend(&["scene", "frames", "--out", &frames]);
    assert!(!again.status.success() && text(&again.stderr).contains("not empty"));
    let built = json(&prehend(&["map", "build", "--frames", &frames, "--out", &map, "--json"]));
    assert!(built["objects"].as_u64().is_some_and(|objects| (4..12).contains(&objects)), "{built}");
    let lap = json(&prehend(&["eval", "map", "--race", &frames, "--json"]));
    assert_eq!(lap["objects"], built["objects"], "the same frames, the same map");
    assert!(lap["keyframes"] == 2 && lap["masks"].as_u64().is_some_and(|masks| masks > 8), "{lap}");
    assert!(lap["counts"]["found"][0].as_u64().is_some_and(|found| found >= 4), "{lap}");
    std::fs::write(&boxes, "[]").expect("the file");
    let judged = json(&prehend(&["eval", "map", "--race", &frames, "--boxes", &boxes, "--json"]));
    assert_eq!((&judged["found"][0], &judged["objects"][0]), (&0.into(), &0.into()));
    std::fs::write(&boxes, r#"[{"footprint": [], "z": [0, 1]}]"#).expect("the file");
    let wrong = prehend(&["eval", "map", "--race", &frames, "--boxes", &boxes]);
    assert!(wrong.status.code() == Some(3) && text(&wrong.stderr).contains("without points"));
}

#[test]
fn frames_of_other_cameras_are_drawn_written_and_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (frames, pictures) = (path("frames"), path("pictures"));
    let kind = ["--cameras", "stereo", "--seeds", "2", "--seed", "501"];
    let output = prehend(&[&["eval", "map", "--json", "--out", &pictures][..], &kind].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let figures = json(&output);
    let stereo = &figures["kinds"][0];
    assert_eq!((&figures["frames"], &stereo["camera"]), (&2.into(), &"stereo".into()), "{figures}");
    assert!(stereo["count"]["found"].as_u64().is_some_and(|found| found > 4), "{figures}");
    assert!(folder.path().join("pictures/stereo_0501.png").exists());
    let output = prehend(&[&["scene", "frames", "--out", &frames][..], &kind].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let judged = json(&prehend(&["eval", "map", "--frames", &frames, "--json"]));
    assert!(judged["summary"]["found"].as_u64().is_some_and(|found| found > 4), "{judged}");
    let both = prehend(&["scene", "frames", "--cameras", "--objects", "3", "--out", &path("both")]);
    assert_eq!(both.status.code(), Some(3), "{}", text(&both.stderr));
    assert_eq!(prehend(&["eval", "map", "--cameras", "thermal"]).status.code(), Some(3));
}

#[test]
fn rooms_are_toured_and_their_maps_judged() {
    let one = ["eval", "map", "--rooms", "errands", "--seed", "12002", "--seeds", "1"];
    let judged = json(&prehend(&[&one[..], &["--json"]].concat()));
    let kind = &judged["kinds"][0];
    assert_eq!((&kind["kind"], &kind["sum"]["rooms"]), (&"errands".into(), &1.into()));
    let things = kind["sum"]["things"].as_u64().expect("a number");
    assert_eq!(kind["rooms"][0]["found"]["fates"].as_array().map(Vec::len), Some(things as usize));
    assert!(kind["sum"]["right"].as_u64().is_some_and(|right| right > 0 && right <= things), "{kind}");

    let output = prehend(&[&one[..], &["--robot", "xarm6"]].concat());
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("does not drive"), "{}", text(&output.stderr));
    assert_eq!(prehend(&["eval", "map", "--rooms", "gardens"]).status.code(), Some(3));
}
