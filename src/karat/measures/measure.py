"""What a measure is: a name that parses and prints the same, and one value per query.

Names are written ``name(parameters)@cut-off``.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from karat._util import REQUIRED, Param, Registry, import_all, valid, whole
from karat.benchmarks import DIRECTIONS, Direction, Truth
from karat.errors import InputError, UnknownNameError
from karat.measures.aggregates import MEAN, Aggregate
from karat.measures.ranked import Ranked

Settled = Literal["best", "first", "all", "nothing"]
Unit = Literal["fraction", "sum", "rank"]
"""What a value is: a fraction of 1, a sum of such fractions, or a place in a ranking."""


@valid("a share up to 1, a relevance above 1, or any")
def relevance(value: Any) -> float | str:
    """Return the least grade that counts, or "any"; for `Param.type`.

    >>> relevance("0.5"), relevance("Any")
    (0.5, 'any')
    """
    return "any" if str(value).lower() == "any" else float(value)


REL = Param(
    "rel",
    relevance,
    "count items as relevant from this grade on, as 1, and others as 0: a share of the highest grade, up to "
    "1; a relevance as the labels have it, above 1; or any",
    None,
)


class Named(ABC):
    """Anything that has a name with parameters: measures and combinations of them.

    A subclass is registered by `register` and declares what follows as class attributes.
    """

    name: ClassVar[str]
    """The part before parentheses and "@"."""
    aliases: ClassVar[tuple[str, ...]] = ()
    """Other names for the same."""
    trec_eval: ClassVar[Mapping[str, str]] = {}
    """Names in trec_eval, each with what it is here; K is the cut-off."""
    cutoff: ClassVar[Param | None] = None
    """The parameter written after "@"."""
    params: ClassVar[tuple[Param, ...]] = ()
    """The parameters written in parentheses."""
    formula: ClassVar[str] = ""
    """The definition per query, for the reference."""
    source: ClassVar[str] = ""
    """The paper, with its equation."""
    plain: ClassVar[str] = ""
    """What it says to a reader who knows no measures; ``{k}`` and other parameters are filled in. Without it,
    the first line of the docstring is shown."""
    better: ClassVar[Literal["high", "low"]] = "high"
    """Whether a high or a low value is good."""
    unit: ClassVar[Unit] = "fraction"
    """What the value is; `karat.measures.show_value` prints it accordingly."""

    def __init__(self, **arguments: Any) -> None:
        declared = [*([self.cutoff] if self.cutoff else []), *self.params]
        for param in declared:
            value = arguments.pop(param.name, param.default)
            if value is REQUIRED:
                raise InputError(f"{self.name} needs {param.name}", fix=f"write {self.usage()}")
            setattr(self, param.name, param.parse(value))
        if arguments:
            raise InputError(
                f"{self.name} has no parameter {next(iter(arguments))!r}", fix=f"write {self.usage()}"
            )
        for param in declared:
            if param.type is whole and getattr(self, param.name) == 0:
                raise InputError(f"{param.name} of {self.name} is 0", fix="give 1 or more")

    @classmethod
    def usage(cls) -> str:
        """Return how the name is written.

        >>> from karat.measures import MEASURES
        >>> MEASURES["nDCG"].usage()
        'nDCG[@K]'
        """
        cut = ""
        if cls.cutoff is not None:
            cut = "@K" if cls.cutoff.default is REQUIRED else "[@K]"
        needed = [
            param.name if param.bare else f"{param.name}=…"
            for param in cls.params
            if param.default is REQUIRED
        ]
        return cls.name + (f"({', '.join(needed)})" if needed else "") + cut

    def __str__(self) -> str:
        written = [
            ("" if param.bare else f"{param.name}=") + show_param(getattr(self, param.name))
            for param in self.params
            if param.always or getattr(self, param.name) != param.default
        ]
        # "mAP@R" carries its cut-off in the name.
        base, _, cut = self.name.partition("@")
        if self.cutoff is not None and (chosen := getattr(self, self.cutoff.name)) is not None:
            cut = str(chosen)
        return base + (f"({', '.join(written)})" if written else "") + (f"@{cut}" if cut else "")

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def show_param(value: Any) -> str:
    """Return a parameter's value so that it parses back.

    >>> show_param(1.0), show_param(0.1), show_param(50), show_param(False)
    ('1', '0.1', '50', 'no')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


class Measure(Named):
    """Turns a ranking and a truth into one value per query."""

    aggregate: ClassVar[Aggregate] = MEAN
    """How values become one number."""
    bounded: ClassVar[bool] = False
    """Whether judging more pairs can only raise it (`better` high) or lower it: then bounds exist."""
    settled_by: ClassVar[Settled] = "all"
    """What must have been found for deeper places not to matter: the item with the best grade, the
    first relevant one, or all of them."""
    of_relevance: ClassVar[bool] = True
    """Whether it has no value for a query without relevant items."""
    wants: ClassVar[str] = "a relevant item"
    """What a query must have to get a value, for notes."""
    of_pool: ClassVar[bool] = False
    """Whether its rows are all pairs of the pool: those not judged too, with the grade NaN."""
    leaves_out: ClassVar[bool] = False
    """Whether it ranks the judged items alone, whatever the reading of unjudged pairs."""
    residual: ClassVar[bool] = False
    """Whether its bounds belong to its value, and are shown under every reading of unjudged pairs."""
    mistaken_for: ClassVar[str] = ""
    """The measure that other readers call by this name; a note says so where the two differ."""
    params: ClassVar[tuple[Param, ...]] = (REL,)
    rel: float | str | None

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        rel = getattr(self, "rel", None)
        if isinstance(rel, float) and not 0 < rel < np.inf:
            raise InputError(
                f"rel is {rel:g}",
                fix="give a share up to 1, a relevance above 1 as the labels have it, or any",
            )

    @abstractmethod
    def values(self, ranked: Ranked) -> np.ndarray:
        """Return one value per query; what it says of queries without relevant items is ignored."""

    @abstractmethod
    def depth(self, ranked: Ranked) -> np.ndarray | float:
        """Return how many places of the ranking it looks at, per query or for all."""

    def __call__(self, ranked: Ranked) -> np.ndarray:
        """Return one value per query; NaN where it is undefined."""
        ranked = ranked.at_least(getattr(self, "rel", None))
        with np.errstate(divide="ignore", invalid="ignore"):
            values = self.values(ranked)
        return np.where(ranked.relevant > 0, values, np.nan) if self.of_relevance else values

    def upper(self, filled: Ranked) -> np.ndarray:
        """Return the values if every unjudged pair is relevant, as it is in `filled`."""
        return self(filled)

    def check_truth(self, truth: Truth, direction: Direction) -> None:
        """Raise where a truth does not have what the measure needs; most need nothing but labels."""

    def unanswered(self, ranked: Ranked) -> np.ndarray:
        """Return the queries whose value depends on places that a truncated ranking does not show."""
        ranked = ranked.at_least(getattr(self, "rel", None))
        short = ranked.depth < np.minimum(self.depth(ranked), ranked.size)
        if not self.of_relevance:
            return short
        short = short & (ranked.unplaced > 0)
        if self.settled_by == "all":
            return short
        best = ranked.max(np.where(ranked.placed, ranked.grade, 0.0))
        if self.settled_by == "first" or ranked.total is not None:
            return short & (best == 0)
        return short & (best < ranked.max(np.where(ranked.hidden, ranked.grade, 0.0)))


@dataclass(frozen=True)
class ColumnKey:
    """One column that a combination is made of."""

    measure: Measure
    truth: str
    direction: Direction


class Combined(Named):
    """A number made of aggregated columns instead of queries: RSUM, the mean of both directions."""

    direction: ClassVar[str] = "both"
    """The text in the direction column."""
    linear: ClassVar[bool] = False
    """Whether it is a weighted sum of its parts: the combination of differences is then the difference
    of combinations, which makes tests of many runs fast."""

    @abstractmethod
    def measures(self) -> Sequence[Measure]:
        """Return the measures that it combines in every direction."""

    def parts(self, truth: str, directions: Sequence[Direction] = DIRECTIONS) -> Sequence[ColumnKey]:
        """Return the columns that it is made of, on a benchmark that has these directions."""
        return [ColumnKey(measure, truth, way) for way in directions for measure in self.measures()]

    @abstractmethod
    def combine(self, columns: Sequence[np.ndarray]) -> np.ndarray:
        """Return the number from the parts' aggregated values, each of shape [B]."""


class Sum(Combined):
    """A sum of columns whose values are fractions."""

    unit = "sum"
    linear = True

    def combine(self, columns: Sequence[np.ndarray]) -> np.ndarray:
        """Return the sum."""
        return np.sum(np.stack(columns), axis=0)


class MeanOfBoth(Combined):
    """The mean of one measure over both directions."""

    name = "mean"
    direction = "mean"
    linear = True

    def __init__(self, measure: Measure) -> None:
        super().__init__()
        self.measure = measure
        # It is shown under the measure's own name, in the direction "mean".
        self.better, self.unit = measure.better, measure.unit  # type: ignore[misc]

    def __str__(self) -> str:
        return str(self.measure)

    def measures(self) -> Sequence[Measure]:
        """Return the one measure."""
        return [self.measure]

    def combine(self, columns: Sequence[np.ndarray]) -> np.ndarray:
        """Return the mean."""
        return np.mean(np.stack(columns), axis=0)


MEASURES: Registry[type[Named]] = Registry(
    "measure", fill=lambda: import_all("karat.measures"), group="karat.measures"
)

N = TypeVar("N", bound=type[Named])


def register(measure: N) -> N:
    """Make a measure known by its name and aliases; a name that is taken raises."""
    MEASURES.add(measure.name, measure, measure.aliases)
    for theirs, ours in measure.trec_eval.items():
        TREC_EVAL.add(theirs, ours)
    return measure


TREC_EVAL: Registry[str] = Registry("measure", fill=lambda: import_all("karat.measures"))
"""By trec_eval's name, with K for a cut-off: the name here, such as "P(rel=any)@K" for P_K."""
TREC_EVAL_DEFAULTS = (
    "map", "Rprec", "bpref", "recip_rank", "P_5", "P_10", "P_15", "P_20", "P_30", "P_100", "P_200", "P_500",
    "P_1000",
)  # fmt: skip
"""What trec_eval prints when no measure is named, as far as karat has it."""
UNKNOWN_HERE = re.compile(
    r"(num_|set_|gm_|prefs_|iprec_at_recall|relative_P|11pt_avg|Rprec_mult|ndcg_rel|Rndcg|binG|G$|utility|"
    r"relstring|runid|yaap|official$|all_trec$)",
    re.IGNORECASE,
)
"""How trec_eval's measures begin that karat does not have."""


TREC_EVAL_NAME = re.compile(r"^\s*(?P<base>[A-Za-z]\w*?)(?:[_.](?P<cut>[0-9]+))?\s*$")


def from_trec_eval(name: str) -> str:
    """Return the name here of a measure that has trec_eval's name; other names stay.

    >>> from_trec_eval("P_10"), from_trec_eval("ndcg_cut.5"), from_trec_eval("map"), from_trec_eval("R@1")
    ('P(rel=any)@10', 'nDCG@5', 'AP', 'R@1')
    """
    match = TREC_EVAL_NAME.match(name)
    if match is None:
        return name
    base, cut = match["base"], match["cut"]
    theirs = base if cut is None else f"{base}_K"
    # A measure that is unknown may come from a plug-in, with its names there.
    known = theirs in TREC_EVAL or (base not in MEASURES and theirs in TREC_EVAL)
    return TREC_EVAL[theirs].replace("@K", f"@{cut}") if known else name


def trec_eval_name(measure: Named) -> str:
    """Return trec_eval's name of a measure; its own where trec_eval does not have it.

    >>> trec_eval_name(parse_measure("P(rel=any)@10")), trec_eval_name(parse_measure("MedR"))
    ('P_10', 'MedR')
    """
    cut = str(getattr(measure, measure.cutoff.name)) if measure.cutoff else ""
    for theirs, ours in measure.trec_eval.items():
        if ours.replace("@K", f"@{cut}") == str(measure):
            return theirs.replace("_K", f"_{cut}")
    return str(measure)


NAME = re.compile(
    r"^\s*(?P<base>[A-Za-z][\w-]*['′]?)\s*(?:\((?P<args>[^()]*)\))?\s*(?:@\s*(?P<cut>\w+))?\s*$"
)

GLUED = re.compile(r"(?P<base>[A-Za-z][A-Za-z-]*?)[-_]?(?P<cut>[0-9]+)")
"""A measure and its cut-off without the @ between them."""


def parse_measure(name: str | Named) -> Named:
    """Return the measure that `name` means; its `str` is the canonical name.

    >>> parse_measure("R@5"), parse_measure("S@5"), parse_measure("map@r"), parse_measure("P(rel=1.0)@10")
    (R@5, R@5, mAP@R, P(rel=1)@10)
    """
    if isinstance(name, Named):
        return name
    name = from_trec_eval(name)
    match = NAME.match(name)
    if match is None:
        raise InputError(
            f"{name!r} is not a measure's name", fix="write for example R@5, RP or P(rel=0.5)@10"
        )
    base, args, cut = match["base"], match["args"], match["cut"]
    if base not in MEASURES and cut is None and UNKNOWN_HERE.match(base):
        known = ", ".join(sorted(TREC_EVAL, key=str.lower))
        raise InputError(f"karat does not compute trec_eval's {name!r}", fix=f"of trec_eval it has {known}")
    # "mAP@R" and "mAP(rel=0.5)@R" carry the cut-off in the name.
    full = f"{base}@{cut}"
    if cut is not None and not cut.isdigit() and full in MEASURES:
        kind, cut = MEASURES[full], None
    else:
        kind = find_measure(base if base in MEASURES or cut is None else _bare(base, cut), name)
    arguments: dict[str, object] = {}
    if cut is not None:
        if kind.cutoff is None:
            instead = " or ".join(
                [kind.usage(), *(known for known in MEASURES if known.lower() == f"{base}@r".lower())]
            )
            raise InputError(f"{kind.name} takes no cut-off", fix=f"write {instead}")
        arguments[kind.cutoff.name] = cut
        if not cut.isdigit():
            raise InputError(
                f"{name!r} has the cut-off {cut!r}", fix=f"write {kind.usage()} with a whole number"
            )
    return kind(**read_arguments(kind, args, arguments))


def read_arguments(
    kind: type[Named], text: str | None, others: Mapping[str, object] | None = None
) -> dict[str, object]:
    """Return the arguments that are written in the parentheses of a name, by parameter, after the `others`.

    >>> from karat.measures import MEASURES
    >>> read_arguments(MEASURES["P"], "rel=0.5")
    {'rel': '0.5'}
    """
    arguments = dict(others or {})
    positional = iter(kind.params)
    for argument in filter(None, (part.strip() for part in (text or "").split(","))):
        key, equals, value = (part.strip() for part in argument.partition("="))
        if not equals:
            param = next(positional, None)
            if param is None:
                raise InputError(f"{kind.name} takes no parameter {key!r}", fix=f"write {kind.usage()}")
            key, value = param.name, key
        if key in arguments:
            raise InputError(f"{kind.name}({text}) gives {key} twice", fix=f"write {kind.usage()}")
        arguments[key] = value
    return arguments


def find_measure(base: str, name: str) -> type[Named]:
    """Return the measure called `base`; for one without its @, such as R1 or recall_10, name the right way.

    >>> find_measure("R1", "R1")
    Traceback (most recent call last):
    ...
    karat.errors.UnknownNameError: unknown measure 'R1'; did you mean R@1?
    """
    glued = GLUED.fullmatch(base)
    if base not in MEASURES and glued is not None and glued["base"] in MEASURES:
        kind = MEASURES[glued["base"]]
        if kind.cutoff is not None:
            fix = f"did you mean {kind.name}@{glued['cut']}?"
            raise UnknownNameError(f"unknown measure {name!r}", fix=fix)
    return MEASURES[base]


def _bare(base: str, cut: str) -> str:
    return base if cut.isdigit() else f"{base}@{cut}"


def parse_measures(names: Iterable[str | Named]) -> list[Named]:
    """Return the measures of several names, each once, in order."""
    return list(dict.fromkeys(parse_measure(name) for name in names))
