"""The columns of Amazon Mechanical Turk's files, and the names of the fields of a HIT."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from karat.judging.forms import FollowUp, Form

FIXED = (
    "HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime", "MaxAssignments",
    "RequesterAnnotation", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "Expiration",
    "NumberOfSimilarHITs", "LifetimeInSeconds", "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime",
    "SubmitTime", "AutoApprovalTime", "ApprovalTime", "RejectionTime", "RequesterFeedback",
    "WorkTimeInSeconds", "LifetimeApprovalRate", "Last30DaysApprovalRate", "Last7DaysApprovalRate",
)  # fmt: skip
"""What every file of results starts with; after them come Input.*, Answer.*, Approve and Reject."""
NEEDED = ("AssignmentId", "WorkerId", "AssignmentStatus", "WorkTimeInSeconds", "Input.task")
KIND = re.compile(r"karat:kind=([a-z]+);")
"""How a file of ours says, in RequesterAnnotation, that a worker is no person."""
SPECIAL = re.compile("[\t\n\r$\\{＝＋－＠]|[^\0-\uffff]")
"""Characters that need a reference: line ends, what starts a variable, and those that Amazon refuses."""
FIRST = re.compile("[=+@-]")


def field(what: str, number: int) -> str:
    """Return the name of a form's field for the pair at a place.

    >>> field("answer", 3), field("details_why", 3)
    ('answer_3', 'details_why_3')
    """
    return f"{what}_{number}"


def referenced(text: str) -> str:
    """Return text as html that is one line and starts no formula and no variable, for a cell or a page.

    Amazon puts cells into the page as they are, so it is here that captions become harmless. It refuses
    emoji; references to them pass.

    Examples
    --------
    >>> referenced('=1 <b> ${x} 🙂')
    '&#61;1 &lt;b&gt; &#36;&#123;x} &#128578;'
    >>> html.unescape(referenced("=1 <b> ${x}"))
    '=1 <b> ${x}'
    """
    escaped = SPECIAL.sub(lambda found: f"&#{ord(found[0])};", html.escape(text))
    return f"&#{ord(escaped[0])};{escaped[1:]}" if FIRST.match(escaped) else escaped


def answer_fields(form: Form, number: int) -> Iterator[str]:
    """Yield the fields that a HIT returns for the pair at a place."""
    yield field("answer", number)
    for one in form.follow_ups:
        yield field(f"details_{one.code}", number)
    yield field("seconds", number)
    yield field("at", number)


def checked_fields(one: Form | FollowUp, number: int) -> Iterator[tuple[str, str]]:
    """Yield the field and the code of each choice, where a ``crowd-form`` returns true or false for each."""
    name = field("answer" if isinstance(one, Form) else f"details_{one.code}", number)
    for choice in one.answers if isinstance(one, Form) else one.choices:
        yield f"{name}.{choice.code}", choice.code
