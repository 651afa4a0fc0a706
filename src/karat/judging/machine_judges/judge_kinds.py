"""Kinds of machine judges by name: what makes one for a project, given settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat._util import Param, Registry, import_all, parse_params
from karat.judging.machine_judges.judge import Judge

if TYPE_CHECKING:
    from karat.store import Project


@dataclass(frozen=True)
class JudgeKind:
    """A kind of machine judge that can be named.

    Parameters
    ----------
    name, about
        Its name, and one line on what it is.
    make
        Takes the project, whose form the machine judge answers, and the settings as keywords; returns the
        machine judge.
    params
        The settings that `make` takes, as data.
    """

    name: str
    about: str
    make: Callable[..., Judge]
    params: tuple[Param, ...] = ()


JUDGES: Registry[JudgeKind] = Registry(
    "kind of machine judge", fill=lambda: import_all("karat.judging.machine_judges"), group="karat.judges"
)
"""By name. A run's scores are not among them: their thresholds are learned in the project first."""


def register_judge(kind: JudgeKind) -> JudgeKind:
    """Make a kind of machine judge known by its name; a name that is taken raises."""
    return JUDGES.add(kind.name, kind)


def make_judge(name: str, project: Project, **settings: Any) -> Judge:
    """Return a machine judge for a project, by the name of its kind.

    Parameters
    ----------
    name
        One of `JUDGES`: "chat", or one of a plug-in.
    project
        The project whose pairs it will judge.
    **settings
        As its kind takes them; texts are parsed.

    Examples
    --------
    >>> judge = make_judge("chat", project, url="http://127.0.0.1:8000/v1", model="eyes")  # doctest: +SKIP
    """
    kind = JUDGES[name]
    return kind.make(project, **parse_params(kind.params, f"the machine judge {kind.name}", settings))
