"""A judge behind a chat endpoint with image input."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from karat.benchmarks import picture_kind
from karat.errors import InputError, MissingDataError
from karat.judging.forms import Form
from karat.judging.judges.calling import Reply, call
from karat.judging.judges.endpoint import Endpoint
from karat.judging.judges.judge import Question, Verdict
from karat.judging.judges.prompt import fill, load_prompt, read_reply

MOST_IMAGE = 20_000_000
"""Bytes of a picture that is sent; larger ones are refused by common servers."""
TAKEN = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""What such servers take."""


@dataclass(frozen=True, eq=False)
class ChatJudge:
    """Asks a vision–language model about each pair.

    Parameters
    ----------
    endpoint
        Where it answers.
    form
        What is asked.
    prompt
        A text with $caption in it; see `karat.judging.judges.prompt`.
    name
        As tables show it; the model when left out.
    """

    endpoint: Endpoint
    form: Form
    prompt: str = ""
    name: str = ""
    needs_images: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "prompt", self.prompt or load_prompt())
        object.__setattr__(self, "name", self.name or self.endpoint.model)

    @property
    def model(self) -> str:
        """The model that answers."""
        return self.endpoint.model

    @property
    def version(self) -> str:
        """A hash of what decides the answers; the address and the price do not."""
        form = asdict(self.form)
        decides = {
            "model": self.model,
            "prompt": self.prompt,
            "form": form,
            "extra": dict(self.endpoint.extra),
        }
        told = json.dumps(
            decides | {"temperature": self.endpoint.temperature, "max_tokens": self.endpoint.max_tokens},
            sort_keys=True,
            default=str,
        )
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def judge(self, questions: Sequence[Question]) -> Iterator[Verdict]:
        """Ask with several calls at a time, and yield each verdict as it comes.

        Raises
        ------
        InputError
            When the server refuses the key, the address or the model: no other call would do better.
        """
        import httpx

        left = iter(questions)
        limits = httpx.Limits(max_connections=self.endpoint.parallel)
        # Redirects are not followed: they would carry the key elsewhere.
        with (
            httpx.Client(timeout=self.endpoint.timeout, limits=limits, follow_redirects=False) as client,
            ThreadPoolExecutor(self.endpoint.parallel) as pool,
        ):
            running: set[Future[tuple[Verdict, bool]]] = set()
            try:
                while True:
                    # Never more in flight than are worked on, so that an interruption loses little.
                    while len(running) < self.endpoint.parallel and (question := next(left, None)):
                        running.add(pool.submit(self.ask, question, client))
                    if not running:
                        return
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    for one in done:
                        verdict, fatal = one.result()
                        if fatal:
                            raise InputError(
                                f"{verdict.error}: {verdict.raw[:200]}",
                                where=self.endpoint.url,
                                fix="check the address, the model and the key",
                            )
                        yield verdict
            finally:
                for one in running:
                    one.cancel()

    def ask(self, question: Question, client: Any) -> tuple[Verdict, bool]:
        """Ask about one pair; also return whether the failure is one of all calls."""
        start = time.monotonic()
        text = fill(self.prompt, self.form, question.text)
        picture = {"type": "image_url", "image_url": {"url": data_url(question.path)}}
        content = [{"type": "text", "text": text}, picture]
        reply: Reply = call(self.endpoint, client, [{"role": "user", "content": content}])
        code = None if reply.error else read_reply(reply.text, self.form)
        cost = (reply.tokens_in * self.endpoint.price_in + reply.tokens_out * self.endpoint.price_out) / 1e6
        verdict = Verdict(
            question.image,
            question.caption,
            code,
            raw=reply.raw,
            error=reply.error or ("" if code else "the reply gives no answer of the form"),
            sent=text,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            cost=cost,
            seconds=time.monotonic() - start,
        )
        return verdict, reply.fatal


def data_url(path: str) -> str:
    """Return a picture as the protocol wants it; its bytes say what kind it is."""
    if not path:
        raise MissingDataError("the benchmark knows no image files", fix="a chat judge looks at pictures")
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise MissingDataError(f"cannot be read ({error.strerror})", where=path) from None
    kind = picture_kind(data)
    if kind not in TAKEN:
        raise InputError("is no png, jpeg, gif or webp", where=path, fix="convert it")
    if len(data) > MOST_IMAGE:
        raise InputError(f"has {len(data):,} bytes", where=path, fix=f"make it smaller than {MOST_IMAGE:,}")
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
