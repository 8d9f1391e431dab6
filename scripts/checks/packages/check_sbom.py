"""Checks an SBOM: check_sbom.py FILE CHECKOUTS PACKAGE-FILE LIBRARY...

It matches CycloneDX's schema, and contains every checked-out Swift package, every direct dependency of Package.swift and
every given Debian library, each with a version.
"""
import json
import pathlib
import re
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

path, checkouts, manifest, *libraries = sys.argv[1:]
text = pathlib.Path(path).read_text()
error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)
if error:
    raise SystemExit(f"{path} does not match the schema of CycloneDX 1.5: {str(error)[:2000]}")

components = json.loads(text)["components"]
swift = {one["name"] for one in components if one["purl"].startswith("pkg:swift/")}
debian = {one["name"]: one["version"] for one in components if one["purl"].startswith("pkg:deb/")}
expected = {one.name.lower() for one in pathlib.Path(checkouts).iterdir()}
urls = re.findall(r'\.package\(\s*url: "([^"]+)"', pathlib.Path(manifest).read_text())
expected |= {url.rsplit("/", 1)[1].removesuffix(".git").lower() for url in urls}
if not urls or swift != expected | {"swift"}:
    raise SystemExit(f"the Swift packages of the SBOM and of the build differ: {sorted(swift ^ (expected | {'swift'}))}")
if missing := sorted(set(libraries) - set(debian)):
    raise SystemExit(f"the SBOM lacks the libraries {missing}")
if unversioned := [one["name"] for one in components if not one["version"]]:
    raise SystemExit(f"no version: {unversioned}")
if unlicensed := [one["name"] for one in components if one["purl"].startswith("pkg:swift/") and not one["licenses"]]:
    raise SystemExit(f"no license: {unlicensed}")
print(f"{len(swift)} Swift packages, {len(debian)} Debian libraries")
