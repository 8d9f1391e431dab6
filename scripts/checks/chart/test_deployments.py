"""The chart, the compose file, the systemd units, the Dockerfile and the package agree."""

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
from places import ROOT
from test_agreement import BIN, default

COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
OURS = {name: service for name, service in COMPOSE["services"].items() if name != "kafka"}
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))
DOCKERFILE = (ROOT / "Dockerfile").read_text()
PACKAGE = (ROOT / "Package.swift").read_text()
PROGRAM = (ROOT / "Sources" / "Commands" / "millrace" / "Program.swift").read_text()
# Programs that the chart may use before the image has them.
LATER = {"millrace-consumption", "millrace-console"}
# A process that runs a command of `millrace`.
BACKFILL = "millrace backfill --follow"
HADOLINT = pathlib.Path(sys.executable).with_name("hadolint")


def containers():
    """(workload, container) of every process in ci/production-values.yaml."""
    for document in manifests(ci("production")):
        if document["kind"] in ("Deployment", "StatefulSet"):
            yield document, document["spec"]["template"]["spec"]["containers"][0]


def unit(path):
    """The settings of a unit. For repeated settings, the last value."""
    return dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line and line[0] not in "#[")


def environment(path):
    return dict(
        line.removeprefix("Environment=").split("=", 1)
        for line in path.read_text().splitlines()
        if line.startswith("Environment=")
    )


def shipped():
    """The names of the programs in the image besides `millrace`."""
    return {f"millrace-{name}" for name in re.search(r"for name in (.+?); do", DOCKERFILE)[1].split()} | OWN


# Programs of their own: no other process links libpq.
OWN = {"millrace-postgres"}


def test_the_image_has_every_program_of_the_package():
    products = set(re.findall(r'\.executable\(name: "(millrace-[\w-]+)"', PACKAGE))
    answered = set(re.findall(r'case "(millrace-[\w-]+)"', PROGRAM))
    assert products == answered | OWN == shipped()
    assert f"for program in millrace {' '.join(OWN)}; do" in DOCKERFILE


def test_every_process_of_the_chart_is_a_program_of_the_image():
    commands = {container["command"][0] for _, container in containers()}
    assert commands - shipped() - {"millrace"} <= LATER
    assert shipped() <= commands


@pytest.mark.parametrize("name", sorted(shipped() - OWN))
def test_the_program_answers_to_its_names(name, tmp_path):
    link = tmp_path / name
    link.symlink_to(BIN / "millrace")
    single = subprocess.run([BIN / name, "--help"], capture_output=True, text=True)
    assert single.returncode == 0
    assert subprocess.run([link, "--help"], capture_output=True, text=True).stdout == single.stdout


def test_every_deployment_has_the_same_configuration_path():
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


# The folder of secrets in the compose file and the units for each grant of the chart. The pages of the console need no secret.
FOLDERS = {
    "alerts": "alerts",
    "api": "api",
    "provider": "provider",
    "receivers": "receivers",
    "handlers": "handlers",
    "registry": "registry",
    "postgres": "postgres",
    "privacy": "privacy",
    "sharedSecrets": "shared-secrets",
    "tls": "tls",
    "console": None,
}


def granted():
    """The folders of secrets that each process needs, by command: kafka, and those of its grants."""
    template = (ROOT / "helm" / "millrace" / "templates" / "_processes.tpl").read_text()
    found = {}
    for process in re.findall(r'\(dict "name" "[a-z-]+" "place".+?"settings"', template, re.DOTALL):
        grants = re.findall(r'"(\w+)"', re.search(r'"grants" \(list([^)]*)\)', process)[1])
        command = re.search(r'"command" \(list ([^)]+)\)', process)
        # The console's command depends on values.
        program = " ".join(re.findall(r'"([^"]+)"', command[1])) if command else "millrace-console"
        found[program] = {"kafka"} | {FOLDERS[one] for one in grants if FOLDERS[one]}
    assert set(found) == shipped() | {BACKFILL}
    return found


def mounted(service):
    """The folders of secrets that a compose service mounts."""
    return {
        match[1]
        for volume in service["volumes"]
        if (match := re.fullmatch(r"\./deploy/secrets/([a-z-]+):/etc/millrace/secrets/\1:ro", volume))
    }


def test_every_deployment_has_the_same_secrets_path():
    mounts = {
        mount["mountPath"]
        for _, container in containers()
        for mount in container["volumeMounts"]
        if mount["name"].startswith("secret")
    }
    assert all(path.startswith("/etc/millrace/secrets/") for path in mounts)
    for service in OURS.values():
        assert len(mounted(service)) == len([one for one in service["volumes"] if "secrets" in one])


def test_compose_gives_each_process_only_the_secrets_it_needs():
    assert mounted(OURS["topics"]) == {"kafka"}
    assert {
        " ".join(service["command"]): mounted(service) for name, service in OURS.items() if name != "topics"
    } == granted()


def test_systemd_gives_each_process_only_the_secrets_it_needs():
    seen = {}
    for path in UNITS:
        settings = unit(path)
        # The unit hides all other folders.
        assert settings["TemporaryFileSystem"] == "/etc/millrace/secrets:ro"
        paths = settings["BindReadOnlyPaths"].split()
        assert all(one.startswith("-/etc/millrace/secrets/") for one in paths)
        program = settings["ExecStart"].removeprefix("/usr/local/bin/")
        seen[program] = {one.removeprefix("-/etc/millrace/secrets/") for one in paths}
        assert "BindPaths" not in settings
    assert seen == granted()


def test_each_systemd_user_can_read_only_the_secrets_of_its_process():
    """The group of a folder is millrace- and its name. The packages' check tests the owners of the folders."""
    lines = [line.split() for line in (ROOT / "deploy/systemd/millrace.sysusers.conf").read_text().splitlines()]
    users = [line[1] for line in lines if line and line[0] == "u"]
    groups = [line[1] for line in lines if line and line[0] == "g"]
    members = {user: {user} for user in users}
    for line in lines:
        if line and line[0] == "m":
            members[line[1]].add(line[2])
    assert sorted(users) == [path.stem for path in UNITS]
    for path in UNITS:
        program = unit(path)["ExecStart"].removeprefix("/usr/local/bin/")
        assert members[path.stem] == {path.stem, "millrace"} | {f"millrace-{name}" for name in granted()[program]}
    assert set(groups) | set(users) == set.union(*members.values())


def test_ports_are_the_defaults():
    ports = {default("ingress.port"), default("admin.port")}
    assert set(re.search(r"^EXPOSE (.+)$", DOCKERFILE, re.MULTILINE)[1].split()) == ports
    assert {port.split(":")[-1] for port in OURS["ingress"]["ports"]} == ports
    ingress = next(
        container for document, container in containers() if document["metadata"]["name"].endswith("-ingress")
    )
    assert {str(port["containerPort"]) for port in ingress["ports"]} == ports


def test_every_deployment_gives_a_process_the_same_time_to_stop():
    grace = int(default("shutdown.grace").removesuffix("s"))
    assert {service["stop_grace_period"] for service in OURS.values()} == {f"{grace + 15}s"}
    assert {unit(path)["TimeoutStopSec"] for path in UNITS} == {str(grace + 15)}
    stateful = [
        one
        for one in manifests(ci("minimal") | {"workers": {"refunds": {"enabled": True}}})
        if one["kind"] == "StatefulSet"
    ]
    assert stateful[0]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == grace + 15


def test_no_process_runs_as_root_or_writes_to_the_root_file_system():
    assert re.search(r"^USER 65532:65532$", DOCKERFILE, re.MULTILINE)
    for service in OURS.values():
        assert service["user"] == "65532:65532"
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
    for path in UNITS:
        settings = unit(path)
        # The group is the user's.
        assert settings["User"] == path.stem
        assert "Group" not in settings
        assert settings["ProtectSystem"] == "strict"
        assert settings["CapabilityBoundingSet"] == ""


def test_the_variables_of_the_compose_file_are_settings():
    page = (ROOT / "docs" / "configuration.md").read_text()
    for service in OURS.values():
        # The settings of later programs are not on the page yet.
        if service["command"][0] in LATER - shipped():
            continue
        for name in set(service["environment"]) - {"MILLRACE_CONFIG"}:
            assert f"`{name}`" in page, name


def test_compose_and_systemd_run_every_process():
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
        ("github-workflows", [f".github/workflows/{name}.yml" for name in ("ci", "publish", "release")]),
    ],
)
def test_files_match_their_schemas(schema, files):
    arguments = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files]
    result = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stdout


def test_compose_and_ci_use_the_same_kafka():
    image = COMPOSE["services"]["kafka"]["image"]
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    name, version = image.split(":")
    assert f'docker create "{name}:${{{{ matrix.kafka }}}}"' in workflow["jobs"]["kafka"]["steps"][0]["run"]
    versions = [job["strategy"]["matrix"]["kafka"] for job in workflow["jobs"].values()]
    assert version in versions[0] and all(each == versions[0] for each in versions)


def test_the_programs_accept_the_shipped_configuration(tmp_path):
    result = subprocess.run(
        [BIN / "millrace", "config", "--config", ROOT / "deploy" / "millrace.yaml"],
        capture_output=True,
        text=True,
        env={},
    )
    assert result.returncode == 0, result.stderr


def workers():
    """The names of the built-in workers, without those that forward to a receiver."""
    found = (
        re.search(r'static let name = "([a-z-]+)"', path.read_text())
        for path in (ROOT / "Sources").glob("*/*Worker.swift")
    )
    names = {one[1] for one in found if one}
    assert {f"millrace-{name}" for name in names} < shipped()
    # The type of all HTTP workers, which have the names of their entries.
    return names - {"worker"}


def test_the_shipped_configuration_lists_every_worker():
    entries = yaml.safe_load((ROOT / "deploy" / "millrace.yaml").read_text())["workers"]
    assert set(entries) == workers()


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


def everything(secrets):
    """A configuration that refers to a secret in every folder."""
    configuration = yaml.safe_load((ROOT / "deploy" / "millrace.yaml").read_text())
    configuration["kafka"]["propertyFiles"] = {"sasl.username": f"{secrets}/kafka/username"}
    configuration["apps"][0]["sharedSecretFiles"] = [f"{secrets}/shared-secrets/v1"]
    configuration["apps"][0]["api"] = {
        "issuerId": "57246542-96fe-1a63-e053-0824d011072a",
        "keyId": "2X9R4HXF34",
        "privateKeyFile": f"{secrets}/api/apple.p8",
    }
    configuration["workers"]["consumption"] = {
        "settings": {
            "providers": ["http"],
            "http": {"url": "http://127.0.0.1:1/", "secretFiles": [f"{secrets}/provider/key"]},
        }
    }
    configuration["ingress"] = {
        "tls": {"certificate": f"{secrets}/tls/tls.crt", "key": f"{secrets}/tls/tls.key"},
        "host": "127.0.0.1",
        "port": free_port(),
    }
    configuration["workers"]["forward-old"] = {
        "settings": {
            "url": "http://127.0.0.1:1/",
            "restorePassword": True,
            "headerFiles": {"Authorization": f"{secrets}/receivers/token"},
        }
    }
    configuration["workers"]["winback"] = {
        "families": ["subscriptions"],
        "handler": {"url": "http://127.0.0.1:1/", "secretFile": f"{secrets}/handlers/winback"},
    }
    configuration["webhooks"] = {"crm": {"url": "http://127.0.0.1:1/", "secretFile": f"{secrets}/handlers/winback"}}
    return configuration


def write_secrets(folder, names):
    """Writes sample secrets into these folders."""
    for name in names:
        (folder / name).mkdir(parents=True)
    if "kafka" in names:
        (folder / "kafka" / "username").write_text("millrace")
    if "shared-secrets" in names:
        (folder / "shared-secrets" / "v1").write_text("0123456789abcdef0123456789abcdef")
    if "provider" in names:
        (folder / "provider" / "key").write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    if "handlers" in names:
        (folder / "handlers" / "winback").write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    if "receivers" in names:
        (folder / "receivers" / "token").write_text("Bearer token")
    if "api" in names:
        arguments = ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        subprocess.run([*arguments, "-out", folder / "api" / "apple.p8"], check=True, capture_output=True)
    if "tls" in names:
        arguments = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
        files = ["-keyout", folder / "tls" / "tls.key", "-out", folder / "tls" / "tls.crt"]
        subprocess.run([*arguments, *files], check=True, capture_output=True)


def test_each_process_starts_with_only_the_secrets_it_needs(tmp_path):
    """The configuration names all secrets, but only the folders that the process needs exist."""
    # Only processes that can start with an embedded cluster.
    ours = {"millrace-ingress", "millrace-refunds", "millrace-renewal-extensions", "millrace-consumption"}
    ours |= {"millrace-forward", "millrace-subscriptions", "millrace-decoder", "millrace-worker"}
    for program in sorted(ours):
        place = tmp_path / program
        write_secrets(place / "secrets", granted()[program])
        (place / "millrace.yaml").write_text(yaml.safe_dump(everything(place / "secrets")))
        port = free_port()
        variables = {
            "MILLRACE_CONFIG": place / "millrace.yaml",
            "MILLRACE_KAFKA_BOOTSTRAP_SERVERS": "embedded",
            "MILLRACE_ADMIN_PORT": str(port),
        }
        with (place / "log").open("w") as log:
            process = subprocess.Popen([BIN / program], env=variables, stdout=log, stderr=log)
        try:
            end = time.monotonic() + 120
            while not is_ready(port):
                said = (place / "log").read_text()[-2000:]
                assert process.poll() is None and time.monotonic() < end, f"{program} did not become ready: {said}"
                time.sleep(0.1)
        finally:
            process.terminate()
            process.wait(timeout=60)


def test_workers_start_with_the_shipped_configuration(tmp_path):
    """On embedded clusters. A worker without its topics would exit and restart for ever."""
    running = {}
    try:
        for name in sorted(workers()):
            port = free_port()
            variables = {
                "MILLRACE_CONFIG": ROOT / "deploy" / "millrace.yaml",
                "MILLRACE_KAFKA_BOOTSTRAP_SERVERS": "embedded",
                "MILLRACE_ADMIN_PORT": str(port),
            }
            with (tmp_path / name).open("w") as log:
                process = subprocess.Popen([BIN / f"millrace-{name}"], env=variables, stdout=log, stderr=log)
            running[name] = (process, port)
        end = time.monotonic() + 180
        for name, (process, port) in running.items():
            while not is_ready(port):
                said = (tmp_path / name).read_text()[-2000:]
                assert process.poll() is None and time.monotonic() < end, f"{name} did not become ready: {said}"
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


def test_the_systemd_commands_install_everything_that_the_units_need(tmp_path):
    """Runs them below a temporary root, with stubs for commands that would change this machine."""
    for folder in ("usr/local/bin", "etc/systemd/system", "bin"):
        (tmp_path / folder).mkdir(parents=True)
    called = tmp_path / "called"
    for name in ("systemctl", "systemd-sysusers"):
        (tmp_path / "bin" / name).write_text(f'#!/bin/sh\necho {name} "$@" >>{called}\n')
        (tmp_path / "bin" / name).chmod(0o755)
    script = re.sub(r"install \.build/release/(\S+) ", rf"ln -s {BIN}/\1 ", shown("systemd"))
    assert "/release/" not in script
    script = re.sub(r"--group millrace\S*", f"--group {os.getgid()}", script)
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
    assert {one.name for one in (tmp_path / "usr/local/bin").iterdir()} == shipped() | {"millrace"}
    folders = [tmp_path / "etc/millrace/secrets", *(tmp_path / "etc/millrace/secrets").iterdir()]
    assert {one.stat().st_mode & 0o777 for one in folders} == {0o750}
    assert {one.name for one in folders[1:]} == set.union(*granted().values())
    assert (tmp_path / "etc/millrace/config/millrace.yaml").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "usr/lib/sysusers.d/millrace.conf").is_file()
    # The enabled units are installed.
    enabled = re.findall(r"enable --now (.+)", called.read_text())[0].split()
    assert {f"{name}.service" for name in enabled} <= set(installed)


def test_the_container_health_check_uses_the_program():
    assert re.search(r'^HEALTHCHECK .+ CMD \["/usr/local/bin/millrace", "health"\]$', DOCKERFILE, re.MULTILINE)
    result = subprocess.run(
        [BIN / "millrace", "health"], capture_output=True, text=True, env={"MILLRACE_ADMIN_PORT": "1"}
    )
    assert result.returncode == 1
    assert "http://127.0.0.1:1/livez" in result.stderr


def test_both_base_images_are_arguments():
    arguments = re.findall(r"^ARG (\w+)=", DOCKERFILE, re.MULTILINE)
    bases = re.findall(r"^FROM \$\{(\w+)\}", DOCKERFILE, re.MULTILINE)
    assert bases == arguments == ["BUILD_IMAGE", "RUN_IMAGE"]
    assert len(re.findall("^FROM", DOCKERFILE, re.MULTILINE)) == 2


def test_hadolint_reports_nothing():
    for path in (ROOT / "Dockerfile", ROOT / "examples" / "winback" / "Dockerfile"):
        # Debian's release pins the packages.
        arguments = ["--ignore", "DL3008", "--failure-threshold", "info", path]
        result = subprocess.run([HADOLINT, *arguments], capture_output=True, text=True)
        assert result.returncode == 0, result.stdout


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze")
@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_systemd_accepts_the_unit_and_rates_it_safe(path, tmp_path):
    # The program is not installed at its path.
    copy = tmp_path / path.name
    copy.write_text(
        path.read_text().replace(unit(path)["ExecStart"], "/bin/true").replace(f"User={path.stem}", "User=daemon")
    )
    result = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    result = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=15", copy], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout[-300:]


def test_only_workers_are_static_members():
    workers = {"millrace-subscriptions", "millrace-refunds", "millrace-renewal-extensions", "millrace-consumption"}
    workers |= {"millrace-decoder", "millrace-forward", "millrace-worker"}
    services = {
        service["command"][0]: service["environment"].get("MILLRACE_KAFKA_INSTANCE") for service in OURS.values()
    }
    assert {command for command, name in services.items() if name} == workers
    units = {path.stem: environment(path).get("MILLRACE_KAFKA_INSTANCE") for path in UNITS}
    assert {name for name, instance in units.items() if instance} == workers
    # The name contains the host, because a worker may run on several.
    assert set(filter(None, units.values())) == {"%p.%H"}
