"""The templates of `millrace new consumer --language` and the examples have the same endpoint around the worker."""

import pytest

import templates

SHARED = {
    "python": ["server.py", "test_server.py", "requirements.txt", "requirements-dev.txt"],
    "typescript": ["source/server.ts", "source/main.ts", "test/server.test.ts", "tsconfig.json"],
    "java": ["source/worker/Server.java", "test/worker/ServerTest.java", "Makefile"],
}
IGNORED = {"build", ".venv", ".ruff_cache", "node_modules", "__pycache__", ".pytest_cache"}


@pytest.mark.parametrize("language", templates.LANGUAGES)
def test_template_and_example_share_files(language):
    files = templates.files(language)
    example = templates.ROOT / "examples" / f"{language}-worker"
    for path in [*SHARED[language], "Dockerfile", ".gitignore", ".dockerignore"]:
        assert files[path] == (example / path).read_text(), path


@pytest.mark.parametrize("language", templates.LANGUAGES)
def test_example_and_template_have_the_same_files(language):
    example = templates.ROOT / "examples" / f"{language}-worker"
    paths = [path.relative_to(example) for path in example.rglob("*") if path.is_file()]
    tracked = {str(path) for path in paths if not IGNORED & set(path.parts)}
    assert set(templates.files(language)) == tracked - {"secret"}


@pytest.mark.parametrize("language", templates.LANGUAGES)
def test_the_name_replaces_every_placeholder(language):
    for path, text in templates.files(language, "win-back").items():
        assert "@name@" not in text, path
        assert "  win-back:\n" in text or path != "millrace.yaml"


def test_every_template_has_a_known_language():
    for file in templates.FOLDER.iterdir():
        assert file.name.split("--")[0] in templates.LANGUAGES, file.name
