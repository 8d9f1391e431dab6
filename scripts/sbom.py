"""Prints the software bill of materials of a release as CycloneDX 1.5 JSON (https://cyclonedx.org/docs/1.5/json/).

It lists the Swift packages, the Swift runtime and Debian's libraries. The same input gives the same bytes.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import uuid

# The first words of the licenses that occur.
LICENSES = {"Apache-2.0": "Apache License", "MIT": "Permission is hereby granted, free of charge"}


def licenses(checkout):
    """The license of a package by the text of its file; empty if it is not known."""
    text = "".join(path.read_text(errors="replace")[:2000] for path in sorted(checkout.glob("LICENSE*")))
    return [{"license": {"id": name}} for name, words in LICENSES.items() if words in text][:1]


def swift_package(dependency, checkouts):
    reference, state = dependency["packageRef"], dependency["state"]["checkoutState"]
    url = re.sub(r"\.git$", "", reference["location"])
    version = state.get("version", state["revision"])
    purl = f"pkg:swift/{url.removeprefix('https://')}@{version}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": reference["identity"],
        "version": version,
        "licenses": licenses(checkouts / dependency["subpath"]),
        "purl": purl,
        "externalReferences": [{"type": "vcs", "url": url, "comment": state["revision"]}],
    }


def debian_library(line, system):
    name, version, architecture = line.split()
    purl = f"pkg:deb/{system['ID']}/{name}@{version}?arch={architecture}&distro={system['ID']}-{system['VERSION_ID']}"
    purl = purl.replace("+", "%2B")
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def swift_runtime(version):
    purl = f"pkg:swift/github.com/swiftlang/swift@{version}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": "swift",
        "version": version,
        "description": "Swift's runtime, standard library and Foundation, of the toolchain",
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "purl": purl,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", required=True)
    parser.add_argument("--state", type=pathlib.Path, required=True, help="SwiftPM's workspace-state.json")
    parser.add_argument("--checkouts", type=pathlib.Path, required=True)
    parser.add_argument("--libraries", type=pathlib.Path, required=True, help="lines of name, version, architecture")
    parser.add_argument("--swift", required=True, help="the version of the toolchain")
    arguments = parser.parse_args()

    system = dict(
        line.replace('"', "").split("=", 1)
        for line in pathlib.Path("/etc/os-release").read_text().splitlines()
        if "=" in line
    )
    dependencies = json.loads(arguments.state.read_text())["object"]["dependencies"]
    components = [swift_package(one, arguments.checkouts) for one in dependencies]
    components += [debian_library(one, system) for one in arguments.libraries.read_text().splitlines()]
    components.append(swift_runtime(arguments.swift))
    components.sort(key=lambda one: one["bom-ref"])
    purl = f"pkg:github/millrace/millrace@v{arguments.version}"
    time = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time.isoformat(),
            "component": {
                "type": "application",
                "bom-ref": purl,
                "name": "millrace",
                "version": arguments.version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "purl": purl,
            },
        },
        "components": components,
        "dependencies": [{"ref": purl, "dependsOn": [one["bom-ref"] for one in components]}],
    }
    bill["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bill))}"
    print(json.dumps(bill, indent=2))


main()
