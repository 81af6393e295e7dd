"""The output of a stage: results, a file of results, or messages to the next stage's partitions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Literal, Protocol

import pandas as pd
import pyarrow as pa

from ....algebra.plan import PhysicalPlan
from ...batch import Batch
from ...cells import Mask, codes_in_cells
from ...dictionary import BLOCK_ROWS, Dictionary, decoded
from ...partitions import Partition
from ...stages import Stage
from ..exchange.blocks import LATE, PART, REPORT, RESULTS
from ..exchange.names import column_names
from ..exchange.packing import Message, arrow_bytes, packed
from ..exchange.wire import RowWire, value_types
from ..results.parts import PartWriter


class Output(Protocol):
    """The destination of a stage's rows."""

    def rows(self, results: Mapping[int, Batch]) -> Iterator[pd.DataFrame]:
        """Rows of the stage's outputs."""
        ...

    def end(self, reports: Iterable[bytes], late: Iterable[bytes]) -> Iterator[pd.DataFrame]:
        """The end of a batch: late edges and reports, of this stage and of those before."""
        ...


class Blocks:
    """The output of the last stage: results as rows of Spark, or a file of results.

    Args:
        plan: the plan.
        dictionary: the codes of values in results.
        part: writes the results to a file, if there is one; then a row names the file.
    """

    def __init__(
        self, plan: PhysicalPlan, dictionary: Dictionary, part: PartWriter | None = None
    ) -> None:
        self._root = plan.root
        self._names = column_names(plan.columns)
        self._dictionary = dictionary
        self._part = part

    def rows(self, results: Mapping[int, Batch]) -> Iterator[pd.DataFrame]:
        """Blocks of results."""
        for batch in results[self._root].pieces(BLOCK_ROWS):
            block = decoded(batch, self._dictionary, self._names)
            if self._part is None:
                yield self._output(RESULTS, block.num_rows, arrow_bytes(block))
            else:
                self._part.write(block)

    def end(self, reports: Iterable[bytes], late: Iterable[bytes]) -> Iterator[pd.DataFrame]:
        """The file of results, late edges and reports."""
        part = None if self._part is None else self._part.close()
        if part is not None:
            yield self._output(PART, part.rows, json.dumps(asdict(part)).encode())
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
            for piece in results[flow.source].pieces(BLOCK_ROWS):
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
                    case "hypercube":
                        assert flow.cells is not None
                        placed = codes_in_cells(flow.cells, piece, self.dictionary)
                        yield from self._sent_each(wire, port, piece, placed.on)

    def _hashed(
        self, wire: RowWire, port: int, batch: Batch, column: int
    ) -> Iterator[pd.DataFrame]:
        target = self.dictionary.partitions(batch.columns[column], self.place.partitions)
        yield from self._sent_each(wire, port, batch, lambda partition: target == partition)

    def _sent_each(
        self, wire: RowWire, port: int, batch: Batch, on: Callable[[int], Mask]
    ) -> Iterator[pd.DataFrame]:
        """Sends each partition the rows that a mask has for it."""
        for partition in range(self.place.partitions):
            own = batch.take(on(partition))
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
