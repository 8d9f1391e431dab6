"""The templates of `millrace new consumer --language`: flat files in Sources/Operations/NewConsumer/Templates.

    templates.py LANGUAGE NAME DIRECTORY    writes a project, as the command does

A file `<language>--<path>` has the path with `--` instead of slashes, and without the dot of `.gitignore` and
`.dockerignore`. `@name@` stands for the name of the worker.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "Sources" / "Operations" / "NewConsumer" / "Templates"
LANGUAGES = ["python", "typescript", "java"]
DOTFILES = ["gitignore", "dockerignore"]


def path_of(name):
    """The path in the project of a template's file name without its language."""
    return f".{name}" if name in DOTFILES else name.replace("--", "/")


def files(language, name="@name@"):
    """The files of a project, by path."""
    prefix = f"{language}--"
    return {
        path_of(file.name.removeprefix(prefix)): file.read_text().replace("@name@", name)
        for file in sorted(FOLDER.iterdir())
        if file.name.startswith(prefix)
    }


def write(language, name, directory):
    for path, text in files(language, name).items():
        place = pathlib.Path(directory) / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


if __name__ == "__main__":
    write(*sys.argv[1:])
