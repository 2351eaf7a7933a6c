//! What others ask of the memory: questions, outcomes that they report, and what is to be forgotten.

use super::super::answer;
use super::Keeper;
use prehend_memory::ask::Asker;
use prehend_memory::record::Episode;
use prehend_memory::store::Forget;
use prehend_memory::{Action, MemoryError, Outcome, Settings};
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_msgs::prehend_interfaces::srv::{QueryMemory, WriteMemory};

/// Things of an answer when nobody says how many, and at most.
const USUAL: u32 = 5;
const MOST: u32 = 50;
/// Longest question, letters.
const LONGEST: usize = 500;

impl Keeper {
    /// Answers a question.
    pub(in crate::memory) fn query(
        &mut self,
        asked: &QueryMemory::Request,
        now: f64,
    ) -> QueryMemory::Response {
        let refuse = |error_code: i32, error_message: String| QueryMemory::Response {
            error_code,
            error_message,
            things: Vec::new(),
        };
        let named = (!asked.action.is_empty()).then_some(asked.action.as_str());
        let action = match named.map(Action::parse).transpose() {
            Ok(action) => action,
            Err(error) => return refuse(ErrorCode::MEMORY_BAD_REQUEST, error.to_string()),
        };
        if asked.text.chars().count() > LONGEST {
            return refuse(
                ErrorCode::MEMORY_BAD_REQUEST,
                format!("the text has more than {LONGEST} letters"),
            );
        }
        let building = match asked.building.as_str() {
            "" => Some(self.building.clone()),
            "*" => None,
            name => Some(name.to_owned()),
        };
        let k = if asked.k == 0 { USUAL } else { asked.k.min(MOST) } as usize;
        let asker = Asker { building, robot: self.robot.clone(), now, action, k };
        let language = self.language.clone();
        let answers =
            self.memory().and_then(|memory| memory.ask(&asked.text, &language, &asker, &Settings::default()));
        match self.noted(answers) {
            Ok(answers) => {
                let things = answer::things(&answers, &self.robot, &self.session, k);
                if things.is_empty() {
                    return refuse(
                        ErrorCode::MEMORY_NOTHING_FOUND,
                        format!("nothing that is remembered fits \"{}\"", asked.text),
                    );
                }
                QueryMemory::Response { error_code: ErrorCode::SUCCESS, error_message: String::new(), things }
            }
            Err(error) => refuse(code(&error), error.to_string()),
        }
    }

    /// Learns an outcome that is reported, or forgets.
    pub(in crate::memory) fn write(
        &mut self,
        asked: &WriteMemory::Request,
        now: f64,
    ) -> WriteMemory::Response {
        let changed = self.write_now(asked, now);
        match self.noted(changed) {
            Ok(changed) => WriteMemory::Response {
                error_code: ErrorCode::SUCCESS,
                error_message: String::new(),
                changed,
            },
            Err(error) => WriteMemory::Response {
                error_code: code(&error),
                error_message: error.to_string(),
                changed: 0,
            },
        }
    }

    fn write_now(&mut self, asked: &WriteMemory::Request, now: f64) -> Result<u64, MemoryError> {
        let named = |given: &str, own: &str| if given.is_empty() { own.to_owned() } else { given.to_owned() };
        let (building, robot) = (named(&asked.building, &self.building), named(&asked.robot, &self.robot));
        let bad = |why: String| MemoryError::Bad { what: "request", why };
        let forget = match asked.what.as_str() {
            "outcome" => {
                let action = Action::parse(&asked.action).map_err(|error| bad(error.to_string()))?;
                let memory = self.memory()?;
                let known = memory.store().things(&[asked.thing])?;
                let thing =
                    known.first().ok_or_else(|| bad(format!("thing {} is not remembered", asked.thing)))?;
                let episode = Episode {
                    building: thing.building.clone(),
                    robot,
                    at: now,
                    goal: String::new(),
                    action,
                    object: thing.words(),
                    key: String::new(),
                    target: String::new(),
                    done: asked.succeeded,
                    reason: asked.reason.clone(),
                };
                memory.learn(&Outcome { episode, thing: Some(asked.thing), place: None, onto: None })?;
                return Ok(1);
            }
            "forget_thing" => Forget::Thing(asked.thing),
            "forget_building" => Forget::Building(building),
            "forget_robot" => Forget::Robot(robot),
            "forget_before" => Forget::Before(prehend_convert::seconds(&asked.time)),
            other => {
                let known = "outcome, forget_thing, forget_building, forget_robot and forget_before";
                return Err(bad(format!("`{other}` is nothing that is written; {known} are")));
            }
        };
        self.forgotten += 1;
        self.models.clear();
        self.memory()?.forget(&forget)
    }
}

fn code(error: &MemoryError) -> i32 {
    match error {
        MemoryError::Bad { .. } => ErrorCode::MEMORY_BAD_REQUEST,
        MemoryError::Encode(_) | MemoryError::Store(_) => ErrorCode::MEMORY_UNAVAILABLE,
    }
}
