"""Accounts in the store: tables by migration with a copy first, hashes, sessions that end, both databases."""

import time

import pytest
from argon2 import PasswordHasher
from sqlalchemy import text

from karat.errors import InputError
from karat.forms import load_form
from karat.store import create_project, open_project
from karat.store.accounts import credentials
from karat.store.database import Database, find_place
from karat.store.migration import head, upgrade, version_of
from karat.store.tables import ACCOUNT, ACCOUNT_METADATA, PROJECT
from karat.world import make_world
from store import postgres
from web.servers import PASSWORD


@pytest.fixture
def accounts(made_project):
    place = made_project()
    with open_project(place) as project:
        yield project.accounts


@pytest.mark.parametrize("version", ["0001", "0002"])
def test_an_older_project_is_copied_and_then_gets_the_tables(made_project, tmp_path, version):
    with open_project(made_project()) as new, new.database.read() as connection:
        row = dict(connection.execute(PROJECT.select()).mappings().one())
    row["queue"] = row.pop("places")
    old = Database(find_place(tmp_path / "old.db"))
    old.prepare()
    with old.write() as connection:
        upgrade(connection, version)
        connection.execute(text(f"INSERT INTO project ({', '.join(row)}) VALUES (:{', :'.join(row)})"), row)
    old.close()
    with open_project(tmp_path / "old.db") as project:
        project.accounts.users.add("ann", "owner", PASSWORD)
        with project.database.read() as connection:
            assert version_of(connection) == head() >= "0003"
    copy = Database(find_place(tmp_path / f"old.db.{version}.backup"))
    with copy.read() as connection:
        assert version_of(connection) == version
    copy.close()


def test_the_tables_are_those_that_the_migration_made(accounts):
    from sqlalchemy import inspect

    with accounts._rows.database.read() as connection:
        found = inspect(connection)
        for table in ACCOUNT_METADATA.sorted_tables:
            columns = {one["name"]: one["nullable"] for one in found.get_columns(table.name)}
            assert columns == {one.name: one.nullable for one in table.columns}


def test_hashes_are_argon2id_and_made_anew_when_the_parameters_change(accounts, monkeypatch):
    user = accounts.users.add("ann", "judge", PASSWORD)

    def kept():
        with accounts._rows.database.read() as connection:
            return connection.execute(ACCOUNT_METADATA.tables["account"].select()).one().password_hash

    assert kept().startswith("$argon2id$v=19$m=64,t=1")
    # What is used outside of tests.
    monkeypatch.setattr(credentials, "hasher", PasswordHasher)
    assert accounts.users.sign_in("ann", PASSWORD) == user
    assert kept().startswith("$argon2id$v=19$m=65536,t=3")
    assert accounts.users.sign_in("ann", PASSWORD) == user


def test_a_session_ends_after_its_time_and_without_use(accounts):
    user = accounts.users.add("ann", "judge", PASSWORD)
    start, day = time.time(), 86_400.0
    token = accounts.sessions.open(user.id, start)
    assert accounts.sessions.whose(token, start + 2 * day) == user
    assert accounts.sessions.whose(token, start + 4 * day) == user, "it was used two days ago"
    for number in range(6, 14, 2):
        assert accounts.sessions.whose(token, start + number * day) == user
    assert accounts.sessions.whose(token, start + 14.1 * day) is None, "nothing lasts longer than two weeks"
    idle = accounts.sessions.open(user.id, start)
    assert accounts.sessions.whose(idle, start + 3.1 * day) is None


def test_numbers_of_people_are_never_given_again(accounts):
    accounts.users.add("ann", "owner", PASSWORD)
    bob = accounts.users.add("bob", "judge", PASSWORD)
    accounts.users.remove(bob.id)
    numbers = {accounts.users.add(f"judge {k}", "judge", None).id for k in range(5)}
    assert len(numbers | {bob.id}) == 6
    assert all(2**32 <= number < 2**53 for number in numbers), "nobody knows one before it is there"


def test_names_that_look_alike_are_taken(accounts):
    accounts.users.add("Straße", "judge", PASSWORD)
    for name in ("STRASSE", "straße", "Ｓｔｒａｓｓｅ"):
        with pytest.raises(ValueError, match="taken"):
            accounts.users.add(name, "judge", PASSWORD)


@pytest.mark.skipif(postgres.programs() is None, reason=postgres.REASON)
def test_everything_works_in_postgresql():
    world = make_world(images=10, captions=1, seed=1).benchmark()
    with (
        postgres.server() as address,
        create_project(address, world, load_form("pair"), source="world", name="pg") as project,
    ):
        accounts = project.accounts
        owner = accounts.invitations.accept(accounts.invitations.invite("owner"), "ann", PASSWORD)
        judge = accounts.invitations.accept(
            accounts.invitations.invite("judge", actor=owner.id), "bob", PASSWORD
        )
        with pytest.raises(ValueError, match="taken"):
            accounts.invitations.accept(accounts.invitations.invite("judge"), "BOB", PASSWORD)
        assert accounts.users.sign_in("bob", PASSWORD) == judge
        assert accounts.users.sign_in("bob'; --", PASSWORD) is None
        token = accounts.sessions.open(judge.id)
        assert accounts.sessions.whose(token) == judge
        assert accounts.sessions.whose(token, time.time() + 3600) == judge
        with pytest.raises(ValueError, match="only owner"):
            accounts.users.set_role(owner.id, "judge")
        accounts.users.set_role(judge.id, "reader", owner.id)
        accounts.users.set_password(judge.id, "a new pass phrase", owner.id)
        assert accounts.sessions.whose(token) is None
        assert accounts.users.export(judge.id)["account"]["name"] == "bob"
        assert accounts.users.remove(judge.id, owner.id) in project.annotators.read()[0]
        assert [one.name for one in accounts.users.read()] == ["ann"]
        assert accounts.audit.trail()[0]["what"] == "removed"


@pytest.mark.parametrize(
    "name", ["=1+1", " =1+1", "＝1+1", "+ann", "-ann", "@SUM(A1)", "\tann", "\r=1", "﹢1"]
)
def test_a_name_that_a_spreadsheet_computes_is_refused_for_new_accounts_only(accounts, name):
    token = accounts.invitations.invite("judge")
    for make in (
        lambda: accounts.users.add(name, "judge", PASSWORD),
        lambda: accounts.invitations.invite("judge", name),
        lambda: accounts.invitations.accept(token, name, PASSWORD),
    ):
        with pytest.raises(InputError, match=r"formula|printable"):
            make()
    assert accounts.users.add("ann-marie =1 @home", "judge", PASSWORD).id


def test_a_user_who_has_such_a_name_keeps_it(accounts):
    number = accounts.users.add("ann", "owner", PASSWORD).id
    with accounts._rows.change() as connection:
        connection.execute(ACCOUNT.update().values(name="=1+1", folded_name="=1+1"))
    accounts.users.confirm(number)
    assert accounts.users.sign_in("=1+1", PASSWORD).id == number
    accounts.invitations.accept(accounts.invitations.link_for(number), "", "a new pass phrase")
    assert accounts.users.sign_in("=1+1", "a new pass phrase").id == number
