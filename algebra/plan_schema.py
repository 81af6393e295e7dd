"""The published JSON Schema of the plan document, generated from the plan's types.

``python -m headrace.algebra.plan_schema`` writes ``plan.schema.json`` anew. The document differs
from the model in two points: a node has an operator's name and fields as ``op`` and ``args``, and
the plan has its ``digest``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .plan import PhysicalPlan

SCHEMA_FILE = Path(__file__).with_name("plan.schema.json")


def plan_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) that every plan document satisfies."""
    model = PhysicalPlan.model_json_schema(mode="validation")
    definitions: dict[str, Any] = model["$defs"]
    definitions["PlanNode"] = _document_node(definitions)
    properties = dict(model["properties"])
    version = properties.pop("version")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Headrace physical plan",
        "description": model["description"],
        "type": "object",
        "properties": {
            "version": version,
            "digest": {
                "description": "a hash of what the plan computes and how, without estimates",
                "type": "string",
                "pattern": "^[0-9a-f]{16}$",
            },
            **properties,
        },
        "required": ["version", "nodes", "root", "streams", "windows"],
        "additionalProperties": False,
        "$defs": dict(sorted(definitions.items())),
    }


def schema_text() -> str:
    """The schema as it stands in ``plan.schema.json``."""
    return json.dumps(plan_schema(), indent=2, ensure_ascii=False) + "\n"


def _document_node(definitions: dict[str, Any]) -> dict[str, Any]:
    """The node's definition with ``op`` and ``args`` in place of ``operator``."""
    node: dict[str, Any] = definitions["PlanNode"]
    fields = dict(node["properties"])
    operators: dict[str, str] = fields.pop("operator")["discriminator"]["mapping"]
    for reference in operators.values():
        arguments = definitions[reference.rpartition("/")[2]]
        del arguments["properties"]["op"]
        arguments["required"] = [f for f in arguments.get("required", ()) if f != "op"]
    return {
        **node,
        "properties": {
            "id": fields.pop("id"),
            "op": {"enum": sorted(operators)},
            "args": {"type": "object"},
            **fields,
        },
        "required": ["op", "args", *(f for f in node["required"] if f != "operator")],
        "oneOf": [
            {"properties": {"op": {"const": op}, "args": {"$ref": reference}}}
            for op, reference in sorted(operators.items())
        ],
    }


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
