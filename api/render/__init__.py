"""Renderings of plans and queries: text, DOT, Mermaid and HTML, all of one `Diagram`.

In: a `PhysicalPlan` or a `LogicalQuery`. Out: text that may be shown as it is: every
renderer escapes names for its own format.
"""
