"""A project, and files that it must refuse."""

import pytest

from judging.exchange.projects import make_project
from karat.errors import KaratError
from karat.judging.exchange import import_answers


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    with make_project(tmp_path_factory.mktemp("project"), number=True) as made:
        yield made


@pytest.fixture
def refused(project, tmp_path):
    """Import bytes that must be refused; return what is said. The project stays empty."""

    def call(data, name="answers.csv", format=None):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        with pytest.raises(KaratError) as stop:
            import_answers(project, path, format)
        assert len(project.answers.read()) == 0
        assert project.annotators.read() == ((), ())
        assert not list(project.answers.history())
        assert str(path) in str(stop.value)
        assert stop.value.fix
        return stop.value.what

    return call
