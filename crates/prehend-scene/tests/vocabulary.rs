//! The words of a deployment, in a process of their own.
//!
//! Contract: what is installed before the first question decides every question; what comes later changes nothing.

use prehend_scene::furniture::{Usual, Vocabulary, install, is_door, is_drawer, is_panel};

#[test]
fn the_words_of_the_deployment_decide() {
    let text = "drawers: [schublade]\ndoors: [tür]\nlids: [klappe]\nsliding: []\nknobs: []\nlevers: []\nsideways: []\npanels: [schublade, tür]\n";
    let words = Vocabulary::from_yaml("furniture.yaml", text).expect("valid");
    assert!(install(words.clone()));
    assert!(is_drawer("obere schublade") && is_door("tür") && !is_panel("klappe"));
    assert_eq!(Usual::of("klappe"), Usual::Lid);
    assert!(!is_panel("drawer"), "the built-in words are no words here");
    assert!(install(words) && !install(Vocabulary::default()));
    assert!(is_drawer("schublade"));
}
