"""Accounts, sessions and links that came with a project give no right, whatever a stranger wrote into it."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import delete, insert, select, update

from karat._util import seal
from karat.errors import InputError
from karat.store import create_project, open_project
from karat.store.accounts import credentials
from karat.store.accounts.credentials import digest, new_token
from karat.store.tables import ACCOUNT, INVITATION, SESSION

from .small import FORM
from made import make_benchmark

PASSWORD, THEIRS = "a long pass phrase", "the pass phrase of a stranger"
YEARS = 3 * 365 * 86_400.0


@pytest.fixture(autouse=True)
def _quick_hashes(monkeypatch):
    argon2 = pytest.importorskip("argon2", reason="needs the web: pip install 'karat[web]'")
    quick = argon2.PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    monkeypatch.setattr(credentials, "hasher", lambda: quick)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Return a function that moves to another machine: another user with a key of their own."""
    return lambda name="elsewhere": monkeypatch.setenv("KARAT_CONFIG", str(tmp_path / name))


def account(name, role="owner", number=1, **more):
    row = {
        "id": number, "name": name, "folded_name": name, "role": role, "active": 1, "at": 1.0,
        "password_hash": credentials.hash_password(THEIRS), "seal": None,
    }  # fmt: skip
    return insert(ACCOUNT).values(row | more)


def session(token, number=1, **more):
    now = time.time()
    row = {
        "token_digest": digest(token),
        "account": number,
        "at": now,
        "seen_at": now,
        "expires": now + YEARS,
    }
    return insert(SESSION).values(row | more)


def link(token, kind="join", role="owner", number=None, **more):
    now = time.time()
    row = {"token_digest": digest(token), "kind": kind, "role": role, "account": number, "at": now}
    return insert(INVITATION).values(row | {"expires": now + YEARS} | more)


def run(project, *statements):
    with project.database.write() as connection:
        for statement in statements:
            connection.execute(statement)


def is_open(accounts, token):
    """Whether a link can be looked at or used."""
    for use in (accounts.invitations.look_at, lambda one: accounts.invitations.accept(one, "eve", THEIRS)):
        try:
            use(token)
        except InputError:
            continue
        return True
    return False


def test_rows_for_an_account_that_is_not_there_yet(project):
    """The numbers of new accounts cannot be foretold, and a row has no seal."""
    planted, entering, joining = new_token(), new_token(), new_token()
    run(project, session(planted), link(entering, "enter", None, 1), link(joining))
    accounts = project.accounts
    ann = accounts.users.add("ann", "owner", PASSWORD)
    assert ann.id > 2**32
    # Even where the stranger has guessed the number.
    run(project, update(SESSION).values(account=ann.id), update(INVITATION).values(account=ann.id))
    assert accounts.sessions.whose(planted) is None
    assert not is_open(accounts, entering)
    assert not is_open(accounts, joining)
    assert accounts.sessions.end_foreign() == 1
    assert accounts.sessions.end_foreign() == 0
    assert [one["confirmed"] for one in accounts.invitations.read()] == [False, False]
    assert [user.name for user in accounts.users.read()] == ["ann"]


@pytest.mark.parametrize("role", ["owner", "judge", "reader"])
def test_an_account_of_somebody_else(project, role):
    run(project, account("eve", role))
    accounts = project.accounts
    (eve,) = accounts.users.read()
    assert (eve.confirmed, eve.is_owner, accounts.users.has_owner()) == (False, False, False)
    assert accounts.users.sign_in("eve", THEIRS) is None
    assert accounts.sessions.whose(accounts.sessions.open(eve.id)) is None
    for call in (
        lambda: accounts.invitations.link_for(eve.id),
        lambda: accounts.users.set_role(eve.id, "owner"),
    ):
        with pytest.raises(InputError, match="'eve' was not made on this machine, or was changed elsewhere"):
            call()
    accounts.users.set_active(eve.id, False)
    accounts.users.set_active(eve.id, True)
    assert accounts.users.sign_in("eve", THEIRS) is None, "to disable and enable it confirms nothing"
    accounts.users.confirm(eve.id)
    assert accounts.users.sign_in("eve", THEIRS).role == role
    accounts.users.set_role(eve.id, "reader" if role != "owner" else "owner")
    assert accounts.users.sign_in("eve", THEIRS) is not None


@pytest.mark.parametrize(
    "change",
    [
        {"role": "owner"}, {"password_hash": "theirs"}, {"name": "eve", "folded_name": "eve"}, {"at": 5.0},
        {"folded_name": "eve"}, {"active": 2}, {"seal": "0" * 64}, {"seal": ""},
    ],
    ids=str,
)  # fmt: skip
def test_an_account_that_was_changed_elsewhere(project, change):
    accounts = project.accounts
    accounts.users.add("ann", "owner", PASSWORD)
    bob = accounts.users.add("bob", "judge", PASSWORD)
    token = accounts.sessions.open(bob.id)
    if change.get("password_hash"):
        change = {"password_hash": credentials.hash_password(THEIRS)}
    run(project, update(ACCOUNT).where(ACCOUNT.c.id == bob.id).values(change))
    if change == {"active": 2}:
        # SQL says that the account is open only where this is 1.
        run(project, update(ACCOUNT).where(ACCOUNT.c.id == bob.id).values(active=1, role="owner"))
    for name in ("bob", "eve"):
        for password in (PASSWORD, THEIRS):
            assert accounts.users.sign_in(name, password) is None
    assert accounts.sessions.whose(token) is None
    assert not next(user for user in accounts.users.read() if user.id == bob.id).confirmed


def test_seals_are_not_moved_from_row_to_row_or_to_another_project(project, tmp_path):
    accounts = project.accounts
    ann, bob = accounts.users.add("ann", "owner", PASSWORD), accounts.users.add("bob", "judge", PASSWORD)
    token, late = accounts.sessions.open(bob.id), accounts.sessions.open(bob.id)
    with project.database.read() as connection:
        rows = {row.id: row._asdict() for row in connection.execute(select(ACCOUNT))}
    run(
        project,
        update(SESSION).where(SESSION.c.token_digest == digest(token)).values(account=ann.id),
        update(SESSION).where(SESSION.c.token_digest == digest(late)).values(expires=time.time() + YEARS),
    )
    assert accounts.sessions.whose(token) is None
    assert accounts.sessions.whose(late) is None
    run(project, update(ACCOUNT).where(ACCOUNT.c.id == bob.id).values(seal=rows[ann.id]["seal"]))
    assert accounts.users.sign_in("bob", PASSWORD) is None
    with create_project(tmp_path / "other.db", make_benchmark(), FORM, source="made") as other:
        run(other, insert(ACCOUNT).values(rows[ann.id]))
        assert other.accounts.users.sign_in("ann", PASSWORD) is None
        assert seal("account", 1) != rows[ann.id]["seal"]


def test_a_link_that_was_used_is_not_made_new(project):
    accounts = project.accounts
    token = accounts.invitations.invite("owner")
    accounts.invitations.accept(token, "ann", PASSWORD)
    run(project, update(INVITATION).values(used_at=None, used_by=None))
    assert not is_open(accounts, token)
    judge = accounts.invitations.invite("judge")
    run(project, update(INVITATION).where(INVITATION.c.token_digest == digest(judge)).values(role="owner"))
    assert not is_open(accounts, judge)


def test_ones_own_project_takes_one_confirmation_and_locks_nobody_out(where, elsewhere):
    with create_project(where, make_benchmark(), FORM, source="made") as project:
        accounts = project.accounts
        ann = accounts.users.add("ann", "owner", PASSWORD)
        accounts.users.add("bob", "judge", PASSWORD)
        accounts.users.set_password(ann.id, f"{PASSWORD} again", ann.id)
        token, opened = accounts.invitations.invite("reader"), accounts.sessions.open(ann.id)
        assert accounts.foreign() == ([], [])
    elsewhere()
    with open_project(where) as project:
        accounts = project.accounts
        users, links = accounts.foreign()
        assert [user.name for user in users] == ["ann", "bob"]
        assert len(links) == 1
        assert accounts.users.sign_in("ann", f"{PASSWORD} again") is None
        assert not is_open(accounts, token)
        accounts.confirm_all()
        assert accounts.foreign() == ([], [])
        assert accounts.sessions.end_foreign() == 1
        assert accounts.sessions.whose(opened) is None
        assert accounts.users.sign_in("ann", f"{PASSWORD} again").role == "owner"
        assert accounts.users.sign_in("bob", PASSWORD).role == "judge"
        assert accounts.invitations.accept(token, "cid", PASSWORD).role == "reader"
        entries = [entry["what"] for entry in accounts.audit.trail()]
        assert entries.count("confirmed") == 2
        assert entries.count("link confirmed") == 1


def test_only_known_owners_keep_a_project(project):
    """A planted owner does not let the real one be removed, and can be removed."""
    accounts = project.accounts
    ann = accounts.users.add("ann", "owner", PASSWORD)
    run(project, account("eve"))
    with pytest.raises(InputError, match="'ann' is the only owner"):
        accounts.users.remove(ann.id)
    accounts.users.remove(1)
    assert [user.name for user in accounts.users.read()] == ["ann"]


def test_what_a_stranger_wrote_is_bounded_when_it_is_confirmed(project):
    costly = "$argon2id$v=19$m=1073741824,t=3,p=1$c29tZXNhbHRzb21lc2FsdA$" + "A" * 43
    run(
        project,
        account("eve", password_hash=costly),
        account("bob", "boss", 2),
        link(new_token(), role="boss"),
    )
    run(project, account("cid", number=3, folded_name="ann"))
    accounts = project.accounts
    accounts.users.confirm(1)
    assert accounts.users.sign_in("eve", THEIRS) is None, "a hash that needs a terabyte is not computed"
    for number in (2, 3):
        with pytest.raises(InputError, match="is damaged; remove it"):
            accounts.users.confirm(number)
    with pytest.raises(InputError, match="there is no open link number 99"):
        accounts.invitations.confirm(99)
    accounts.confirm_all()
    assert [user.id for user in accounts.foreign()[0]] == [2, 3], "what is damaged stays as it is"
    run(project, delete(ACCOUNT))
    assert accounts.users.read() == []


def test_changes_at_the_same_time_leave_a_valid_seal(project):
    """Two servers may share a database: of two changes of a row, the seal covers both."""
    accounts = project.accounts
    accounts.users.add("ann", "owner", PASSWORD)
    bob = accounts.users.add("bob", "judge", PASSWORD)

    def change(number):
        if number % 2:
            accounts.users.set_role(bob.id, ("reader", "judge")[number // 2 % 2])
        else:
            accounts.users.set_active(bob.id, bool(number // 2 % 2))

    with ThreadPoolExecutor(4) as pool:
        for begin in range(0, 40, 8):
            list(pool.map(change, range(begin, begin + 8)))
            assert next(user for user in accounts.users.read() if user.id == bob.id).confirmed


def test_a_link_lets_one_of_many_in(project):
    token = project.accounts.invitations.invite("judge")

    def use(number):
        try:
            return project.accounts.invitations.accept(token, f"judge {number}", PASSWORD).name
        except InputError:
            return None

    with ThreadPoolExecutor(4) as pool:
        names = [name for name in pool.map(use, range(8)) if name]
    assert len(names) == 1
    assert [user.name for user in project.accounts.users.read()] == names
