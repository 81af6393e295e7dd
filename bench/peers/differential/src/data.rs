//! The edges that a query reads, and its answers.

pub type Vertex = u32;
pub type Edge = (Vertex, Vertex);
pub type Instant = u32;
/// The variables of an answer; 0 where a query has fewer than four.
pub type Answer = [Vertex; 4];

pub const LABELS: usize = 3;
