//! Each store against a pure model: random verbs, compared after each one, and the shortest sequence that differs.
//!
//! The sequences are the same in every run. `DTQ_TEST_SEED=7` makes others, `DTQ_TEST_CASES=1000` more of them. A
//! failure is seen again with the seed that its report names:
//!
//! ```text
//! DTQ_TEST_SEED=7 cargo test -p dtq-tests --test it follows_the_model
//! ```

mod answers;
mod claim;
mod flaws;
mod keys;
mod play;
mod pure;
mod report;
mod settle;
mod steer;
mod subject;
mod verbs;

use std::cell::Cell;

use dtq_tests::World;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use self::play::{Disagreement, play};
use self::subject::Store;
use self::verbs::Verb;

/// Verbs of a sequence at most; half of that on average.
const LENGTH: usize = 100;
/// Sequences of a run: more than 10,000 verbs.
const CASES: u32 = 235;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

/// Tries sequences until one fails; gives the shortest that was found to fail, and why.
fn search(
    seed: u64,
    cases: u32,
    test: impl Fn(&[Verb]) -> Result<(), Disagreement>,
) -> Result<(), (Disagreement, Vec<Verb>)> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let result = runner.run(&verbs::sequence(LENGTH), |verbs| test(&verbs).map_err(TestCaseError::fail));
    match result {
        Ok(()) => Ok(()),
        Err(TestError::Fail(why, verbs)) => Err(prune(why.message().to_owned(), verbs, test)),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}

/// Leaves out each verb, and each part of a verb, that the failure does not need. Proptest tries that too, but not again once it has made the
/// verbs themselves simpler.
fn prune(
    why: Disagreement,
    verbs: Vec<Verb>,
    test: impl Fn(&[Verb]) -> Result<(), Disagreement>,
) -> (Disagreement, Vec<Verb>) {
    let lesser = |at: usize| {
        let with = |verb| [&verbs[..at], &[verb], &verbs[at + 1..]].concat();
        verbs[at].lesser().into_iter().map(with).collect::<Vec<_>>()
    };
    let shorter = verbs::without_each(&verbs)
        .chain((0..verbs.len()).flat_map(lesser))
        .find_map(|verbs| Some((test(&verbs).err()?, verbs)));
    match shorter {
        Some((why, verbs)) => prune(why, verbs, test),
        None => (why, verbs),
    }
}

/// `afterwards` looks at what a sequence left.
fn assert_follows_the_model(start: impl AsyncFn() -> World, afterwards: impl Fn(&World)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // One server for many sequences, but not for all: its clock only goes forward, by months, and the store's times end
    // in the year 2286.
    let world = Cell::new(None::<World>);
    let (sequences, played, in_rows) = (Cell::new(0_u32), Cell::new(0), Cell::new(0));
    let seed = setting("DTQ_TEST_SEED", 1);
    let cases = u32::try_from(setting("DTQ_TEST_CASES", CASES.into())).expect("a number of cases");
    let result = search(seed, cases, |verbs| {
        let empty = runtime.block_on(async {
            match world.take() {
                Some(used) if !sequences.get().is_multiple_of(200) => used.emptied().await,
                _ => start().await,
            }
        });
        sequences.set(sequences.get() + 1);
        let mut store = Store::new(&runtime, empty);
        let result = play(verbs, &mut store);
        in_rows.set(in_rows.get() + store.in_rows());
        let used = store.into_world();
        afterwards(&used);
        world.set(Some(used));
        result.map(|count| played.set(played.get() + count))
    });
    if let Err((why, verbs)) = result {
        let count = verbs.len();
        panic!("DTQ_TEST_SEED={seed}: the shortest sequence found that differs from the model, {count} verbs:\n{why}");
    }
    assert!(cases < CASES || played.get() >= 10_000, "only {} verbs were played", played.get());
    assert!(cases < CASES || in_rows.get() >= 500, "only {} tasks stood in rows", in_rows.get());
}

#[test]
fn sqlite_follows_the_model() {
    assert_follows_the_model(World::sqlite, |_| {});
}

#[test]
fn redis_follows_the_model() {
    assert_follows_the_model(World::redis, |w| crate::redis_keys::blocks::assert_blocks_are_true(w.server()));
}
