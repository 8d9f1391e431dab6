def pytest_addoption(parser):
    parser.addoption("--url", help="the URL of a running endpoint, for test_endpoint.py")
    parser.addoption("--secret-file", help="the file that has the secret of the endpoint")
