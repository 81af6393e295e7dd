"""Who likes a post of somebody they know: four streams, and members of forums as stored data.

In: nothing. Out: data files, a catalog and a query in two languages.

Invariant: the data is the publisher's, unchanged but for what ``make_slice.py`` does, and
attributed in the README beside it.
"""
