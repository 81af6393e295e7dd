//! Cyclic patterns over one relation by delta queries (worst-case optimal joins of dogs3).

use differential_dataflow::VecCollection;
use differential_dogs3::altneu::AltNeu;
use differential_dogs3::{CollectionIndex, PrefixExtender, ProposeExtensionMethod};

use crate::data::{Answer, Edge, Instant, Vertex};

type Alternating = AltNeu<Instant>;
type Index = CollectionIndex<Vertex, Vertex, Alternating, isize>;
type Extender<'s> = Box<
    dyn PrefixExtender<'s, Alternating, isize, Prefix = Answer, Extension = Vertex> + 's,
>;

/// The matches of a pattern: `atoms` are edges between variables 0 to `variables` - 1.
///
/// For each atom a delta query extends its changes by one variable after another. It reads the
/// atoms before it as they were (old) and those after it with the changes of the instant (new), so that
/// each match is found by the last of its changes alone.
pub fn pattern<'s>(
    edges: VecCollection<'s, Instant, Edge, isize>,
    atoms: &[(usize, usize)],
    variables: usize,
) -> VecCollection<'s, Instant, Answer, isize> {
    let outer = edges.scope();
    let atoms = atoms.to_vec();
    outer.scoped::<Alternating, _, _>("DeltaQuery", |inner| {
        let forward = edges.enter(inner);
        let reverse = forward.clone().map(|(x, y)| (y, x));
        let new = |time: &Alternating| AltNeu::neu(time.time);
        let old = [Index::index(forward.clone()), Index::index(reverse.clone())];
        let new = [
            Index::index(forward.clone().delay(new)),
            Index::index(reverse.clone().delay(new)),
        ];
        let mut matches = Vec::new();
        for (own, &(u, v)) in atoms.iter().enumerate() {
            let mut bound = vec![u, v];
            let mut prefixes = forward.clone().map(move |(x, y)| {
                let mut prefix = [0; 4];
                (prefix[u], prefix[v]) = (x, y);
                prefix
            });
            while bound.len() < variables {
                let next = next_variable(&atoms, &bound, variables);
                let mut extenders: Vec<Extender> = Vec::new();
                for (position, &(from, to)) in atoms.iter().enumerate() {
                    let (other, backwards) = if to == next { (from, 0) } else { (to, 1) };
                    if (from == next || to == next) && bound.contains(&other) {
                        let index = if position < own { &old } else { &new }[backwards].clone();
                        extenders.push(Box::new(
                            index.extend_using(move |prefix: &Answer| prefix[other]),
                        ));
                    }
                }
                let mut parts: Vec<_> = extenders.iter_mut().map(|e| e.as_mut() as _).collect();
                prefixes = prefixes.extend(&mut parts[..]).map(move |(mut prefix, value)| {
                    prefix[next] = value;
                    prefix
                });
                bound.push(next);
            }
            matches.push(prefixes);
        }
        let first = matches.remove(0);
        matches.into_iter().fold(first, |all, more| all.concat(more)).leave(outer)
    })
}

/// The unbound variable with the most atoms to bound ones.
fn next_variable(atoms: &[(usize, usize)], bound: &[usize], variables: usize) -> usize {
    let atoms_of = |variable: usize| {
        let to = |&&(x, y): &&(usize, usize)| {
            (x == variable && bound.contains(&y)) || (y == variable && bound.contains(&x))
        };
        atoms.iter().filter(to).count()
    };
    let unbound = (0..variables).filter(|variable| !bound.contains(variable));
    unbound.max_by_key(|&variable| (atoms_of(variable), variables - variable)).expect("one")
}
