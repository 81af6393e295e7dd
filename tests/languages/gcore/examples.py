"""The printed examples of G-CORE, what each means in the algebra, and the same in RQ."""

FIGURE_3_5 = """
PATH RL = (u1)-/<:follows*>/->(u2), (u1)-[:likes]->(m1)<-[:posts]-(u2)
CONSTRUCT (u)-[:notify]->(m)
MATCH (u)-/p<~RL*>/->(v), (v)-[:posts]->(m), ON social_stream WINDOW (24h) SLIDE (1h)
"""
FIGURE_3_5_ALGEBRA = (
    "J[src1,trg2,notify ; trg1=src2]("
    "P[RL*](J[src1,trg1,RL ; src1=src2 & trg1=src3 & trg2=trg3]("
    "P[follows*](W[1d,1h](follows)), W[1d,1h](likes), W[1d,1h](posts))), W[1d,1h](posts))"
)
FIGURE_3_5_RQ = """
RL(u1, u2) <- follows*(u1, u2), likes(u1, m1), posts(u2, m1).
notify(u, m) <- RL*(u, v), posts(v, m).
WINDOW 24h SLIDE 1h
"""

FIGURE_3_6 = """
GRAPH VIEW rec_stream AS (
  CONSTRUCT (u1)-[:recommendation]->(p)
  MATCH (u1) OPTIONAL (u1)-[:follows]->(u2) OPTIONAL (u1)-[:likes]->(m)<-[:posts]-(u2)
    ON social_stream WINDOW (24 hours)
  MATCH (c)-[:purchase]->(p) ON tx_stream WINDOW (30d) SLIDE (1d) WHERE (u2) = (c) )
"""
FIGURE_3_6_ALGEBRA = (
    "J[src1,trg2,recommendation ; trg1=src2]("
    "U[either](W[1d](social_stream.follows), "
    "J[src1,src2,either ; trg1=trg2](W[1d](social_stream.likes), W[1d](social_stream.posts))), "
    "W[30d,1d](tx_stream.purchase))"
)
FIGURE_3_6_RQ = """
either(u1, u2) <- follows(u1, u2).   either(u1, u2) <- likes(u1, m), posts(u2, m).
recommendation(u1, p) <- either(u1, u2), purchase(u2, p).
ON social_stream WINDOW 24h   ON tx_stream WINDOW 30d SLIDE 1d
"""

FIGURE_6_6 = """
GRAPH VIEW output_stream AS (
  CONSTRUCT (s1)-[:r]->(t)
  MATCH (v)-[:a]->(s1), (v)-[:b]->(v2), (v)-[:c]->(v3), (v)-[:d]->(t)
  ON input_stream WINDOW (100) )
"""
FIGURE_6_6_ALGEBRA = (
    "J[trg1,trg4,r ; src1=src2 & src1=src3 & src1=src4](W[100](a), W[100](b), W[100](c), W[100](d))"
)
FIGURE_6_6_RQ = "r(s1, t) <- a(v, s1), b(v, v2), c(v, v3), d(v, t)  WINDOW 100"

FIGURE_6_7 = """
GRAPH VIEW output_stream AS (
  CONSTRUCT (u1)-[:l]->(u2) MATCH (u1)-/<:(a/b/c)+>/->(u2) ON input_stream WINDOW (100) )
"""
FIGURE_6_7_ALGEBRA = "P[l;(a·b·c)+](W[100](a), W[100](b), W[100](c))"
FIGURE_6_7_RQ = "l(u1, u2) <- u1 (a/b/c)+ u2  WINDOW 100"

EXAMPLES = {
    "Figure 3.5": (FIGURE_3_5, FIGURE_3_5_ALGEBRA, FIGURE_3_5_RQ),
    "Figure 3.6": (FIGURE_3_6, FIGURE_3_6_ALGEBRA, FIGURE_3_6_RQ),
    "Figure 6.6": (FIGURE_6_6, FIGURE_6_6_ALGEBRA, FIGURE_6_6_RQ),
    "Figure 6.7": (FIGURE_6_7, FIGURE_6_7_ALGEBRA, FIGURE_6_7_RQ),
}
"""Name to G-CORE text, its canonical expression, and an RQ text of the same expression."""

STREAMS = {
    "social_stream": "follows likes posts",
    "tx_stream": "purchase",
    "input_stream": "a b c d",
}
"""The labels of the streams that the examples read."""
