//! Runs a query over windows of edges in differential dataflow, with one worker.
//!
//! `peer EDGES RESULTS QUERY BATCH`: EDGES has rows of six little-endian `u32`: label, source,
//! target, and the instants from and to of the validity, sorted by the first instant. After every
//! BATCH edges the dataflow runs until all their instants are complete. RESULTS gets rows of `i64`:
//! the four variables of the answer (0 where the query has fewer), the instant, and the
//! difference. With `-` for RESULTS the answers are only counted. The last line of the output is
//! a JSON object with processor seconds, peak bytes, answers and their changes.

mod data;
mod delta;
mod plans;

use std::cell::RefCell;
use std::fs;
use std::io::{BufWriter, Write};
use std::rc::Rc;

use differential_dataflow::input::InputSession;
use timely::dataflow::operators::probe::Handle;

use data::{Answer, Edge, Instant, LABELS};

/// The addition (1) or the end (-1) of an edge.
struct Change {
    at: Instant,
    label: usize,
    edge: Edge,
    difference: isize,
}

/// What the dataflow has answered.
struct Answers {
    added: u64,
    changes: u64,
    file: Option<BufWriter<fs::File>>,
}

impl Answers {
    fn take(&mut self, answer: &Answer, at: Instant, difference: isize) {
        self.changes += 1;
        self.added += difference.max(0) as u64;
        if let Some(file) = &mut self.file {
            let row = answer.iter().map(|&v| v as i64).chain([at as i64, difference as i64]);
            for value in row {
                file.write_all(&value.to_le_bytes()).expect("the results can be written");
            }
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, edges, results, query, batch] = &arguments[..] else {
        eprintln!("usage: peer EDGES RESULTS QUERY BATCH");
        std::process::exit(2);
    };
    let (changes, begins) = read(edges);
    let batch: usize = batch.parse().expect("BATCH is a number");
    let file = (results != "-")
        .then(|| BufWriter::new(fs::File::create(results).expect("RESULTS can be created")));
    let before = resident("VmRSS:");
    let started = processor_seconds();
    let (added, all) = timely::execute_directly({
        let query = query.clone();
        move |worker| {
            let answers = Rc::new(RefCell::new(Answers { added: 0, changes: 0, file }));
            let taken = answers.clone();
            let mut probe = Handle::new();
            let mut inputs: Vec<InputSession<Instant, Edge, isize>> =
                worker.dataflow::<Instant, _, _>(|scope| {
                    let mut sessions = Vec::new();
                    let mut relations = Vec::new();
                    for _ in 0..LABELS {
                        let mut session = InputSession::new();
                        relations.push(session.to_collection(scope));
                        sessions.push(session);
                    }
                    plans::query(&query, relations)
                        .consolidate()
                        .inspect(move |(answer, at, difference)| {
                            taken.borrow_mut().take(answer, *at, *difference)
                        })
                        .probe_with(&mut probe);
                    sessions
                });
            let mut edges = 0;
            for (position, change) in changes.iter().enumerate() {
                let session = &mut inputs[change.label];
                if change.at > *session.time() {
                    session.advance_to(change.at);
                }
                session.update(change.edge, change.difference);
                edges += usize::from(change.difference > 0);
                let ends = changes.get(position + 1).map_or(true, |next| next.at > change.at);
                if ends && edges >= batch {
                    run(worker, &mut inputs, &probe, change.at + 1);
                    edges = 0;
                }
            }
            run(worker, &mut inputs, &probe, changes.last().map_or(1, |change| change.at + 1));
            let mut answers = answers.borrow_mut();
            if let Some(file) = &mut answers.file {
                file.flush().expect("the results can be written");
            }
            (answers.added, answers.changes)
        }
    });
    let seconds = processor_seconds() - started;
    println!(
        "{{\"edges\": {begins}, \"cpu_s\": {seconds}, \"peak_bytes\": {}, \"answers\": {}, \
         \"changes\": {}}}",
        resident("VmHWM:").saturating_sub(before),
        added,
        all
    );
}

/// Runs the dataflow until all instants before `until` are complete.
fn run(
    worker: &mut timely::worker::Worker,
    inputs: &mut [InputSession<Instant, Edge, isize>],
    probe: &Handle<Instant>,
    until: Instant,
) {
    for input in inputs.iter_mut() {
        input.advance_to(until);
        input.flush();
    }
    worker.step_while(|| probe.less_than(&until));
}

/// The changes by time, and the number of edges.
fn read(path: &str) -> (Vec<Change>, usize) {
    let bytes = fs::read(path).expect("EDGES can be read");
    let values: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|four| u32::from_le_bytes(four.try_into().expect("four bytes")))
        .collect();
    let mut changes = Vec::new();
    for row in values.chunks_exact(5) {
        let (label, edge) = (row[0] as usize, (row[1], row[2]));
        for (at, difference) in [(row[3], 1), (row[4], -1)] {
            changes.push(Change { at, label, edge, difference });
        }
    }
    changes.sort_by_key(|change| change.at);
    let edges = changes.len() / 2;
    (changes, edges)
}

/// The processor seconds of this process.
fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// A figure of the memory of this process, in bytes; 0 where the system does not tell.
fn resident(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    let number = line.split_whitespace().nth(1).and_then(|text| text.parse::<u64>().ok());
    number.unwrap_or(0) * 1024
}
