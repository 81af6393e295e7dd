//! The queries of Table 5.1, as one would write them by hand, and two cyclic patterns.

use differential_dataflow::operators::iterate::Iterate;
use differential_dataflow::VecCollection;
use timely::progress::Timestamp;

use crate::data::{Answer, Edge, Instant};
use crate::delta;

type Edges<'s> = VecCollection<'s, Instant, Edge, isize>;
type Answers<'s> = VecCollection<'s, Instant, Answer, isize>;

/// The answers of the query with this name, of which each holds once at an instant.
pub fn query<'s>(name: &str, relations: Vec<Edges<'s>>) -> Answers<'s> {
    // An edge that comes again within its window is one edge.
    let mut relations = relations.into_iter().map(|edges| edges.distinct());
    let mut next = || relations.next().expect("three relations");
    let (a, b, c) = (next(), next(), next());
    let pairs = match name {
        "Q1" => closure(a),
        "Q2" => followed(a, b),
        "Q3" => followed(followed(a, b), c),
        "Q4" => closure(joined(joined(a, b), c).distinct()),
        "Q5" => rectangle(a, b, c),
        "Q6" => recent(a, b, c),
        "Q7" => joined(closure(recent(a, b, c.clone())), inverse(c)).distinct(),
        "triangle" => return delta::pattern(a, &[(0, 1), (1, 2), (2, 0)], 3),
        "4-clique" => {
            return delta::pattern(a, &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], 4)
        }
        _ => panic!("no query {name}"),
    };
    pairs.map(|(x, y)| [x, y, 0, 0])
}

fn inverse<T: Timestamp>(edges: VecCollection<'_, T, Edge, isize>) -> VecCollection<'_, T, Edge, isize> {
    edges.map(|(x, y)| (y, x))
}

/// The pairs (x, z) with (x, y) and (y, z), as often as there is a y.
fn joined<'s>(one: Edges<'s>, other: Edges<'s>) -> Edges<'s> {
    inverse(one).join_map(other, |_, &x, &z| (x, z))
}

/// The pairs that a path of one edge or more connects.
fn closure<'s>(edges: Edges<'s>) -> Edges<'s> {
    followed(edges.clone(), edges)
}

/// The pairs that an edge of `first`, and then a path of `edges` of any length, connects.
fn followed<'s>(first: Edges<'s>, edges: Edges<'s>) -> Edges<'s> {
    first.clone().iterate(|scope, reached| {
        let (first, edges) = (first.enter(scope), edges.enter(scope));
        inverse(reached).join_map(edges, |_, &x, &z| (x, z)).concat(first).distinct()
    })
}

/// `RR(m1, m2) <- a(x, y), b(m1, x), b(m2, y), c(m2, m1)`.
fn rectangle<'s>(a: Edges<'s>, b: Edges<'s>, c: Edges<'s>) -> Edges<'s> {
    let by_first = inverse(c).join_map(b.clone(), |&m1, &m2, &x| (m2, (m1, x)));
    let ends = by_first.join_map(b, |&m2, &(m1, x), &y| ((x, y), (m1, m2)));
    ends.semijoin(a).map(|(_, found)| found).distinct()
}

/// `RL(x, y) <- a+(x, y), b(x, m), c(m, y)`.
fn recent<'s>(a: Edges<'s>, b: Edges<'s>, c: Edges<'s>) -> Edges<'s> {
    let ends = joined(b, c).distinct();
    closure(a).map(|pair| (pair, ())).semijoin(ends).map(|(pair, ())| pair)
}
