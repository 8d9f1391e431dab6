"""Chart, compose file, systemd units, Dockerfile and package say the same."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
import yaml

from chart import ci, manifests
from places import ROOT, TOPICS
from test_agreement import BIN, default

COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
OURS = {name: service for name, service in COMPOSE["services"].items() if name != "kafka"}
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))
DOCKERFILE = (ROOT / "Dockerfile").read_text()
PACKAGE = (ROOT / "Package.swift").read_text()
PROGRAM = (ROOT / "Sources" / "Commands" / "millrace" / "Program.swift").read_text()
# Programs that are deployed as soon as the package has them.
LATER = {"millrace-consumption", "millrace-console"}
# A process that is a command of `millrace`.
BACKFILL = "millrace backfill --follow"
# Not for production: they sign and forge.
NOT_SHIPPED = {"millrace-demo"}
HADOLINT = pathlib.Path(sys.executable).with_name("hadolint")


def containers():
    """(process, container) of every process of the chart with everything on."""
    for document in manifests(ci("production")):
        if document["kind"] in ("Deployment", "StatefulSet"):
            yield document, document["spec"]["template"]["spec"]["containers"][0]


def unit(path):
    """The settings of a unit; of one that is given twice the last."""
    return dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line and line[0] not in "#[")


def environment(path):
    return dict(
        line.removeprefix("Environment=").split("=", 1)
        for line in path.read_text().splitlines()
        if line.startswith("Environment=")
    )


def shipped():
    """Names of the programs that the image has besides `millrace`."""
    return {f"millrace-{name}" for name in re.search(r"for name in (.+?); do", DOCKERFILE)[1].split()}


def test_the_image_has_every_program_of_the_package_under_its_name():
    products = set(re.findall(r'\.executable\(name: "(millrace-[\w-]+)"', PACKAGE)) - NOT_SHIPPED
    answered = set(re.findall(r'case "(millrace-[\w-]+)"', PROGRAM))
    assert products == answered == shipped()


def test_every_process_of_the_chart_is_a_program_of_the_image_or_of_a_later_one():
    commands = {container["command"][0] for _, container in containers()}
    assert commands - shipped() - {"millrace"} <= LATER
    assert shipped() <= commands


@pytest.mark.parametrize("name", sorted(shipped()))
def test_the_program_answers_to_its_names(name, tmp_path):
    link = tmp_path / name
    link.symlink_to(BIN / "millrace")
    single = subprocess.run([BIN / name, "--help"], capture_output=True, text=True)
    assert single.returncode == 0
    assert subprocess.run([link, "--help"], capture_output=True, text=True).stdout == single.stdout


def test_the_topics_are_where_every_deployment_looks():
    place = re.search(r"MILLRACE_TOPICS_DIRECTORY=(\S+)", DOCKERFILE)[1]
    assert f"COPY topics /out{place}" in DOCKERFILE
    assert {environment(path)["MILLRACE_TOPICS_DIRECTORY"] for path in UNITS} == {place}


def test_everybody_reads_the_configuration_from_one_place():
    chart = {
        variable["value"]
        for _, container in containers()
        for variable in container["env"]
        if variable["name"] == "MILLRACE_CONFIG"
    }
    compose = {service["environment"]["MILLRACE_CONFIG"] for service in OURS.values()}
    systemd = {environment(path)["MILLRACE_CONFIG"] for path in UNITS}
    assert chart == compose == systemd
    (place,) = chart
    for service in OURS.values():
        assert f"./deploy/millrace.yaml:{place}:ro" in service["volumes"]


def test_secrets_are_in_one_place():
    mounts = {
        mount["mountPath"]
        for _, container in containers()
        for mount in container["volumeMounts"]
        if mount["name"].startswith("secret")
    }
    assert all(path.startswith("/etc/millrace/secrets/") for path in mounts)
    assert all("./deploy/secrets:/etc/millrace/secrets:ro" in service["volumes"] for service in OURS.values())
    assert all("/etc/millrace/secrets" in path.read_text() for path in UNITS)


def test_ports_are_the_defaults():
    ports = {default("ingress.port"), default("admin.port")}
    assert set(re.search(r"^EXPOSE (.+)$", DOCKERFILE, re.MULTILINE)[1].split()) == ports
    assert {port.split(":")[-1] for port in OURS["ingress"]["ports"]} == ports
    ingress = next(
        container for document, container in containers() if document["metadata"]["name"].endswith("-ingress")
    )
    assert {str(port["containerPort"]) for port in ingress["ports"]} == ports


def test_everybody_gives_a_process_the_same_time_to_leave():
    grace = int(default("shutdown.grace").removesuffix("s"))
    assert {service["stop_grace_period"] for service in OURS.values()} == {f"{grace + 15}s"}
    assert {unit(path)["TimeoutStopSec"] for path in UNITS} == {str(grace + 15)}
    stateful = [
        one
        for one in manifests(ci("minimal") | {"workers": {"refunds": {"enabled": True}}})
        if one["kind"] == "StatefulSet"
    ]
    assert stateful[0]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == grace + 15


def test_nobody_runs_as_root_or_writes_to_the_root():
    assert re.search(r"^USER 65532:65532$", DOCKERFILE, re.MULTILINE)
    for service in OURS.values():
        assert service["user"] == "65532:65532"
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
    for path in UNITS:
        settings = unit(path)
        assert settings["User"] == "millrace"
        assert settings["ProtectSystem"] == "strict"
        assert settings["CapabilityBoundingSet"] == ""


def test_the_variables_of_the_compose_file_are_settings():
    page = (ROOT / "docs" / "configuration.md").read_text()
    for service in OURS.values():
        # Those of a program that is not here yet are on the page when it is.
        if service["command"][0] in LATER - shipped():
            continue
        for name in set(service["environment"]) - {"MILLRACE_CONFIG"}:
            assert f"`{name}`" in page, name


def test_compose_and_systemd_run_every_process_there_is():
    commands = {" ".join(service["command"]) for name, service in OURS.items() if name != "topics"}
    units = {unit(path)["ExecStart"].removeprefix("/usr/local/bin/") for path in UNITS}
    chart = {" ".join(container["command"]) for _, container in containers()}
    assert commands == units == chart
    assert shipped() <= commands <= shipped() | LATER | {BACKFILL}
    for path in UNITS:
        assert unit(path)["ExecStart"] in (f"/usr/local/bin/{path.stem}", f"/usr/local/bin/{BACKFILL}")


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("compose-spec", ["docker-compose.yml"]),
        ("github-workflows", [".github/workflows/ci.yml", ".github/workflows/publish.yml"]),
    ],
)
def test_the_files_are_what_their_programs_take(schema, files):
    arguments = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files]
    result = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stdout


def test_everybody_tries_with_the_same_kafka():
    image = COMPOSE["services"]["kafka"]["image"]
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    assert workflow["jobs"]["test"]["services"]["kafka"]["image"] == image


def test_the_programs_take_the_configuration_that_comes_with_it(tmp_path):
    result = subprocess.run(
        [BIN / "millrace", "config", "--config", ROOT / "deploy" / "millrace.yaml"],
        capture_output=True,
        text=True,
        env={},
    )
    assert result.returncode == 0, result.stderr


def workers():
    """Names of the workers that come with Millrace and are one each; those of `forward` have their receivers' names."""
    found = (
        re.search(r'static let name = "([a-z-]+)"', path.read_text())
        for path in (ROOT / "Sources").glob("*/*Worker.swift")
    )
    names = {one[1] for one in found if one}
    assert {f"millrace-{name}" for name in names} < shipped()
    return names


def test_the_configuration_that_comes_with_it_names_every_worker_so_that_its_topics_are_made():
    entries = yaml.safe_load((ROOT / "deploy" / "millrace.yaml").read_text())["workers"]
    assert {entry["name"] for entry in entries} == workers()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def is_ready(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def test_workers_start_with_the_configuration_that_comes_with_it(tmp_path):
    """On clusters inside of their processes. A worker whose topics nobody makes would end and be started for ever."""
    running = {}
    try:
        for name in sorted(workers()):
            port = free_port()
            variables = {
                "MILLRACE_CONFIG": ROOT / "deploy" / "millrace.yaml",
                "MILLRACE_KAFKA_BOOTSTRAP_SERVERS": "embedded",
                "MILLRACE_TOPICS_DIRECTORY": TOPICS,
                "MILLRACE_ADMIN_PORT": str(port),
            }
            with (tmp_path / name).open("w") as log:
                process = subprocess.Popen([BIN / f"millrace-{name}"], env=variables, stdout=log, stderr=log)
            running[name] = (process, port)
        end = time.monotonic() + 180
        for name, (process, port) in running.items():
            while not is_ready(port):
                said = (tmp_path / name).read_text()[-2000:]
                assert process.poll() is None and time.monotonic() < end, f"{name} does not become ready: {said}"
                time.sleep(0.1)
    finally:
        for process, _ in running.values():
            process.terminate()
        statuses = {name: process.wait(timeout=60) for name, (process, _) in running.items()}
    assert set(statuses.values()) == {0}


def shown(heading):
    """The first block of commands under a heading of docs/deploying.md."""
    section = (ROOT / "docs" / "deploying.md").read_text().split(f"\n## {heading}\n")[1]
    return re.search(r"```sh\n(.*?)```", section, re.DOTALL)[1]


def test_the_commands_for_systemd_install_all_that_the_units_name(tmp_path):
    """Run below a root of its own; what would change this machine is only written down."""
    for folder in ("usr/local/bin", "etc/systemd/system", "bin"):
        (tmp_path / folder).mkdir(parents=True)
    called = tmp_path / "called"
    for name in ("systemctl", "systemd-sysusers"):
        (tmp_path / "bin" / name).write_text(f'#!/bin/sh\necho {name} "$@" >>{called}\n')
        (tmp_path / "bin" / name).chmod(0o755)
    script = shown("systemd").replace("install .build/release/millrace ", f"ln -s {BIN}/millrace ")
    assert "/release/" not in script
    script = script.replace("--group millrace", f"--group {os.getgid()}")
    script = re.sub(r"(?<=[ =])/(?=usr/|etc/)", f"{tmp_path}/", script)
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    subprocess.run(["bash", "-euo", "pipefail", "-c", script], check=True, cwd=ROOT, env=os.environ | {"PATH": path})
    installed = {one.name: one for one in (tmp_path / "etc/systemd/system").iterdir()}
    assert set(installed) == {one.name for one in UNITS}
    for one in installed.values():
        program = tmp_path / unit(one)["ExecStart"].split()[0].lstrip("/")
        result = subprocess.run([program, "--help"], capture_output=True, text=True)
        assert result.returncode == 0, f"{one.name}: {result.stderr}"
        assert (tmp_path / environment(one)["MILLRACE_CONFIG"].lstrip("/")).is_file()
        assert list((tmp_path / environment(one)["MILLRACE_TOPICS_DIRECTORY"].lstrip("/")).glob("*.yaml"))
    assert {one.name for one in (tmp_path / "usr/local/bin").iterdir()} == shipped() | {"millrace"}
    assert (tmp_path / "etc/millrace/secrets").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "usr/lib/sysusers.d/millrace.conf").is_file()
    # Units that it enables are there; so are those of the line about admin ports.
    enabled = re.findall(r"enable --now (.+)", called.read_text())[0].split()
    assert {f"{name}.service" for name in enabled} <= set(installed)


def test_the_container_asks_the_program_itself_how_it_is():
    assert re.search(r'^HEALTHCHECK .+ CMD \["/usr/local/bin/millrace", "health"\]$', DOCKERFILE, re.MULTILINE)
    result = subprocess.run(
        [BIN / "millrace", "health"], capture_output=True, text=True, env={"MILLRACE_ADMIN_PORT": "1"}
    )
    assert result.returncode == 1
    assert "http://127.0.0.1:1/livez" in result.stderr


def test_both_bases_are_arguments():
    arguments = re.findall(r"^ARG (\w+)=", DOCKERFILE, re.MULTILINE)
    bases = re.findall(r"^FROM \$\{(\w+)\}", DOCKERFILE, re.MULTILINE)
    assert bases == arguments == ["BUILD_IMAGE", "RUN_IMAGE"]
    assert len(re.findall("^FROM", DOCKERFILE, re.MULTILINE)) == 2


def test_hadolint_has_nothing_to_say():
    for path in (ROOT / "Dockerfile", ROOT / "examples" / "winback" / "Dockerfile"):
        # Packages of Debian's are pinned by its release.
        arguments = ["--ignore", "DL3008", "--failure-threshold", "info", path]
        result = subprocess.run([HADOLINT, *arguments], capture_output=True, text=True)
        assert result.returncode == 0, result.stdout


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze")
@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_systemd_takes_the_unit_and_finds_it_safe(path, tmp_path):
    # The program is not where it will be.
    copy = tmp_path / path.name
    copy.write_text(
        path.read_text()
        .replace(unit(path)["ExecStart"], "/bin/true")
        .replace("User=millrace\nGroup=millrace", "User=daemon")
    )
    result = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    result = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=15", copy], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout[-300:]
