"""The printed examples of RQ and what each means in the algebra.

The expressions are in the notation of `headrace.algebra.text`; a window of ``@`` stands for that of
the whole query, which these tables do not print.
"""

EXAMPLE_3 = """
% Example 3 (labels l likes, f follows, p posts); 24 h window from Example 13
RL(u1,u2) <- l(u1,m1), p(u2,m1), f+(u1,u2) as FP.
Notify(u,m) <- RL+(u,v) as RLP, p(v,m).
Answer(u,m) <- Notify(u,m).
WINDOW 24h
"""
EXAMPLE_3_ALGEBRA = (
    "J[src1,trg2,Notify ; trg1=src2]("
    "P[RLP;RL+](J[src1,src2,RL ; trg1=trg2 & src1=src3 & src2=trg3]("
    "W[1d](l), W[1d](p), P[FP;f+](W[1d](f)))), W[1d](p))"
)

EXAMPLE_5 = """
% Example 5
ACQ(u1,u2) <- l(u1,m1), p(u2,m1).   ACQ(u1,u2) <- f(u1,u2).
REC(u,p) <- ACQ(u,u2), pur(u2,p).   Answer(u,p) <- REC(u,p).
ON social_stream WINDOW 24h   ON tx_stream WINDOW 30d SLIDE 1d
"""
EXAMPLE_5_ALGEBRA = (
    "J[src1,trg2,REC ; trg1=src2]("
    "U[ACQ](J[src1,src2,ACQ ; trg1=trg2](W[1d](social_stream.l), W[1d](social_stream.p)), "
    "W[1d](social_stream.f)), W[30d,1d](tx_stream.pur))"
)

RL = "RL(x,y) <- a+(x,y), b(x,m), c(m,y)"
RL_ALGEBRA = "J[src1,trg1,RL ; src1=src2 & trg2=src3 & trg1=trg3](P[a+](@(a)), @(b), @(c))"

TABLE_4_2 = {
    "4.2 Q1": ("a*", "P[Answer;a*](@(a))"),
    "4.2 Q2": ("a◦b*", "P[Answer;a·b*](@(a), @(b))"),
    "4.2 Q3": ("a◦b*◦c*", "P[Answer;a·b*·c*](@(a), @(b), @(c))"),
    "4.2 Q4": ("(a1 + a2 + a3)*", "P[Answer;(a1|a2|a3)*](@(a1), @(a2), @(a3))"),
    "4.2 Q5": ("a◦b*◦c", "P[Answer;a·b*·c](@(a), @(b), @(c))"),
    "4.2 Q6": ("a*◦b*", "P[Answer;a*·b*](@(a), @(b))"),
    "4.2 Q7": ("a◦b◦c*", "P[Answer;a·b·c*](@(a), @(b), @(c))"),
    "4.2 Q8": ("a?◦b*", "P[Answer;a?·b*](@(a), @(b))"),
    "4.2 Q9": ("(a1 + a2 + a3)+", "P[Answer;(a1|a2|a3)+](@(a1), @(a2), @(a3))"),
    "4.2 Q10": ("(a1 + a2 + a3)◦b*", "P[Answer;(a1|a2|a3)·b*](@(a1), @(a2), @(a3), @(b))"),
    "4.2 Q11": ("a1◦a2◦a3", "P[Answer;a1·a2·a3](@(a1), @(a2), @(a3))"),
}

TABLE_5_1 = {
    "5.1 Q1": ("?x, ?y <- ?x a* ?y", "P[Answer;a*](@(a))"),
    "5.1 Q2": ("?x, ?y <- ?x a◦b* ?y", "P[Answer;a·b*](@(a), @(b))"),
    "5.1 Q3": ("?x, ?y <- ?x a◦b*◦c* ?y", "P[Answer;a·b*·c*](@(a), @(b), @(c))"),
    "5.1 Q4": ("?x, ?y <- ?x (a◦b◦c)+ ?y", "P[Answer;(a·b·c)+](@(a), @(b), @(c))"),
    "5.1 Q5": (
        "RR(m1,m2) <- a(x,y), b(m1,x), b(m2,y), c(m2,m1)",
        "J[src2,src3,RR ; src1=trg2 & trg1=trg3 & src3=src4 & src2=trg4](@(a), @(b), @(b), @(c))",
    ),
    "5.1 Q6": (RL, RL_ALGEBRA),
    "5.1 Q7": (
        f"{RL}. Ans(x,m) <- RL+(x,y), c(m,y)",
        f"J[src1,src2,Ans ; trg1=trg2](P[RL+]({RL_ALGEBRA}), @(c))",
    ),
}

EXAMPLES = {
    "Example 3": (EXAMPLE_3, EXAMPLE_3_ALGEBRA),
    "Example 5": (EXAMPLE_5, EXAMPLE_5_ALGEBRA),
    **{name: (f"?x, ?y <- ?x {path} ?y", algebra) for name, (path, algebra) in TABLE_4_2.items()},
    **TABLE_5_1,
}
"""Name to RQ text and its canonical expression."""
