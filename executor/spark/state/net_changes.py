"""The changes of each instant in a log of rows and retractions, in an order that logs do not keep.

A log groups rows by the length of their validity, so rows of one ts do not stay in the order of
their arrival. A replay needs no more than the net changes of an instant, in this order: first the
retractions of earlier rows, then the new rows. So a value that is retracted and given anew with
another expiry is valid afterwards, for operators that know rows by value, too.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ...batch import lasting

_SIGN = "sign"


def net_changes(rows: pa.Table) -> pa.Table:
    """The net changes of each ts, sorted by ts; retractions of a ts come first.

    Args:
        rows: rows sorted by ts. Rows of scan inputs, whose deletions name no rows, and rows without
            retractions are returned as they are.
    """
    names = rows.schema.names
    if "exp" not in names:
        return rows
    expiry = rows["exp"].to_numpy()
    if not (expiry < 0).any():
        return rows
    signed = rows.set_column(names.index("exp"), "exp", pa.array(lasting(expiry)))
    signed = signed.append_column(_SIGN, pa.array(np.where(expiry < 0, -1, 1)))
    changes = signed.group_by(names).aggregate([(_SIGN, "sum")])
    net = changes[f"{_SIGN}_sum"].to_numpy()
    ts, until = changes["ts"].to_numpy(), changes["exp"].to_numpy()
    order = np.lexsort((net > 0, ts))
    order = np.repeat(order, np.abs(net[order]))
    changes = changes.set_column(
        changes.schema.names.index("exp"), "exp", pa.array(np.where(net < 0, ~until, until))
    )
    return changes.select(names).cast(rows.schema).take(order)
