"""Queries of the paper of Seraph, and queries with their rules."""

from __future__ import annotations

from pathlib import Path

PAPER = {
    "testing": """
        REGISTER QUERY people_to_be_tested {
          FROM STREAM kafka://event-topic
          STARTING FROM Latest
          WITH WINDOW RANGE PT4H
          MATCH
            (i:Patient)-[:TESTED_FOR {positive:true}]->(v:Virus),
            (p:Person)-[:ADMINISTERS|IS_WITH*1..3]-(i)
          RETURN DISTINCT p.name,
                          v.name
          EMIT ON ENTERING EVERY 1 Event
          INTO kafka://result-topic
        }""",
    "location": """
        REGISTER QUERY people_in_the_same_location {
          FROM STREAM kafka://room-topic
          STARTING FROM Latest
          WITH WINDOW RANGE PT2M
          MATCH (p1:Person)-[:IN]->(room:Room), (p2:Person)-[:IN]->(room)
          RETURN p1, p2
          EMIT ON ENTERING EVERY PT1M
          INTO kafka://event-topic
        }""",
    "count": """
        REGISTER QUERY srbench_charley_observation_count {
          FROM STREAM kafka://sr-bench-charley
          STARTING FROM Earliest
          WITH WINDOW RANGE PT5M
          MATCH (o:Observation)
          RETURN COUNT(o) AS observation_count
          EMIT SNAPSHOT EVERY PT5M
          INTO kafka://observation-count
        }""",
    "routes": """
        REGISTER QUERY watch_for_anomalous_routes {
          FROM STREAM kafka://network-monitoring
          STARTING FROM Latest
          WITH WINDOW RANGE PT10M
          MATCH path = allShortestPaths(
            (rack:Rack)-[:HOLDS|ROUTES|CONNECTS*]-(router:Router:Egress))
          WITH rack, avg(length(path)) as `10minAvg`, path
          WHERE (`10minAvg` - 5 / 0.5) >= 3
          RETURN path
          EMIT SNAPSHOT EVERY PT1M
          INTO kafka://anomalous-routes
        }""",
}
"""The queries of the paper, where it prints what is not supported or has misprints with the
nearest supported form."""


def _pairs(name: str) -> dict[str, str]:
    blocks = Path(__file__).with_name(name).read_text("utf-8").strip().split("\n\n")
    return {text: meant for text, _, meant in (block.partition("\n=>\n") for block in blocks)}


TRANSLATED = _pairs("translations.txt")
"""Queries, each with its rules in RQ."""
REFUSED = _pairs("refused.txt") | {"": "E-SYNTAX 1:1: the query is empty"}
"""Texts, each with the beginning of its error."""
