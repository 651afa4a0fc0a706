"""Links: a user joins, chooses a new password, or signs in; once, and in time."""

import time

import pytest

from karat.forms import AnswerRows
from karat.store.accounts.invitations import ENTER
from karat.web.server import check_open, owner_link
from karat.web.settings import Settings
from web.servers import PASSWORD


def token_of(link):
    return link.split("#")[1]


def join(server, token, name="bea", password=PASSWORD):
    visitor = server.visitor()
    visitor.open("/invitation")
    answer = visitor.post("/api/invitation/accept", json={"token": token, "name": name, "password": password})
    return visitor, answer


def test_an_owner_invites_a_judge_who_then_judges_under_that_name(server, client):
    owner = client("owner")
    made = owner.post("/api/users/links", json={"role": "judge", "days": 1}).json()["link"]
    assert made.startswith(f"{server.address}/invitation#")
    visitor = server.visitor()
    visitor.open("/invitation")
    looked = visitor.post("/api/invitation/look", json={"token": token_of(made)}).json()
    assert (looked["kind"], looked["role"], looked["name"]) == ("join", "judge", None)
    joined, answer = join(server, token_of(made), "  Bea  B. ")
    assert answer.status_code == 200
    assert joined.get("/api/session").json() == {"name": "Bea B.", "role": "judge"}
    assert "Bea B." in server.project.annotators.read()[0]
    assert server.project.queue.lease("Bea B.") is not None
    assert server.visitor().sign_in("bea b.").status_code == 200


def test_a_link_is_in_no_page_and_not_in_the_database(server, client, made_project):
    owner = client("owner")
    token = token_of(owner.post("/api/users/links", json={"role": "judge"}).json()["link"])
    assert token not in owner.get("/users").text
    with server.project.database.read() as connection:
        dump = connection.connection.driver_connection.iterdump()
        text = "\n".join(dump)
    assert token not in text
    assert PASSWORD not in text
    assert owner.cookies.get(server.app.state.cookies.session) not in text


@pytest.mark.parametrize(
    "name", ["", "   ", "a\nb", "a\0b", "x" * 61, "removed-1", "Removed-9", "a‮b", "\u200b", "OWNER-1"]
)
def test_names_that_cannot_be_used_are_refused_and_the_link_stays(server, client, name):
    client("owner")
    token = server.accounts.invitations.invite("judge")
    _, answer = join(server, token, name)
    assert answer.status_code in (400, 422), answer.text
    assert join(server, token, "bea")[1].status_code == 200


def test_the_name_of_a_annotator_is_taken_unless_the_owner_gives_it(server):
    server.project.answers.record(AnswerRows([-1], [0], [0], ["Mia"], ["yes"]))
    _, answer = join(server, server.accounts.invitations.invite("judge"), "mia")
    assert "taken" in answer.json()["error"]
    joined, answer = join(server, server.accounts.invitations.invite("judge", "Mia"), "somebody else")
    assert answer.status_code == 200
    assert joined.get("/api/session").json()["name"] == "Mia"
    assert server.project.annotators.read()[0].count("Mia") == 1


def test_a_machine_judge_lends_its_name_to_nobody(server):
    server.project.annotators.add("gpt", "machine")
    _, answer = join(server, server.accounts.invitations.invite("judge", "gpt"))
    assert answer.status_code == 400
    assert "machine" in answer.json()["error"]
    assert not server.accounts.users.read()


def test_a_new_password_by_a_link_ends_every_session(server, client):
    owner, ann = client("owner"), client("judge", "ann")
    number = server.accounts.users.number_of("ann")
    link = owner.post(f"/api/users/{number}/reset").json()["link"]
    _, answer = join(server, token_of(link), "ignored", "a new pass phrase")
    assert answer.status_code == 200
    assert ann.get("/api/session").json()["name"] is None
    assert server.visitor().sign_in("ann").status_code == 400
    assert server.visitor().sign_in("ann", "a new pass phrase").status_code == 200


def test_the_first_start_makes_an_owner_and_later_ones_let_the_owner_in(server):
    first = owner_link(server.accounts, server.settings)
    again = owner_link(server.accounts, server.settings)
    assert join(server, token_of(first))[1].status_code == 400, "links of earlier starts stop working"
    joined, answer = join(server, token_of(again), "ann")
    assert answer.status_code == 200
    assert joined.get("/api/session").json() == {"name": "ann", "role": "owner"}
    visitor, answer = join(server, token_of(owner_link(server.accounts, server.settings)), "", "")
    assert answer.status_code == 200
    assert visitor.get("/api/session").json() == {"name": "ann", "role": "owner"}


def test_the_owner_of_a_public_server_signs_in_by_password(server):
    public = Settings("own.db", host="0.0.0.0")
    with pytest.raises(ValueError, match="no owner with a password"):
        check_open(server.accounts, public)
    server.accounts.users.add("demo", "owner", None)
    with pytest.raises(ValueError, match="no owner with a password"):
        check_open(server.accounts, public)
    server.accounts.users.add("ann", "owner", PASSWORD)
    check_open(server.accounts, public)
    assert owner_link(server.accounts, public) is None
    assert owner_link(server.accounts, server.settings) is not None


@pytest.mark.parametrize(
    "more", [{"url": "https://a.example"}, {"proxies": ("10.0.0.1",)}, {"host": "10.0.0.1"}]
)
def test_a_server_behind_a_proxy_is_public(more):
    assert Settings("own.db", **more).public
    assert not Settings("own.db", url="http://localhost:80").public


def test_expired_used_and_revoked_links_give_one_answer(server, client):
    owner = client("owner")
    accounts = server.accounts
    old = accounts.invitations.invite("judge", seconds=1)
    with pytest.raises(ValueError, match="does not work"):
        accounts.invitations.look_at(old, now=time.time() + 2)
    with pytest.raises(ValueError, match="does not work"):
        accounts.invitations.accept(old, "bea", PASSWORD, now=time.time() + 2)
    used = accounts.invitations.invite("judge")
    assert join(server, used)[1].status_code == 200
    revoked = accounts.invitations.invite("judge")
    number = accounts.invitations.read()[0]["id"]
    assert owner.delete(f"/api/users/links/{number}").status_code == 200
    answers = [join(server, token, "cid")[1] for token in (used, revoked, "x" * 43, "nonsense", "")]
    assert {answer.status_code for answer in answers} == {400}
    assert len({answer.text for answer in answers}) == 1
    assert "cid" not in {one.name for one in accounts.users.read()}


def test_a_link_used_by_many_at_once_lets_one_in(server):
    from concurrent.futures import ThreadPoolExecutor

    token = server.accounts.invitations.invite("judge")
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda k: join(server, token, f"bea {k}")[1].status_code, range(4)))
    assert sorted(answers) == [200, 400, 400, 400]
    assert len(server.accounts.users.read()) == 1


def test_a_link_for_somebody_who_was_disabled_does_not_work(server, client):
    client("owner")
    ann = server.accounts.users.add("ann", "judge", PASSWORD)
    token = server.accounts.invitations.link_for(ann.id, ENTER)
    server.accounts.users.set_active(ann.id, False)
    assert join(server, token)[1].status_code == 400
