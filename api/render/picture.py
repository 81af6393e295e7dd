"""A plan as a picture in JSON, for those who draw it elsewhere: the page."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ...algebra.plan import PhysicalPlan
from ...documents.numbers import seconds_in
from ...documents.picture import of_plan


def picture(plan: PhysicalPlan) -> dict[str, Any]:
    """The boxes of a plan by the ids of its nodes; estimates stand in the plan's own document.

    ``alike`` of a box is a digest of what the tree below and with it computes, and how: equal in
    two plans where they make the same rows in the same way.
    """
    diagram = of_plan(plan)
    alike: list[str] = []
    boxes: list[dict[str, Any]] = []
    for box, node in zip(diagram.boxes, plan.to_document()["nodes"], strict=True):
        arguments = {k: v for k, v in node["args"].items() if k != "variables"}  # names
        essence = [node["op"], arguments, [alike[i] for i in box.inputs]]
        text = json.dumps(essence, sort_keys=True)
        alike.append(hashlib.sha256(text.encode()).hexdigest()[:16])
        boxes.append(
            {
                "id": box.key,
                "operator": box.operator,
                "symbol": box.symbol,
                "summary": box.summary,
                "inputs": list(box.inputs),
                "facts": [{"name": name, "value": value} for name, value in box.facts],
                "alike": alike[-1],
            }
        )
    per = diagram.per
    return {
        "boxes": boxes,
        "time_unit": plan.time_unit,
        "seconds": seconds_in(plan.time_unit),
        "per": {"factor": per.factor, "sign": per.sign},
    }
