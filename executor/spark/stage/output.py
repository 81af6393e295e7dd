"""The output of a stage: results, or messages to the partitions of the next stage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import pandas as pd
import pyarrow as pa

from ....algebra.plan import PhysicalPlan
from ...batch import FOREVER, Batch
from ...dictionary import Dictionary
from ...partitions import Partition
from ...stages import Stage
from ..exchange.blocks import LATE, REPORT, RESULTS
from ..exchange.names import column_names
from ..exchange.packing import Message, arrow_bytes, packed
from ..exchange.wire import RowWire, value_types

_BLOCK_ROWS = 131_072


class Output(Protocol):
    """The destination of a stage's rows."""

    def rows(self, results: Mapping[int, Batch]) -> Iterator[pd.DataFrame]:
        """Rows of the stage's outputs."""
        ...

    def end(self, reports: Iterable[bytes], late: Iterable[bytes]) -> Iterator[pd.DataFrame]:
        """The end of a batch: late edges and reports, of this stage and of those before."""
        ...


def _pieces(batch: Batch) -> Iterator[Batch]:
    """Cuts a batch into pieces of at most ``_BLOCK_ROWS`` rows."""
    for start in range(0, len(batch), _BLOCK_ROWS):
        part = slice(start, start + _BLOCK_ROWS)
        yield Batch(batch.columns[:, part], batch.ts[part], batch.exp[part])


class Blocks:
    """The output of the last stage."""

    def __init__(self, plan: PhysicalPlan, dictionary: Dictionary) -> None:
        self._root = plan.root
        self._names = [*column_names(plan.columns), "ts", "exp"]
        self._dictionary = dictionary

    def rows(self, results: Mapping[int, Batch]) -> Iterator[pd.DataFrame]:
        """Blocks of results."""
        for batch in _pieces(results[self._root]):
            columns = [
                *(self._dictionary.decode(codes) for codes in batch.columns),
                pa.array(batch.ts),
                pa.array(batch.exp, mask=batch.exp == FOREVER),
            ]
            block = pa.RecordBatch.from_arrays(columns, self._names)
            yield self._output(RESULTS, block.num_rows, arrow_bytes(block))

    def end(self, reports: Iterable[bytes], late: Iterable[bytes]) -> Iterator[pd.DataFrame]:
        """Late edges and reports."""
        for lines in late:
            yield self._output(LATE, lines.count(b"\n"), lines)
        for report in reports:
            yield self._output(REPORT, 0, report)

    @staticmethod
    def _output(kind: str, rows: int, payload: bytes) -> pd.DataFrame:
        return pd.DataFrame({"kind": [kind], "rows": [rows], "payload": [payload]})


@dataclass(slots=True)
class Messages:
    """The output of any other stage, to the partitions of the next."""

    plan: PhysicalPlan
    to: Stage
    place: Partition
    dictionary: Dictionary
    now: int
    ended: bool = False
    sent: int = 0

    def rows(self, results: Mapping[int, Batch]) -> Iterator[pd.DataFrame]:
        """Messages of rows."""
        wire = RowWire(self.to.inputs, value_types(self.plan))
        for port, flow in enumerate(self.to.inputs):
            for piece in _pieces(results[flow.source]):
                match flow.spread:
                    case "stay":
                        rows = wire.rows(port, piece, self.dictionary)
                        yield self._sent(self.place.partition, rows)
                    case "single":
                        yield self._sent(0, wire.rows(port, piece, self.dictionary))
                    case "broadcast":
                        rows = wire.rows(port, piece, self.dictionary)
                        for partition in range(self.place.partitions):
                            yield self._sent(partition, rows)
                    case "hash":
                        yield from self._hashed(wire, port, piece, flow.column)

    def _hashed(
        self, wire: RowWire, port: int, batch: Batch, column: int
    ) -> Iterator[pd.DataFrame]:
        count = self.place.partitions
        target = self.dictionary.partitions(batch.columns[column], count)
        for partition in range(count):
            own = batch.take(target == partition)
            if len(own):
                yield self._sent(partition, wire.rows(port, own, self.dictionary))

    def end(self, reports: Iterable[bytes], late: Iterable[bytes]) -> Iterator[pd.DataFrame]:
        """Late edges and reports, to be passed on; to each partition how far time has come, and
        whether that is the end."""
        own = self.place.partition
        source = self.place.partition
        for lines in late:
            yield self._frame(Message(own, "late", source, self.sent, self.now, lines))
        for report in reports:
            yield self._frame(Message(own, "report", source, self.sent, self.now, report))
        for partition in range(self.place.partitions):
            kind: Literal["rows", "end"] = "end" if self.ended else "rows"
            yield self._frame(Message(partition, kind, source, self.sent, self.now))

    def _sent(self, partition: int, rows: pa.RecordBatch) -> pd.DataFrame:
        self.sent += 1
        payload = arrow_bytes(rows)
        return self._frame(
            Message(partition, "rows", self.place.partition, self.sent, self.now, payload)
        )

    def _frame(self, message: Message) -> pd.DataFrame:
        return packed([message], self.place.partitions).to_pandas()
