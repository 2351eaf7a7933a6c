//! `--sweep`: the figures of a map with each number of its settings made smaller and larger.
//!
//! The numbers are found in the settings themselves, as they are written to files, so that none is forgotten. A number's name is the way
//! to it, such as `segment.surfaces.reach`.

use crate::screen::Screen;
use prehend_perception::MapSettings;
use serde_json::{Number, Value, json};

/// What each number is multiplied by. Whole numbers are rounded.
const FACTORS: [f64; 7] = [0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0];

/// Figures for people, in a few characters, and for programs; or why there are none.
pub(super) type Cell = Result<(String, Value), String>;

/// The numbers of some settings that are changed one by one.
#[derive(Debug)]
pub(super) struct Sweep {
    rows: Vec<Row>,
}

/// One number.
#[derive(Debug)]
struct Row {
    name: String,
    /// For each factor what the number becomes and the settings with it; `None` where it stays as it is.
    changes: [Option<(Number, Box<MapSettings>)>; FACTORS.len()],
}

impl Sweep {
    /// The numbers whose names start with `filter`; all of them if it is empty.
    ///
    /// Errors: in words, with the names that are nearest, when there is no such number; and when a changed one is refused.
    pub(super) fn new(settings: &MapSettings, filter: &str) -> Result<Self, String> {
        let tree = serde_json::to_value(settings).map_err(|error| error.to_string())?;
        let mut all = Vec::new();
        leaves(&tree, "", &mut all);
        let rows: Result<Vec<Row>, String> = all
            .iter()
            .filter(|(name, _)| name.starts_with(filter))
            .map(|(name, number)| Row::new(&tree, name, number))
            .collect();
        match rows? {
            rows if rows.is_empty() => Err(unknown(filter, &all)),
            rows => Ok(Self { rows }),
        }
    }

    /// Measures all of them, shows a table and gives the list for programs. `columns` says what a cell holds; `as_it_is` is that of the
    /// settings without a change. Each measurement is told on stderr, since there are many.
    pub(super) fn run(
        &self,
        screen: &Screen,
        columns: &str,
        as_it_is: &str,
        mut measure: impl FnMut(MapSettings) -> Cell,
    ) -> Vec<Value> {
        let changes = self.rows.iter().flat_map(|row| &row.changes);
        let (count, mut done) = (changes.flatten().count(), 0);
        let mut swept = Vec::new();
        let mut table = vec![std::array::from_fn(|column| match column.checked_sub(1) {
            None => "parameter".to_owned(),
            Some(place) => FACTORS[place].to_string(),
        })];
        for row in &self.rows {
            let mut cells: [String; FACTORS.len() + 1] = std::array::from_fn(|_| as_it_is.to_owned());
            cells[0].clone_from(&row.name);
            for ((cell, factor), change) in cells[1..].iter_mut().zip(FACTORS).zip(&row.changes) {
                let Some((value, settings)) = change else { continue };
                let head = json!({ "parameter": row.name, "factor": factor, "value": value });
                let (text, figures) = match measure(**settings) {
                    Ok((text, figures)) => (text, with(head, "figures", figures)),
                    Err(error) => ("none".to_owned(), with(head, "error", Value::from(error))),
                };
                done += 1;
                eprintln!("{done} of {count}: {} = {value}: {text}", row.name);
                *cell = text;
                swept.push(figures);
            }
            table.push(cells);
        }
        screen.line(format!("\n{columns} with each parameter times"));
        screen.table(&table);
        swept
    }
}

impl Row {
    fn new(tree: &Value, name: &str, number: &Number) -> Result<Self, String> {
        let mut changes = [const { None }; FACTORS.len()];
        for (change, factor) in changes.iter_mut().zip(FACTORS) {
            let Some(value) = scaled(number, factor) else { continue };
            let mut changed = tree.clone();
            if let Some(leaf) = changed.pointer_mut(&format!("/{}", name.replace('.', "/"))) {
                *leaf = Value::Number(value.clone());
            }
            let settings =
                serde_json::from_value(changed).map_err(|error| format!("{name} = {value}: {error}"))?;
            *change = Some((value, Box::new(settings)));
        }
        Ok(Self { name: name.to_owned(), changes })
    }
}

/// Figures for programs with those of a sweep, if there was one.
pub(super) fn with_sweep(figures: Value, swept: Option<Vec<Value>>) -> Value {
    match swept {
        Some(swept) => with(figures, "sweep", Value::from(swept)),
        None => figures,
    }
}

fn with(mut object: Value, key: &str, value: Value) -> Value {
    object[key] = value;
    object
}

/// The numbers below a place, with their names.
fn leaves(value: &Value, name: &str, found: &mut Vec<(String, Number)>) {
    let below = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match value {
        Value::Number(number) => found.push((name.to_owned(), number.clone())),
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| leaves(value, &below(key), found));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(place, value)| leaves(value, &below(&place.to_string()), found));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// A number times a factor; `None` when that changes nothing.
fn scaled(number: &Number, factor: f64) -> Option<Number> {
    let times = number.as_f64()? * factor;
    let changed = if number.is_u64() {
        Number::from(times.round() as u64)
    } else if number.is_i64() {
        Number::from(times.round() as i64)
    } else {
        Number::from_f64(times)?
    };
    (changed != *number).then_some(changed)
}

/// What is said of a name that no number has.
fn unknown(filter: &str, all: &[(String, Number)]) -> String {
    // Of each name the whole, and the groups that it is in.
    let ends = |name: &str| name.match_indices('.').map(|(end, _)| end).collect::<Vec<_>>();
    let starts = |name: &'_ str| ends(name).into_iter().chain([name.len()]).collect::<Vec<_>>();
    let known = || all.iter().flat_map(|(name, _)| starts(name).into_iter().map(move |end| &name[..end]));
    let mut groups: Vec<&str> = all.iter().filter_map(|(name, _)| name.split('.').next()).collect();
    groups.dedup();
    let nearest = prehend_config::nearest(filter, known());
    let meant = nearest.map_or(String::new(), |name| format!("; the nearest is `{name}`"));
    format!("no number of the settings starts with `{filter}`{meant}; they are in {}", groups.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(sweep: &Sweep) -> Vec<&str> {
        sweep.rows.iter().map(|row| row.name.as_str()).collect()
    }

    #[test]
    fn all_numbers_are_found_and_those_of_a_group() {
        let settings = MapSettings::recorded();
        let all = Sweep::new(&settings, "").unwrap();
        // As many as the settings have when they are written: nothing else in them has a digit after a colon, a bracket or a comma.
        let text = serde_json::to_string(&settings).unwrap();
        let is_start =
            |pair: &[u8]| b":[,".contains(&pair[0]) && (pair[1].is_ascii_digit() || pair[1] == b'-');
        assert_eq!(all.rows.len(), text.as_bytes().windows(2).filter(|pair| is_start(pair)).count());
        let names = names(&all);
        for name in ["still", "segment.region_low.2", "segment.surfaces.standing.cell", "merge.distance"] {
            assert!(names.contains(&name), "{name}: {names:?}");
        }
        let surfaces = Sweep::new(&settings, "segment.surfaces").unwrap();
        assert!(surfaces.rows.len() > 20 && surfaces.rows.len() < all.rows.len());
        assert!(surfaces.rows.iter().all(|row| row.name.starts_with("segment.surfaces.")));
        // Where nothing is cut by surfaces there are no numbers of them.
        assert!(Sweep::new(&MapSettings::default(), "segment.surfaces").is_err());
    }

    #[test]
    fn a_changed_number_arrives_and_nothing_else_changes() {
        let settings = MapSettings::recorded();
        let changed = |name: &str, factor: f64| {
            let sweep = Sweep::new(&settings, name).unwrap();
            let place = FACTORS.iter().position(|known| *known == factor).unwrap();
            sweep.rows[0].changes[place].as_ref().map(|(_, settings)| **settings)
        };
        let mut half = settings;
        half.segment.surfaces.as_mut().unwrap().reach *= 0.5;
        assert_eq!(changed("segment.surfaces.reach", 0.5), Some(half));
        let mut more = settings;
        more.segment.region_low.z *= 1.5;
        assert_eq!(changed("segment.region_low.2", 1.5), Some(more));
        let mut whole = settings;
        whole.segment.min_neighbours = 2;
        assert_eq!(changed("segment.min_neighbours", 0.75), Some(whole), "2.25 is 2");
        assert_eq!(changed("hypothesis.erode", 0.5), None, "0.5 is 1, as it was");
        assert_eq!(changed("still", 1.0), None);
    }

    #[test]
    fn a_name_that_is_none_is_told_with_the_nearest_one() {
        let refused = |filter: &str| Sweep::new(&MapSettings::recorded(), filter).unwrap_err();
        let text = refused("segment.surfces");
        assert!(text.contains("`segment.surfces`; the nearest is `segment.surfaces`"), "{text}");
        assert!(["hypothesis", "merge", "still"].iter().all(|group| text.contains(group)), "{text}");
        assert!(refused("hypothesis.grwo").contains("`hypothesis.grow`"));
    }

    #[test]
    fn what_is_not_changed_is_not_measured_and_what_fails_is_told() {
        let sweep = Sweep::new(&MapSettings::recorded(), "hypothesis.erode").unwrap();
        let mut asked = Vec::new();
        let swept = sweep.run(&Screen::new(true), "pixels", "1", |settings| {
            asked.push(settings.hypothesis.erode);
            if settings.hypothesis.erode > 3 {
                Err("too many".to_owned())
            } else {
                Ok(("0".to_owned(), json!(7)))
            }
        });
        assert_eq!(asked, [0, 2, 2, 4]);
        assert_eq!(
            swept[0],
            json!({ "parameter": "hypothesis.erode", "factor": 0.25, "value": 0, "figures": 7 })
        );
        assert_eq!(swept[3]["error"], "too many");
    }
}
