"""What a correct result is, said a second time and as plainly as possible.

In: a query of our own little syntax tree, edges, an instant. Out: the set of answers that
thesis Definition 15 asks for at that instant, and a judgement on a product's result lines.

Invariant: nothing here imports Headrace. The judge shares no code with the judged, neither
parser nor regexes nor windows.
"""
