"""Multiway join: extends each arriving row by one variable after the other.

The arriving row takes the place of each atom of its relation in turn. Its columns bind variables.
The other variables follow in *stages*, one variable each: the atoms that have the variable and
another bound one are intersected. The shortest of their lists is walked, and each value is looked
up in the other atoms. The validity is the intersection so far. If the row is held with an earlier
expiry, the search is for results that outlast it: all others are as valid as they were.

A derivation that uses the arriving row in several atoms counts once, at the first of them: earlier
atoms are joined with the rows before the change, later ones with the rows after it.
"""

from __future__ import annotations

from typing import NamedTuple

from ..batch import IntArray
from . import relations
from .checks import passes
from .compiling import kernel
from .relations import AFTER, COPIES, DEGREE, EXPIRY, FIRST, NEXT, UNTIL, Relations, find_head
from .stops import DONE, OUT_FULL, SWEEP_DUE
from .tables import EMPTY

# The header: rows begun, the atom whose place the row takes (EMPTY: no row is in work), the level
# of the search, the row in the store and its expiry before it came again, copies of the current
# result written, results written, and how many levels the current row has.
ROW, DELTA, LEVEL, HELD, BEFORE, MET, OUT, LEVELS, HEADER_FIELDS = range(9)

# Fields of a level of the program: the atom whose row it chooses; the index over all join columns
# of the atom; the index over the one column that is bound before the stage (EMPTY if none is); the
# first level of its stage, and the level after the last one.
ATOM, PROBE, LIST, BEGIN, END, LEVEL_FIELDS = range(6)

# Fields of a check: its kind, two variables and its bound. OWN, beside the kinds of the module
# ``checks``, is: x lies in part BOUND of PARTS.
KIND, FIRST_VARIABLE, SECOND_VARIABLE, BOUND, PARTS, CHECK_FIELDS = range(6)
OWN = -1

UNBOUND = 1 << 62
"""The level of a variable whose atom has no level yet."""


class Arriving(NamedTuple):
    """The arriving rows of all relations, by ts.

    Attributes:
        columns: int64[widest, rows].
        ts: when each row arrives.
        exp: the expiry of each row; ``~exp`` for a retraction.
        until: the time until which each row is held: its expiry or earlier.
        relation: the relation of each row.
    """

    columns: IntArray
    ts: IntArray
    exp: IntArray
    until: IntArray
    relation: IntArray


class Program(NamedTuple):
    """The join.

    Attributes:
        relation: the relation of each atom.
        variables: the variable of each column of each atom.
        levels: for each atom that a row may take the place of, the levels that follow.
        ready: for each such atom and variable the level at which the variable is bound, EMPTY if
            the row binds it; UNBOUND for a variable of another atom alone, which has the level of
            the atom once that is chosen.
        owner: the atom of a variable that no other atom has, EMPTY for other variables.
        output: the variables of the result.
        checks: conditions that every result satisfies.
    """

    relation: IntArray
    variables: IntArray
    levels: IntArray
    ready: IntArray
    owner: IntArray
    output: IntArray
    checks: IntArray


class Values(NamedTuple):
    """What checks read about values, by code.

    Attributes:
        entries: the entries of the dictionary.
        hashes: of each value of a variable of an OWN check, the hash modulo a multiple of all
            PARTS; empty without such a check.
    """

    entries: IntArray
    hashes: IntArray


class Work(NamedTuple):
    """The state of the search for the row in work, by level.

    Attributes:
        values: the values of the variables.
        ready: the level at which each variable is bound.
        chosen: the level of the program that runs at each level.
        chain: the index whose chain is walked.
        cursor: the next row of the chain.
        until: the expiry of the rows of all levels before, and of the arriving row.
        copies: the product of the copies of these rows.
    """

    values: IntArray
    ready: IntArray
    chosen: IntArray
    chain: IntArray
    cursor: IntArray
    until: IntArray
    copies: IntArray


@kernel
def _key(held: Relations, program: Program, work: Work, atom: int, index: int, place: int) -> int:
    """The value of a variable, or EMPTY for the second column of an index over one."""
    column = held.keys[index, place]
    return EMPTY if column == EMPTY else work.values[program.variables[atom, column]]


@kernel
def _head(held: Relations, program: Program, work: Work, atom: int, index: int) -> int:
    """The slot of the chain of rows of an atom that the values of the variables lead to."""
    first = _key(held, program, work, atom, index, 0)
    second = _key(held, program, work, atom, index, 1)
    return find_head(held, index, first, second)


@kernel
def _open_stage(held: Relations, program: Program, work: Work, delta: int, begin: int) -> None:
    """Chooses the shortest list of a stage to walk; its other atoms follow in order.

    Without a variable to bind, the lists are the matching rows of each atom. Sets the cursor of the
    first level, to EMPTY if one list has no row.
    """
    levels, heads = program.levels, held.heads
    end = levels[delta, begin, END]
    shortest, least, index = EMPTY, 0, EMPTY
    for level in range(begin, end):
        work.chosen[level] = level
        listed = levels[delta, level, LIST]
        if listed != EMPTY:
            slot = _head(held, program, work, levels[delta, level, ATOM], listed)
            if heads[slot, FIRST] == EMPTY:
                work.cursor[begin] = EMPTY
                return
            if shortest == EMPTY or heads[slot, DEGREE] < least:
                shortest, least, index = level, heads[slot, DEGREE], listed
                work.cursor[begin] = heads[slot, FIRST]
    if shortest == EMPTY:  # the atoms of this stage have no further variable to bind
        for level in range(begin, end):
            probed = levels[delta, level, PROBE]
            slot = _head(held, program, work, levels[delta, level, ATOM], probed)
            if heads[slot, FIRST] == EMPTY:
                work.cursor[begin] = EMPTY
                return
            if shortest == EMPTY or heads[slot, DEGREE] < least:
                shortest, least, index = level, heads[slot, DEGREE], probed
                work.cursor[begin] = heads[slot, FIRST]
    work.chosen[begin], work.chosen[shortest] = shortest, begin
    work.chain[begin] = index
    for level in range(begin, end):
        atom = levels[delta, work.chosen[level], ATOM]
        for column in range(held.widths[program.relation[atom]]):
            variable = program.variables[atom, column]
            if program.owner[variable] == atom:
                work.ready[variable] = level


@kernel
def _open(held: Relations, program: Program, work: Work, delta: int, level: int) -> None:
    """Sets the cursor of a level to the first row of its chain."""
    levels = program.levels
    if levels[delta, level, BEGIN] == level:
        _open_stage(held, program, work, delta, level)
        return
    chosen = work.chosen[level]
    index = levels[delta, chosen, PROBE]
    slot = _head(held, program, work, levels[delta, chosen, ATOM], index)
    work.chain[level] = index
    work.cursor[level] = held.heads[slot, FIRST]


@kernel
def _passes(program: Program, work: Work, of: Values, level: int) -> bool:
    """Whether the values satisfy the checks whose variables are all bound from this level on."""
    checks, ready, values = program.checks, work.ready, work.values
    for k in range(checks.shape[0]):
        x, y = checks[k, FIRST_VARIABLE], checks[k, SECOND_VARIABLE]
        if max(ready[x], ready[y]) == level:
            one, other = values[x], values[y]
            if checks[k, KIND] == OWN:
                if of.hashes[one] % checks[k, PARTS] != checks[k, BOUND]:
                    return False
            elif not passes(checks[k, KIND], checks[k, BOUND], of.entries, one, other):
                return False
    return True


@kernel
def _begin(
    h: IntArray, held: Relations, program: Program, work: Work, rows: Arriving, of: Values
) -> bool:
    """Puts the row in work in the place of an atom; False if the row's own values fail."""
    i, delta = h[ROW], h[DELTA]
    for column in range(held.widths[rows.relation[i]]):
        work.values[program.variables[delta, column]] = rows.columns[column, i]
    for variable in range(work.ready.shape[0]):
        work.ready[variable] = program.ready[delta, variable]
    exp = rows.exp[i]
    work.until[0] = exp if exp >= 0 else ~exp
    work.copies[0] = 1
    h[LEVEL] = 0
    if not _passes(program, work, of, EMPTY):
        return False
    _open(held, program, work, delta, 0)
    return True


@kernel
def _search(
    h: IntArray,
    held: Relations,
    program: Program,
    work: Work,
    arriving: Arriving,
    of: Values,
    out: IntArray,
) -> bool:
    """Writes the results in which the row in work takes the place of an atom, by backtracking.

    Returns False when ``out`` is full; resumes from the header.
    """
    rows, after, i = held.rows, held.header[AFTER], h[ROW]
    now, is_retraction = arriving.ts[i], arriving.exp[i] < 0
    delta, level, last, newest = h[DELTA], h[LEVEL], h[LEVELS], h[HELD]
    outlasted = max(now, h[BEFORE])
    width = program.output.shape[0]
    while level >= 0:
        if level == last:
            written = h[OUT]
            while h[MET] < work.copies[level]:
                if written == out.shape[1]:
                    h[LEVEL], h[OUT] = level, written
                    return False
                for j in range(width):
                    out[j, written] = work.values[program.output[j]]
                until = work.until[level]
                out[width, written] = now
                out[width + 1, written] = ~until if is_retraction else until
                written += 1
                h[MET] += 1
            h[OUT], h[MET] = written, 0
            level -= 1
            continue
        row = work.cursor[level]
        if row == EMPTY:
            level -= 1
            continue
        atom = program.levels[delta, work.chosen[level], ATOM]
        relation = program.relation[atom]
        next_row = after + NEXT + work.chain[level] - held.first_index[relation]
        work.cursor[level] = rows[row, next_row]
        if rows[row, after + UNTIL] <= now or rows[row, after + EXPIRY] <= outlasted:
            continue
        copies = rows[row, after + COPIES]
        if row == newest:
            if is_retraction:
                copies += atom > delta
            else:
                copies -= atom < delta
        if copies <= 0:
            continue
        for column in range(held.widths[relation]):
            work.values[program.variables[atom, column]] = rows[row, column]
        if program.checks.shape[0] > 0 and not _passes(program, work, of, level):
            continue
        work.until[level + 1] = min(work.until[level], rows[row, after + EXPIRY])
        work.copies[level + 1] = work.copies[level] * copies
        if level + 1 < last:
            _open(held, program, work, delta, level + 1)
            if work.cursor[level + 1] == EMPTY:
                continue
        level += 1
    return True


@kernel
def advance(
    h: IntArray,
    held: Relations,
    program: Program,
    work: Work,
    arriving: Arriving,
    of: Values,
    out: IntArray,
) -> int:
    """Joins the arriving rows with the rows held; resumes from the header.

    The store is swept only between two rows.
    """
    ts, exp, relation = arriving.ts, arriving.exp, arriving.relation
    atoms = program.relation.shape[0]
    while True:
        if h[DELTA] != EMPTY:
            if not _search(h, held, program, work, arriving, of, out):
                return OUT_FULL
            delta = h[DELTA] + 1
        else:
            i = h[ROW]
            if i == ts.shape[0]:
                return DONE
            if relations.is_due(held, ts[i]):
                return SWEEP_DUE
            columns, until = arriving.columns, arriving.until[i]
            row, before, is_held = EMPTY, 0, True
            if exp[i] < 0:
                row = relations.take(held, columns, i, relation[i], ~exp[i])
            elif until > ts[i]:
                row, before = relations.add(held, columns, i, relation[i], exp[i], until)
            else:
                is_held = False  # no later row can match it
            h[HELD], h[BEFORE] = row, before
            delta = atoms if is_held and row == EMPTY else 0
        h[DELTA] = EMPTY
        while delta < atoms:
            if program.relation[delta] == relation[h[ROW]]:
                h[DELTA] = delta
                if _begin(h, held, program, work, arriving, of):
                    break
                h[DELTA] = EMPTY
            delta += 1
        if h[DELTA] == EMPTY:
            h[ROW] += 1
