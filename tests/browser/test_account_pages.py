"""Signing in, an invitation and the page of users in a browser: usable by keyboard, quiet, readable."""

import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser.test_report_page import axe_source
from web.conftest import _quick_hashes, made_project, project_template, serve, server  # noqa: F401
from web.servers import PASSWORD

LOOKS = [(1280, False), (1280, True), (390, False), (390, True)]


@pytest.fixture
def page(browser, server):  # noqa: F811
    """A function that opens a page of the server, without signing in."""
    browser.driver.get(f"{server.address}/login")
    browser.driver.delete_all_cookies()

    def open_page(path, width=1280, dark=False):
        browser.set(width, dark)
        # Another part after the # alone would not load the page again.
        browser.driver.get("about:blank")
        browser.driver.get(server.address + path)
        return browser

    browser.complaints()
    return open_page


def element(browser, css):
    return browser.driver.find_element(By.CSS_SELECTOR, css)


def path_of(browser):
    return browser.run("return location.pathname")


def type_in(browser, *keys):
    from selenium.webdriver import ActionChains

    ActionChains(browser.driver).send_keys(*keys).perform()


def enter(browser, server, name="ann"):  # noqa: F811
    """Give the browser a session."""
    token = server.accounts.sessions.open(server.accounts.users.number_of(name))
    cookie = {"name": server.app.state.cookies.session, "value": token, "path": "/", "sameSite": "Strict"}
    browser.driver.get(f"{server.address}/login")
    browser.driver.add_cookie(cookie)


def test_somebody_joins_by_keyboard_signs_out_and_in_again(page, server):  # noqa: F811
    browser = page(f"/invitation#{server.accounts.invitations.invite('judge')}")
    browser.wait("return !document.getElementById('accept').hidden")
    assert browser.run("return location.hash") == "", "the link leaves the address bar"
    type_in(browser, "Bea", Keys.TAB, PASSWORD, Keys.ENTER)
    browser.wait("return location.pathname !== '/invitation'")
    assert [one.name for one in server.accounts.users.read()] == ["Bea"]
    page("/account")
    element(browser, "#sign-out").send_keys(Keys.ENTER)
    browser.wait("return location.pathname === '/login' && document.readyState === 'complete'")
    type_in(browser, "bea", Keys.TAB, "wrong password", Keys.ENTER)
    browser.wait("return !document.querySelector('.said').hidden")
    assert "wrong" in element(browser, ".said").text
    element(browser, "#password").clear()
    element(browser, "#password").send_keys(PASSWORD, Keys.ENTER)
    browser.wait("return location.pathname !== '/login'")
    # The browser itself notes the 400 of the wrong password.
    assert [one for one in browser.complaints() if "status of 400" not in one] == []


def test_a_link_survives_a_reload_and_a_used_one_says_so(page, server):  # noqa: F811
    token = server.accounts.invitations.invite("reader", "Cid")
    browser = page(f"/invitation#{token}")
    browser.wait("return !document.getElementById('accept').hidden")
    browser.driver.refresh()
    browser.wait("return !document.getElementById('accept').hidden")
    assert element(browser, "#name").get_attribute("value") == "Cid"
    server.accounts.invitations.accept(token, "", PASSWORD)
    page(f"/invitation#{token}")
    browser.wait("return document.getElementById('about').classList.contains('bad')")
    assert "does not work" in element(browser, "#about").text
    browser.complaints()


def test_the_owner_invites_changes_and_removes(page, browser, server):  # noqa: F811
    for name, role in (("ann", "owner"), ("<b>bob</b>", "judge")):
        server.accounts.users.add(name, role, PASSWORD)
    enter(browser, server)
    page("/users")
    element(browser, "#invite button").click()
    browser.wait("return !document.getElementById('made').hidden")
    token = element(browser, "#link").get_attribute("value").split("#")[1]
    assert server.accounts.invitations.look_at(token).role == "judge"
    row = "tr[data-name='<b>bob</b>']"
    assert element(browser, f"{row} th").text == "<b>bob</b>"
    element(browser, f"{row} button.danger").click()
    assert element(browser, "#sure-title bdi").text == "<b>bob</b>"
    type_in(browser, Keys.ENTER)
    browser.wait("return !document.getElementById('sure').open")
    assert len(server.accounts.users.read()) == 2, "keeping is what Enter does"
    element(browser, f"{row} button.danger").click()
    element(browser, "#sure button[value=yes]").click()
    browser.wait(f'return !document.querySelector("{row}")')
    assert [one.name for one in server.accounts.users.read()] == ["ann"]
    assert browser.complaints() == []


SAID = "const d = document.getElementById('done'); return !d.hidden && d.textContent === {!r}"
"""Whether the page says that something was done."""


@pytest.fixture
def users(page, browser, server):  # noqa: F811
    """The page of users as its owner sees it, with one annotator."""
    for name, role in (("ann", "owner"), ("bob", "judge")):
        server.accounts.users.add(name, role, PASSWORD)
    enter(browser, server)
    page("/users")
    return browser


CHOOSE = (
    "const s = document.querySelector('tr[data-name=bob] select'); s.value = arguments[0];"
    "s.dispatchEvent(new Event('change', { bubbles: true }));"
)
"""Choose a role for bob, as with the mouse."""


def change_role(browser, role):
    browser.run(CHOOSE, role)
    browser.wait("return document.getElementById('sure').open")


def test_a_change_of_role_is_confirmed_and_announced(users, server):  # noqa: F811
    change_role(users, "reader")
    assert element(users, "#sure-title").text == "Make bob a reader?"
    type_in(users, Keys.ENTER)
    users.wait("return !document.getElementById('sure').open")
    assert users.run("return document.querySelector('tr[data-name=bob] select').value") == "judge"
    assert server.accounts.users.read()[1].role == "judge", "Enter cancels"
    change_role(users, "reader")
    element(users, "#sure-yes").click()
    users.wait(SAID.format("bob is now a reader."))
    assert users.run("return document.querySelector('tr[data-name=bob] select').value") == "reader"
    assert element(users, "#done").get_attribute("role") == "status"
    assert server.accounts.users.read()[1].role == "reader"
    assert users.complaints() == []


def test_a_question_right_after_another_waits_for_its_own_answer(users, server):  # noqa: F811
    change_role(users, "owner")
    # The dialog is asked again before it could tell that it was closed.
    users.run("document.getElementById('sure').close();" + CHOOSE, "reader")
    users.wait("return document.getElementById('sure').open")
    assert element(users, "#sure-title").text == "Make bob a reader?"
    element(users, "#sure-yes").click()
    users.wait(SAID.format("bob is now a reader."))
    assert server.accounts.users.read()[1].role == "reader"
    assert users.complaints() == []


def test_disabling_is_confirmed_and_the_focus_stays(users, server):  # noqa: F811
    active = "tr[data-name=bob] [data-do=active]"
    element(users, active).click()
    assert element(users, "#sure-title").text == "Disable bob?"
    type_in(users, Keys.ESCAPE)
    users.wait("return !document.getElementById('sure').open")
    assert server.accounts.users.read()[1].active
    element(users, active).click()
    element(users, "#sure-yes").click()
    users.wait(SAID.format("bob is disabled."))
    assert not server.accounts.users.read()[1].active
    assert users.run("return document.activeElement === document.querySelector(arguments[0])", active)
    type_in(users, Keys.ENTER)
    users.wait(SAID.format("bob is enabled."))
    assert server.accounts.users.read()[1].active
    assert users.complaints() == []


def test_a_refused_change_is_reported(users, server):  # noqa: F811
    element(users, "tr[data-name=ann] [data-do=active]").click()
    element(users, "#sure-yes").click()
    users.wait("return !document.getElementById('said').hidden")
    assert "owner" in element(users, "#said").text
    assert server.accounts.users.read()[0].active
    users.complaints()


def test_the_link_just_made_stays_until_it_is_revoked(users, server):  # noqa: F811
    users.run("document.getElementById('name').value = 'Cid'")
    element(users, "#invite button").click()
    users.wait("return document.getElementById('made').dataset.link")
    assert element(users, "#made-title").text == "Invitation of an annotator, Cid."
    first = element(users, "#link").get_attribute("value")
    assert "Cid" in element(users, "#lists tr[data-link]").text, "it is in the list of open links"
    change_role(users, "reader")
    element(users, "#sure-yes").click()
    users.wait(SAID.format("bob is now a reader."))
    assert element(users, "#link").get_attribute("value") == first, "a change of something else leaves it"
    element(users, "tr[data-name=bob] [data-do=reset]").click()
    users.wait("return document.getElementById('made-title').textContent === 'New password for bob.'")
    users.wait("return document.getElementById('made').dataset.link")
    assert element(users, "#link").get_attribute("value") != first
    assert server.accounts.invitations.look_at(element(users, "#link").get_attribute("value").split("#")[1])
    number = users.run("return document.getElementById('made').dataset.link")
    element(users, f"tr[data-link='{number}'] [data-do=revoke]").click()
    users.wait(SAID.format("The link is revoked."))
    assert not element(users, "#made").is_displayed()
    assert users.complaints() == []


def test_copied_does_not_stay(users, server):  # noqa: F811
    rights = {"origin": server.address, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    users.driver.execute_cdp_cmd("Browser.grantPermissions", rights)
    # The test sets the clock: "Copied" is taken back by a timer, or by the next link.
    users.run("window.timers = []; window.setTimeout = (call) => window.timers.push(call)")
    element(users, "#invite button").click()
    users.wait("return document.getElementById('made').dataset.link")
    copied = "return document.getElementById('copy').textContent === 'Copied'"
    element(users, "#copy").click()
    users.wait(copied)
    users.run("window.timers.at(-1)()")
    assert element(users, "#copy").text == "Copy"
    element(users, "#copy").click()
    users.wait(copied)
    element(users, "#invite button").click()
    users.wait("return document.getElementById('copy').textContent === 'Copy'")
    users.driver.execute_cdp_cmd("Browser.resetPermissions", {})


def test_the_colours_can_be_switched_and_stay(page):
    browser = page("/login")
    browser.wait("return !document.getElementById('theme').hidden")
    light = browser.run("return getComputedStyle(document.body).backgroundColor")
    element(browser, "#theme").click()
    page("/login")
    assert browser.run("return getComputedStyle(document.body).backgroundColor") != light
    browser.run("localStorage.clear()")


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_every_page_is_readable(page, browser, server, pictures, width, dark):  # noqa: F811
    for name, role in (
        ("ann", "owner"),
        ("Bea Long-Name of the House of Benchmarks", "judge"),
        ("cid", "reader"),
    ):
        server.accounts.users.add(name, role, PASSWORD)
    me, _, cid = (user.id for user in server.accounts.users.read())
    server.accounts.users.set_active(cid, False, me)
    tokens = [server.accounts.invitations.invite("judge", name, actor=me) for name in (None, "Dora")]
    look = f"{width}-{'dark' if dark else 'light'}"
    for name, path in (
        ("login", "/login"),
        ("invitation", f"/invitation#{tokens[0]}"),
        ("error", "/nowhere"),
    ):
        page(path, width, dark)
        check(browser, pictures / f"{name}-{look}.png")
    enter(browser, server)
    for name in ("users", "account"):
        page(f"/{name}", width, dark)
        if name == "users":
            browser.run("document.querySelector('#invite button').click()")
            browser.wait("return !document.getElementById('made').hidden")
        check(browser, pictures / f"{name}-{look}.png")
    assert [one for one in browser.complaints() if "status of 404" not in one] == []


def check(browser, picture):
    """Nothing sticks out sideways, nothing serious for people with disabilities; keep a picture."""
    browser.wait("return document.readyState === 'complete' && !document.querySelector('#theme').hidden")
    browser.wait(
        "const a = document.getElementById('about'); return !a || !a.textContent.includes('Checking')"
    )
    browser.picture(picture)
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth"), picture
    # By the debugger, which the page's policy does not bind.
    browser.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": axe_source()})
    found = browser.driver.execute_async_script("axe.run(document).then((f) => arguments[0](f.violations))")
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == [], found
