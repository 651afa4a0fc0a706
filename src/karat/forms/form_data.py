"""A form as plain data, as in TOML and json: the model of the file, and an error message for every mistake.

Texts are untrusted: they are plain text, never markup, and must be escaped where they are shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict
from itertools import pairwise
from typing import Annotated, Any, Self, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    ValidationError,
    WrapValidator,
    model_validator,
)

from karat.errors import InputError, unknown_name
from karat.forms.form import KINDS, LAYOUTS, Choice, Example, FollowUp, Form, Kind, Layout

CODE = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
LONGEST, MOST = 2000, 200
"""The largest number of characters of a text, and of entries of a list: annotators have to read them."""
BIDIRECTIONAL = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that reverse the direction of what follows: a text could look like a different one."""
PAGE_KEYS = {
    "u": "undo",
    "n": "the next pair",
    "p": "the pair before",
    "z": "a larger image",
    "h": "the guidelines",
    "?": "the list of keys",
}
"""Keys that the judging page uses itself; no choice may have them."""
REGION_KEY = "o"
"""Shows and hides what is drawn over the image, in forms with regions."""


def form_to_data(form: Form) -> dict[str, Any]:
    """Return a form as dictionaries, lists, texts and numbers, which json and TOML can represent.

    Examples
    --------
    >>> from karat.forms import load_form
    >>> data = form_to_data(load_form("grid"))
    >>> data["answers"][0]
    {'code': 'yes', 'text': 'It describes the image', 'key': 'y', 'rating': 1.0, 'grade': 1.0}
    >>> form_from_data(data) == load_form("grid")
    True
    """
    data = cast(dict[str, Any], plain(asdict(form)))
    if not form.regions:
        # Forms without regions are written as versions before 0.5 wrote them.
        del data["regions"]
    return data


def plain(value: Any) -> Any:
    """Return tuples as lists, and dictionaries without entries that are None."""
    if isinstance(value, dict):
        return {str(name): plain(entry) for name, entry in value.items() if entry is not None}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return value


def form_from_data(data: Any, where: str | None = None) -> Form:
    """Return the form that plain data describe; raise if anything is unknown, missing or contradictory.

    Parameters
    ----------
    data
        What `form_to_data` returns, or the content of a TOML or json file.
    where
        The file that the data came from, for messages.

    Examples
    --------
    >>> form_from_data({"name": "mine", "titel": "Does it fit?"}, "mine.toml")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: mine.toml: the form has no field 'titel'; did you mean title?
    """
    try:
        return FormFile.model_validate(data).build()
    except ValidationError as error:
        raise first_mistake(error, where) from None


def first_mistake(error: ValidationError, where: str | None) -> InputError:
    """Return the error for the first mistake; an unknown field first, since it explains a missing one."""
    mistakes = error.errors(include_url=False)
    first = next((mistake for mistake in mistakes if mistake["type"] == "extra_forbidden"), mistakes[0])
    place, value, context = first["loc"], first["input"], first.get("ctx", {})
    owner = place_of(place[:-1]) or "the form"
    match first["type"]:
        case "extra_forbidden":
            near = unknown_name("field", str(place[-1]), fields_at(place[:-1]), owner=owner)
            what, advice = near.what, near.fix
        case "missing":
            what, advice = f"{owner} has no {place[-1]}", "add it"
        case "model_type" | "dict_type":
            what, advice = f"{place_of(place) or 'the form'} is not a table", "write name = value lines"
        case "tuple_type":
            what, advice = f"{place_of(place)} is not a list", "write [ … ], or [[ … ]] before each table"
        case "too_long":
            what = f"{place_of(place)} has {context['actual_length']:,} entries"
            advice = f"give at most {context['max_length']}"
        case "value_error":
            reason = context["error"]
            what, advice = f"{place_of(place)} {reason.what}".lstrip(), reason.fix
        case _:
            what, advice = f"{place_of(place) or 'the form'} is {value!r}", "compare it with karat's forms"
    return InputError(what, where=where, fix=advice)


def place_of(place: tuple[int | str, ...]) -> str:
    """Return a place in the file as it is commonly written.

    >>> place_of(("follow_ups", 0, "choices", 2, "key"))
    'follow_ups[0].choices[2].key'
    """
    names = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in place if part != "[key]")
    return "".join(names).removeprefix(".")


def fields_at(place: tuple[int | str, ...]) -> Iterable[str]:
    """Return the fields of the table at a place."""
    return TABLES[next((part for part in reversed(place) if isinstance(part, str)), "")].model_fields


def fix(advice: str) -> WrapValidator:
    """Return a validator that gives the same advice for anything that pydantic finds wrong with a value."""

    def check(value: Any, validate: Callable[[Any], Any]) -> Any:
        try:
            return validate(value)
        except ValidationError:
            raise InputError(f"is {value!r}", fix=advice) from None

    return WrapValidator(check)


def clean(text: str) -> str:
    """Return text with single blanks for any white space; raise on characters that are invisible."""
    text = " ".join(text.split())
    if len(text) > LONGEST:
        raise InputError(f"has {len(text):,} characters", fix=f"write at most {LONGEST:,}")
    for letter in text:
        if unicodedata.category(letter) in ("Cc", "Cs") or letter in BIDIRECTIONAL:
            raise InputError(f"contains the character U+{ord(letter):04X}", fix="remove it")
    return text


def filled(text: str) -> str:
    """Return a text that is not empty."""
    if not text:
        raise InputError("is empty", fix="write the text that annotators read")
    return text


def code(text: str) -> str:
    """Return a short name that can be part of file names and URLs."""
    if not CODE.fullmatch(text):
        raise InputError(f"is {text!r}", fix="use up to 40 lower-case letters, digits, _ and -")
    return text


def key(text: str) -> str:
    """Return the key of a choice, or an empty text."""
    if len(text) > 1:
        raise InputError(f"is {text!r}", fix="give one letter, digit or other character")
    if text.lower() in PAGE_KEYS:
        raise InputError(
            f"is {text.lower()!r}, which the page uses for {PAGE_KEYS[text.lower()]}",
            fix=f"use any key except {' '.join(PAGE_KEYS)}",
        )
    return text.lower()


def whole(value: Any) -> Any:
    """Return 16.0 as 16."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Entry = TypeVar("Entry")
Entries = Annotated[tuple[Entry, ...], Field(max_length=MOST)]
Text = Annotated[str, Field(strict=True), fix("give text in quotes"), AfterValidator(clean)]
Filled = Annotated[Text, AfterValidator(filled)]
Code = Annotated[Filled, AfterValidator(code)]
Key = Annotated[Text, AfterValidator(key)]
YesOrNo = Annotated[StrictBool, fix("write true or false")]
Rating = Annotated[
    float, Field(strict=True, ge=-1e6, le=1e6), fix("give a number from -1e+06 to 1e+06")
]  # fmt: skip
Grade = Annotated[float, Field(strict=True, ge=0, le=1), fix("give a number from 0 to 1")]
Seconds = Annotated[float, Field(strict=True, ge=0.1, le=86_400), fix("give a number from 0.1 to 86400")]
Pairs = Annotated[
    int, Field(strict=True, ge=1, le=1000), BeforeValidator(whole), fix("give a whole number from 1 to 1000")
]
Gold = Annotated[
    int, Field(strict=True, ge=0, le=1000), BeforeValidator(whole), fix("give a whole number from 0 to 1000")
]
Columns = Annotated[
    int, Field(strict=True, ge=1, le=100), BeforeValidator(whole), fix("give a whole number from 1 to 100")
]


class FileTable(BaseModel):
    """A table of the file; unknown fields are mistakes."""

    model_config = ConfigDict(extra="forbid")


class FileChoice(FileTable):
    """A choice of a follow-up question, which has no rating."""

    code: Code
    text: Filled
    key: Key = Choice.key

    def build(self) -> Choice:
        """Return the choice."""
        return Choice(**dict(self))


class FileAnswer(FileChoice):
    """An answer, with its place on the scale."""

    rating: Rating
    grade: Grade


class FileFollowUp(FileTable):
    """A further question."""

    code: Code
    text: Filled
    when: Entries[Filled] = FollowUp.when
    after: Text = FollowUp.after
    kind: Annotated[Kind, fix(f"choose one of {', '.join(KINDS)}")] = FollowUp.kind
    choices: Entries[FileChoice] = ()
    required: YesOrNo = FollowUp.required

    @model_validator(mode="after")
    def check_choices(self) -> Self:
        """Check that free text has no choices, and that everything else has some."""
        if (self.kind == "text") == bool(self.choices):
            raise InputError(
                f"is of kind {self.kind!r} and has {'choices' if self.choices else 'no choices'}",
                fix="change its kind or its choices",
            )
        return self

    def build(self) -> FollowUp:
        """Return the question."""
        return FollowUp(**{**dict(self), "choices": tuple(choice.build() for choice in self.choices)})


class FileExample(FileTable):
    """A worked example."""

    caption: Filled
    picture: Filled
    answer: Filled
    why: Text = Example.why

    def build(self) -> Example:
        """Return the example."""
        return Example(**dict(self))


class FormFile(FileTable):
    """The whole file; `Form` describes the fields."""

    name: Code
    title: Filled
    question: Filled
    answers: Entries[FileAnswer]
    layout: Annotated[Layout, fix(f"choose one of {', '.join(LAYOUTS)}")] = Form.layout
    about: Text = Form.about
    follow_ups: Entries[FileFollowUp] = ()
    guidelines: Entries[Filled] = Form.guidelines
    examples: Entries[FileExample] = ()
    own_image: YesOrNo = Form.own_image
    regions: YesOrNo = Form.regions
    pairs: Pairs = Form.pairs
    gold: Gold = Form.gold
    columns: Columns = Form.columns
    seconds: Seconds = Form.seconds
    texts: dict[Code, Filled] = Field(default_factory=dict)

    @model_validator(mode="after")
    def check_answers(self) -> Self:
        """Check the scale: two or more answers with different ratings, some relevant and some not."""
        if len(self.answers) < 2:
            raise InputError("the form has fewer than two answers", fix="give two or more")
        if (rating := duplicate(answer.rating for answer in self.answers)) is not None:
            raise InputError(f"two answers have the rating {rating:g}", fix="give each its own")
        ordered = sorted(self.answers, key=lambda answer: answer.rating)
        for low, high in pairwise(ordered):
            if low.grade > high.grade:
                raise InputError(
                    f"{high.code!r} has a higher rating than {low.code!r} but a lower grade",
                    fix="make grades increase with ratings",
                )
        if ordered[0].grade > 0 or not ordered[-1].grade:
            raise InputError(
                "the answers do not separate relevant pairs from others",
                fix="give at least one answer the grade 0 and one a grade above 0",
            )
        return self

    @model_validator(mode="after")
    def check_names(self) -> Self:
        """Check that codes differ within a question, and keys on the page, which shows all questions."""
        lists: dict[str, Entries[FileChoice] | Entries[FileFollowUp]] = {
            "answers": self.answers,
            "follow_ups": self.follow_ups,
            **{f"choices of {question.code!r}": question.choices for question in self.follow_ups},
        }
        for name, entries in lists.items():
            if (code := duplicate(entry.code for entry in entries)) is not None:
                raise InputError(f"two {name} have the code {code!r}", fix="give each its own")
        choices = [*self.answers, *(choice for question in self.follow_ups for choice in question.choices)]
        keys = [choice.key for choice in choices if choice.key]
        if (key := duplicate(keys)) is not None:
            raise InputError(f"two choices have the key {key!r}", fix="give each its own")
        if self.regions and REGION_KEY in keys:
            raise InputError(
                f"a choice has the key {REGION_KEY!r}, which shows and hides regions", fix="use another key"
            )
        return self

    @model_validator(mode="after")
    def check_references(self) -> Self:
        """Check that follow-up questions and examples refer to existing answers and choices."""
        codes = [answer.code for answer in self.answers]
        answers = f"the answers are {', '.join(codes)}"
        earlier: set[str] = set()
        for question in self.follow_ups:
            unknown = next((code for code in question.when if code not in codes), None)
            if unknown is not None:
                raise InputError(
                    f"the follow-up {question.code!r} comes after the answer {unknown!r}, which "
                    "does not exist",
                    fix=answers,
                )
            if question.after and question.after not in earlier:
                raise InputError(
                    f"the follow-up {question.code!r} comes after the choice {question.after!r}, "
                    "which no earlier follow-up has",
                    fix="write question.choice, with an earlier question",
                )
            earlier |= {f"{question.code}.{choice.code}" for choice in question.choices}
        for number, example in enumerate(self.examples):
            if example.answer not in codes:
                what = f"examples[{number}] has the answer {example.answer!r}, which does not exist"
                raise InputError(what, fix=answers)
        return self

    @model_validator(mode="after")
    def check_regions(self) -> Self:
        """Check that regions are drawn over one image, for one caption at a time."""
        if self.regions and (self.layout != "pair" or self.own_image):
            raise InputError(
                "the form has regions and shows several captions or images",
                fix='set layout = "pair" and own_image = false',
            )
        return self

    @model_validator(mode="after")
    def check_sizes(self) -> Self:
        """Check that a grid has several columns, two answers, and tasks of whole images."""
        if self.layout != "grid":
            if self.columns != 1:
                raise InputError(f"columns is {self.columns}, but only grids have several", fix="remove it")
            return self
        if self.columns < 2:
            raise InputError("the grid has one column", fix="set columns to the number of captions per image")
        if len(self.answers) != 2:
            raise InputError(
                f"the grid has {len(self.answers)} answers", fix="give two: checked and not checked"
            )
        for name, value in (("pairs", self.pairs), ("gold", self.gold)):
            if value % self.columns:
                raise InputError(
                    f"{name} is {value}, which is not a multiple of the {self.columns} columns",
                    fix="count the captions of whole images",
                )
        return self

    def build(self) -> Form:
        """Return the form."""
        nested = {
            name: tuple(entry.build() for entry in getattr(self, name))
            for name in ("answers", "follow_ups", "examples")
        }
        return Form(**{**dict(self), **nested})


TABLES: dict[str, type[FileTable]] = {
    "": FormFile,
    "answers": FileAnswer,
    "follow_ups": FileFollowUp,
    "choices": FileChoice,
    "examples": FileExample,
}
"""The tables of the file by the list that they are in: an unknown field is compared with their fields."""


def duplicate(values: Iterable[Any]) -> Any:
    """Return the first value that occurs more than once, or None."""
    return next((value for value, number in Counter(values).items() if number > 1), None)
