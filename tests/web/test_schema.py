"""Whatever is sent to the interface, in shapes that its description allows or forbids: no server error."""

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable

from karat.web.security.cookies import csrf_of
from web.servers import PASSWORD

schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis: pip install 'karat[test]'")

ENDLESS = r"stream|events"
"""Paths whose answers never end."""


@pytest.mark.parametrize(("mode", "status", "examples"), [("POSITIVE", 200, 20), ("NEGATIVE", 422, 10)])
def test_no_operation_fails_inside(server, mode, status, examples):
    # The only owner: no example can remove her.
    owner = server.accounts.users.add("ann", "owner", PASSWORD)
    schema = schemathesis.openapi.from_dict(server.app.openapi()).exclude(path_regex=ENDLESS)
    tried = set()
    for found in schema.get_all_operations():
        operation = found.ok()
        cases = operation.as_strategy(generation_mode=schemathesis.GenerationMode[mode])

        @settings(max_examples=examples, deadline=None, database=None, derandomize=True,
                  suppress_health_check=list(HealthCheck))  # fmt: skip
        @given(case=cases)
        def ask(case):
            answer = case.call(base_url=server.address, headers=signed_in(server, owner), timeout=20)
            assert answer.status_code < 500, (case.method, case.path, case.body, answer.text[:200])
            assert "content-security-policy" in answer.headers
            tried.add((case.method, case.path, answer.status_code))

        # What takes nothing cannot be given anything wrong.
        with suppress(Unsatisfiable):
            ask()
    assert len({(method, path) for method, path, _ in tried}) >= 8
    assert status in {one for _, _, one in tried}
    assert 401 not in {one for _, _, one in tried}


def signed_in(server, owner):
    """What a page of the owner sends; a fresh session, since the last example may have ended it."""
    server.app.state.attempts.reset()
    token = server.accounts.sessions.open(owner.id)
    cookie = f"{server.app.state.cookies.session}={token}"
    return {"Cookie": cookie, "X-CSRF-Token": csrf_of(token), "Origin": server.settings.origin}
