"""Real streams for experiments, each a cut of some ten thousand edges.

In: a folder of data sets in their publishers' formats, or none for the bundled slices. Out: a
:class:`Cut` of each stream: edges with labels and properties, and the windows to try.
"""

from .cuts import Cut, Edge, Vertex, Window
from .streams import STREAMS, cut_of

__all__ = ["STREAMS", "Cut", "Edge", "Vertex", "Window", "cut_of"]
