"""Pairs that are drawn for a project, and what the answers about them prove."""

from __future__ import annotations

from karat.estimation import estimate_project, next_pairs
from karat.project.place import takes_place

estimate = takes_place(estimate_project)
next = takes_place(next_pairs)
