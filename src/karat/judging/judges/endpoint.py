"""A chat endpoint that speaks OpenAI's protocol: where it is, what it costs, how it is configured."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from karat.errors import InputError, MissingDataError

KEY = "KARAT_JUDGE_KEY"


@dataclass(frozen=True)
class Endpoint:
    """Where a model answers and what it costs.

    Parameters
    ----------
    url
        Up to and without "/chat/completions": "http://127.0.0.1:8000/v1".
    model
        As the server knows it.
    key
        Sent as a bearer token; never stored or printed.
    timeout, tries
        Seconds for one call, and how often it is tried.
    most_wait
        The longest pause between two tries, in seconds, whatever the server asks for.
    parallel
        Calls at the same time.
    price_in, price_out
        Per million tokens.
    temperature, max_tokens
        Of the reply.
    extra
        Further fields of the request, as they are.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    tries: int = 5
    most_wait: float = 60.0
    parallel: int = 4
    price_in: float = 0.0
    price_out: float = 0.0
    temperature: float = 0.0
    max_tokens: int = 300
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise InputError(f"the judge's address is {self.url!r}", fix="begin with http:// or https://")
        if "@" in self.url.split("/")[2]:
            raise InputError("the judge's address holds a name or password", fix=f"put the key into {KEY}")
        if not self.model:
            raise InputError("the judge's model has no name", fix="give it with --model")
        for name, least in (("timeout", 0.001), ("tries", 1), ("parallel", 1), ("max_tokens", 1)):
            if getattr(self, name) < least:
                raise InputError(f"the judge's {name} is {getattr(self, name)}", fix=f"at least {least:g}")


def read_endpoint(path: str | Path | None = None, **given: Any) -> Endpoint:
    """Return an endpoint from a TOML file and from what is given beside it, which wins.

    The key comes from the environment: the variable named by ``key_env`` in the file, or KARAT_JUDGE_KEY.
    A file that holds a key itself is refused, since files are copied and committed.

    Examples
    --------
    >>> read_endpoint(url="http://127.0.0.1:1/v1", model="eyes").model
    'eyes'
    """
    found: dict[str, Any] = {}
    if path is not None:
        try:
            found = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise MissingDataError("there is no such file", where=path) from None
        except (OSError, ValueError) as error:
            raise InputError(f"is no TOML ({error})", where=path) from None
    for name in ("key", "api_key"):
        if name in found:
            raise InputError(
                f"holds a {name}", where=path, fix=f"put it into the environment, as {KEY}, and remove it"
            )
    variable = str(found.pop("key_env", KEY))
    found |= {name: value for name, value in given.items() if value is not None}
    known = {one.name for one in fields(Endpoint)} - {"key"}
    for name in found:
        if name not in known:
            raise InputError(
                f"has an unknown field {name!r}", where=path, fix=f"known: {', '.join(sorted(known))}"
            )
    for name in ("url", "model"):
        if name not in found:
            raise InputError(f"the judge's {name} is not given", where=path, fix=f"give it with --{name}")
    try:
        return Endpoint(**found, key=os.environ.get(variable, ""))
    except TypeError:
        raise InputError("a field of the judge has the wrong kind of value", where=path) from None
