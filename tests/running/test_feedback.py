"""What a run measures of the rows of operators, where plans can compare them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headrace.algebra.plan import PhysicalPlan
from headrace.catalog.feedback import FeedbackFile, Observation, read
from headrace.executor.local import Edge, LocalRun
from headrace.executor.local import run as run_edges
from headrace.planning.planner import optimize
from headrace.planning.requests import PlanningOptions, PlanRequest
from headrace.running.feedback import Recorder, observations
