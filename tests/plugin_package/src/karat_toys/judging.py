"""A machine judge that likes short captions."""

import numpy as np

from karat.judging.machine_judges import JudgeKind, ScoringJudge, register_judge
from karat.measures import Param, whole


def judge_short(project, longest):
    edges = longest * np.arange(1 - len(project.form.answers), 0)
    return ScoringJudge("short", lambda asked: np.array([-len(q.text) for q in asked]), edges, project.form)


register_judge(
    JudgeKind("short", "likes short captions", judge_short, (Param("longest", whole, "letters of the best"),))
)
