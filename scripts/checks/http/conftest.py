import pytest

from millrace import Endpoint, Worker


def pytest_addoption(parser):
    parser.addoption("--url", help="the URL of a running endpoint")
    parser.addoption("--secret-file", help="the file that has the secret of the endpoint")


@pytest.fixture
def endpoint(pytestconfig):
    return Endpoint(pytestconfig.getoption("--url"), pytestconfig.getoption("--secret-file"))


@pytest.fixture
def worker(endpoint):
    return Worker(endpoint)
