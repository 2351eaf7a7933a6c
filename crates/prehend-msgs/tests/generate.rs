//! The writer of the Rust modules: what a line of an interface file becomes, and what it refuses.

#[path = "../build/generate.rs"]
#[expect(dead_code, reason = "the build script uses the rest")]
mod generate;
#[path = "../build/interface.rs"]
#[expect(dead_code, reason = "the build script uses the rest")]
mod interface;

use generate::{Interfaces, generate};
use interface::{Kind, parse};

fn modules(text: &str) -> Result<String, String> {
    let mut interfaces = Interfaces::new();
    let parsed = parse("p_msgs", Kind::Msg, text).map_err(|e| e.to_string())?;
    interfaces
        .entry("p_msgs".to_owned())
        .or_default()
        .entry(Kind::Msg)
        .or_default()
        .insert("Thing".to_owned(), parsed);
    generate(&interfaces).map(|g| g.modules)
}

#[test]
fn lines() {
    let cases: [(&str, &[&str]); 14] = [
        (
            "float64[9] k",
            &[
                "Fixed::<9>",
                "pub k: ::std::vec::Vec<f64>",
                "k: ::std::vec![::std::default::Default::default(); 9]",
            ],
        ),
        ("uint8[] data", &["::serde_bytes", "pub data: ::std::vec::Vec<u8>"]),
        ("uint8[16] uuid", &["Fixed::<16>", "pub uuid: ::std::vec::Vec<u8>"]),
        ("string<=3[<=2] a", &["pub a: ::std::vec::Vec<::std::string::String>", "`string<=3[<=2]`"]),
        ("int32 type", &["pub type_: i32", "#[serde(rename = \"type\")]"]),
        ("Thing[] a", &["pub a: ::std::vec::Vec<crate::p_msgs::msg::Thing>"]),
        ("float64 w 1", &["w: 1.0,"]),
        ("int32[2] a [1, -2]", &["a: ::std::vec![1, -2],"]),
        ("string s \"a b\"", &["s: ::std::string::String::from(\"a b\"),"]),
        ("uint8 A=0x1F", &["pub const A: u8 = 31;"]),
        ("int64 A=-9223372036854775808", &["pub const A: i64 = -9223372036854775808;"]),
        ("string A=x \"y\"", &["pub const A: &'static str = \"x \\\"y\\\"\";"]),
        ("bool A=true", &["pub const A: bool = true;"]),
        ("", &["pub structure_needs_at_least_one_member: u8"]),
    ];
    for (text, expected) in cases {
        let modules = modules(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        for part in expected {
            assert!(modules.contains(part), "{text}: no `{part}` in\n{modules}");
        }
    }
}

#[test]
fn refusals_name_the_interface_and_the_field() {
    let cases = [
        ("wstring a", "wstring"),
        ("Other a", "no message p_msgs/Other"),
        ("other_msgs/Other a", "no message other_msgs/Other"),
        ("uint8 a 256", "does not fit"),
        ("int8 a -129", "does not fit"),
        ("bool a 2", "does not fit"),
        ("float64 a nan", "does not fit"),
        ("int32 a 1.5", "does not fit"),
        ("int32[] a [1, x]", "does not fit"),
    ];
    for (text, reason) in cases {
        let error = modules(text).expect_err(text);
        assert!(error.starts_with("p_msgs/msg/Thing: a: ") && error.contains(reason), "{text}: {error}");
    }
    assert!(modules("uint8 A=-1").expect_err("negative").starts_with("p_msgs/msg/Thing: A: "));
}
