"""Signing in and out, and what each role may see."""

import pytest

from karat.store.accounts.credentials import check_password
from web.servers import PASSWORD


def test_somebody_signs_in_and_out(client):
    judge = client("judge", "ann")
    assert judge.get("/api/session").json() == {"name": "ann", "role": "judge"}
    assert "ann" in judge.get("/account").text
    assert judge.delete("/api/session").json() == {"next": "/login"}
    assert judge.get("/api/session").json() == {"name": None, "role": None}
    assert judge.get("/account").headers["location"] == "/login?next=%2Faccount"


def test_a_name_is_found_in_any_case_and_width(server):
    server.accounts.users.add("Ann Lee", "judge", PASSWORD)
    assert server.visitor().sign_in("ａnn  lee").status_code == 200


def test_a_wrong_password_and_an_unknown_name_get_the_same_answer(server):
    server.accounts.users.add("ann", "judge", PASSWORD)
    visitor = server.visitor()
    wrong = visitor.sign_in("ann", "not the password")
    unknown = visitor.sign_in("bob", "not the password")
    assert wrong.status_code == unknown.status_code == 400
    assert wrong.json() == unknown.json()
    assert "set-cookie" not in wrong.headers


def test_the_page_that_was_asked_for_comes_after_signing_in(server):
    server.accounts.users.add("ann", "owner", PASSWORD)
    visitor = server.visitor()
    led = visitor.get("/users", params={"a": "1"})
    assert led.status_code == 303
    page = visitor.open(led.headers["location"])
    assert 'data-next="/users?a=1"' in page.text
    assert visitor.sign_in("ann", next="/users?a=1").json() == {"next": "/users?a=1"}


@pytest.mark.parametrize(("role", "status"), [("owner", 200), ("judge", 403), ("reader", 403)])
def test_only_owners_see_people(server, client, role, status):
    somebody = client(role)
    number = server.accounts.users.read()[0].id
    page = somebody.get("/users")
    assert page.status_code == status
    assert page.headers["content-type"].startswith("text/html")
    made = somebody.post("/api/users/links", json={"role": "judge"})
    assert made.status_code == status
    assert somebody.get(f"/api/users/{number}/export").status_code == status


def test_nobody_gets_sentences_not_pages_from_the_interface(server):
    found = server.visitor().get("/api/account/export")
    assert (found.status_code, found.json()) == (401, {"error": "Sign in first."})


def test_a_new_password_ends_every_other_session(server, client):
    here, there = client("judge", "ann"), client("judge", "ann")
    wrong = here.post("/api/password", json={"old": "not it at all", "new": "another pass phrase"})
    assert wrong.status_code == 400
    done = here.post("/api/password", json={"old": PASSWORD, "new": "another pass phrase"})
    assert done.status_code == 200
    assert here.get("/api/session").json()["name"] == "ann"
    assert there.get("/api/session").json()["name"] is None
    assert server.visitor().sign_in("ann").status_code == 400
    assert server.visitor().sign_in("ann", "another pass phrase").status_code == 200


@pytest.mark.parametrize(
    ("password", "word"),
    [
        ("short", "at least 10"),
        ("aaaaaaaaaaaa", "easy to guess"),
        ("annabelle lee", "easy to guess"),
        ("x" * 201, "200"),
        ("Password123!", "made of a common password and a sequence; use several words."),
        ("pa$$w0rd 2024", "made of a common password and a year"),
        ("letmein-letmein-1", "made of a common password"),
        ("0987654321", "a sequence"),
        ("qwertzuiop", "a sequence"),
        ("Karat-2026!!", "made of the name of this program and a year"),
        ("lee_1234567", "made of a name and a sequence"),
        ("The Try 2026", "made of a name and a year"),
        ("abcabcabcabc", "made of repetitions"),
    ],
)
def test_passwords_that_are_easily_guessed_are_refused(client, password, word):
    judge = client("judge", "Annabelle Lee")
    answer = judge.post("/api/password", json={"old": PASSWORD, "new": password})
    assert answer.status_code in (400, 422)
    assert word in answer.json()["error"]
    assert password not in answer.json()["error"]


@pytest.mark.parametrize(
    "password",
    ["three pale herons", "xK9#mQ2$vL", "83920174659", "my dog ate the password", "für später"],
)
def test_passwords_that_are_not_easily_guessed_are_accepted(password):
    assert check_password(password, "ann", "try") == password


def test_common_passwords_are_refused_wherever_one_is_chosen(server):
    visitor = server.visitor()
    visitor.open("/invitation")
    body = {"token": server.accounts.invitations.invite("judge"), "name": "bea", "password": "iloveyou2024"}
    assert "easy to guess" in visitor.post("/api/invitation/accept", json=body).json()["error"]
    bea = server.accounts.users.add("bea", "judge", PASSWORD)
    body = {"token": server.accounts.invitations.link_for(bea.id), "password": "beabea2024"}
    assert "made of a name and a year" in visitor.post("/api/invitation/accept", json=body).json()["error"]
    assert visitor.post("/api/invitation/accept", json=body | {"password": PASSWORD}).status_code == 200


def test_errors_are_sentences(client):
    owner = client("owner")
    missing = owner.get("/nowhere")
    assert missing.status_code == 404
    assert "There is no page at this address." in missing.text
    assert owner.get("/api/nowhere").json() == {"error": "There is no page at this address."}
    assert owner.post("/login").status_code == 405
    broken = owner.post("/api/users/links", content="{", headers={"Content-Type": "application/json"})
    assert broken.status_code == 422
    assert "not valid JSON" in broken.json()["error"]
    assert owner.post("/api/users/links", content='{"role": "judge"}').status_code == 422
    extra = owner.post("/api/users/links", json={"role": "judge", "<b>": 1})
    assert extra.json() == {"error": "an unknown field: extra inputs are not permitted."}


def test_a_failure_inside_is_one_sentence_with_a_number(server, client, monkeypatch, caplog):
    owner = client("owner")

    def fail(*given, **more):
        raise RuntimeError("a secret in a trace")

    monkeypatch.setattr(server.accounts.users, "read", fail)
    answer = owner.get("/users")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "content-security-policy" in answer.headers
    assert answer.json()["error"].split()[-1].rstrip(".") in caplog.text
