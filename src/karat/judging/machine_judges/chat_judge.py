"""The machine judge behind a chat endpoint with image input: its prompt, its calls, and its replies."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat._util import Param, read_text
from karat.benchmarks import picture_kind
from karat.errors import InputError, MissingDataError
from karat.forms import Form
from karat.judging.machine_judges.endpoint import CONNECT, Endpoint, Response, call, read_endpoint
from karat.judging.machine_judges.judge import Question, Reply
from karat.judging.machine_judges.judge_kinds import JudgeKind, register_judge

if TYPE_CHECKING:
    from karat.store import Project

MAX_IMAGE = 20_000_000
"""The most bytes of a picture that is sent; common servers refuse larger ones."""
IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""The picture types that such servers accept."""
PLACE = re.compile(r"\$([a-z]+)")
MARK = "DESCRIPTION"
MAX_TEXT = 100_000
"""The most characters of a prompt, and how many of a reply are read."""


@dataclass(frozen=True, eq=False)
class ChatJudge:
    """A machine judge that asks a vision–language model about each pair.

    Parameters
    ----------
    endpoint
        Where the model answers.
    form
        The form to answer.
    prompt
        A text with $caption in it; see `load_prompt`.
    name
        As tables show it; by default the model.
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
        settings = {
            "model": self.model,
            "prompt": self.prompt,
            "form": asdict(self.form),
            "extra": dict(self.endpoint.extra),
            "temperature": self.endpoint.temperature,
            "max_tokens": self.endpoint.max_tokens,
        }
        text = json.dumps(settings, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def judge(self, questions: Sequence[Question]) -> Iterator[Reply]:
        """Ask with several calls at a time, and yield each reply as it arrives.

        Raises
        ------
        InputError
            When the server refuses the key, the address or the model, or nothing listens at the address:
            every other call would fail too.
        """
        import httpx

        remaining = iter(questions)
        reached, unreached = False, 0
        timeout = httpx.Timeout(self.endpoint.timeout, connect=min(CONNECT, self.endpoint.timeout))
        limits = httpx.Limits(max_connections=self.endpoint.parallel)
        # Redirects are not followed: they would send the key elsewhere.
        with (
            httpx.Client(timeout=timeout, limits=limits, follow_redirects=False) as client,
            ThreadPoolExecutor(self.endpoint.parallel) as executor,
        ):
            running: set[Future[tuple[Reply, Response]]] = set()
            try:
                while True:
                    # Never more calls than threads, so that an interruption loses little.
                    while len(running) < self.endpoint.parallel and (question := next(remaining, None)):
                        running.add(executor.submit(self.ask, question, client, reached))
                    if not running:
                        return
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        reply, response = future.result()
                        reached |= not response.unreached
                        unreached = unreached + 1 if response.unreached else 0
                        # More than one: a server may restart in between.
                        if unreached >= self.endpoint.parallel:
                            raise InputError(
                                f"no answer came from this address: {reply.error}",
                                where=self.endpoint.url,
                                fix="check it, and whether its server runs; answers so far are kept",
                            )
                        if response.fatal:
                            raise InputError(
                                f"{reply.error}: {reply.raw[:200]}",
                                where=self.endpoint.url,
                                fix="check the address, the model and the key",
                            )
                        yield reply
            finally:
                for future in running:
                    future.cancel()

    def ask(self, question: Question, client: Any, reached: bool = True) -> tuple[Reply, Response]:
        """Ask about one pair; also return what the call returned."""
        start = time.monotonic()
        text = fill(self.prompt, self.form, question.text)
        picture = {"type": "image_url", "image_url": {"url": data_url(question.path)}}
        content = [{"type": "text", "text": text}, picture]
        response = call(self.endpoint, client, [{"role": "user", "content": content}], reached=reached)
        code = None if response.error else read_reply(response.text, self.form)
        tokens_in, tokens_out = response.tokens_in, response.tokens_out
        reply = Reply(
            question.image,
            question.caption,
            code,
            raw=response.raw,
            error=response.error or ("" if code else "the reply gives no answer of the form"),
            sent=text,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost=(tokens_in * self.endpoint.price_in + tokens_out * self.endpoint.price_out) / 1e6,
            seconds=time.monotonic() - start,
        )
        return reply, response


def data_url(path: str) -> str:
    """Return a picture as a data URL, as the protocol requires; its type is detected from its bytes."""
    if not path:
        raise MissingDataError(
            "the benchmark has no image files",
            fix="a chat model judges pictures: use a benchmark with images",
        )
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise MissingDataError(f"cannot be read ({error.strerror})", where=path) from None
    kind = picture_kind(data)
    if kind not in IMAGE_TYPES:
        raise InputError("is not a png, jpeg, gif or webp file", where=path, fix="convert it")
    if len(data) > MAX_IMAGE:
        raise InputError(f"has {len(data):,} bytes", where=path, fix=f"make it smaller than {MAX_IMAGE:,}")
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


def load_prompt(name: str | Path = "default") -> str:
    """Return a prompt: one of karat's by its name, or a text file.

    A prompt must contain $caption and may contain $question, $answers and $guidelines.

    >>> "$caption" in load_prompt()
    True
    """
    packaged = resources.files("karat.judging.machine_judges") / "prompts" / f"{name}.txt"
    if re.fullmatch(r"[a-z-]+", str(name)) and packaged.is_file():
        text = packaged.read_text(encoding="utf-8")
    else:
        path = Path(name)
        if not path.is_file():
            raise MissingDataError("there is no such prompt", where=path, fix="give 'default' or a text file")
        text = read_text(path)
    if len(text) > MAX_TEXT:
        raise InputError(f"has {len(text):,} characters", where=name, fix=f"give at most {MAX_TEXT:,}")
    if "$caption" not in text:
        raise InputError("does not contain $caption", where=name, fix="write it where the caption goes")
    return text


def fill(prompt: str, form: Form, caption: str) -> str:
    """Return the prompt for one caption.

    Each $field is replaced once: a caption is never read as a field, and it cannot close its own marks.

    >>> from karat.forms import load_form
    >>> fill("$caption? $answers", load_form("grid"), "$answers")
    '$answers? - yes: ...'
    """
    parts = {
        "question": form.question,
        "answers": "\n".join(f"- {choice.code}: {choice.text}" for choice in form.answers),
        "guidelines": "\n".join(form.guidelines),
        "caption": caption.replace(f"<<<{MARK}", "<").replace(f"{MARK}>>>", ">"),
    }
    return PLACE.sub(lambda match: parts.get(match.group(1), match.group(0)), prompt)


def read_reply(reply: str, form: Form) -> str | None:
    """Return the code of the answer in a reply; None when it gives none, or more than one.

    A JSON object with "answer" counts anywhere in the reply; otherwise the whole reply must be the code or
    the text of an answer.

    >>> from karat.forms import load_form
    >>> form = load_form("pair")
    >>> [read_reply(text, form) for text in ('{"answer": "yes", "why": "fits"}', "No.", "yes or no")]
    ['yes', 'no', None]
    """
    reply = reply[:MAX_TEXT]
    codes = {simplify(choice.code): choice.code for choice in form.answers}
    codes |= {simplify(choice.text): choice.code for choice in form.answers}
    objects = [value for value in json_objects(reply) if "answer" in value]
    if objects:
        answers = {codes.get(simplify(str(value["answer"]))) for value in objects}
        return answers.pop() if len(answers) == 1 else None
    return codes.get(simplify(reply))


def json_objects(text: str) -> Iterator[dict]:
    """Yield the JSON objects in a text, such as one between backticks."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if isinstance(value, dict):
                yield value
        at = text.find("{", end)


def simplify(text: str) -> str:
    """Return a text without case, blanks, dots and quotes.

    >>> simplify(" 'Mostly_No'. "), simplify("100% YES")
    ('mostly no', '100% yes')
    """
    return " ".join(re.sub(r"[\"'.!*`,_-]+", " ", text.lower()).split())


def chat_judge(
    project: Project,
    config: Path | None = None,
    url: str | None = None,
    model: str | None = None,
    prompt: str | Path = "default",
) -> ChatJudge:
    """Return the chat model that answers the form of a project."""
    return ChatJudge(read_endpoint(config, url=url, model=model), project.form, load_prompt(prompt))


register_judge(
    JudgeKind(
        "chat",
        "a vision–language model behind a chat endpoint",
        chat_judge,
        (
            Param("config", Path, "a file with the settings of the endpoint", None),
            Param("url", str, "the address of the endpoint", None),
            Param("model", str, "the model's name there", None),
            Param("prompt", str, "the name of a prompt, or a text file", "default"),
        ),
    )
)
