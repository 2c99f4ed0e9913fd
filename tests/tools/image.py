"""Builds the images of the Dockerfile, and runs them: ``make image``.

Where a builder is there (docker, podman or buildah with a daemon that answers), it builds. Elsewhere each
step is run in an empty Debian made by debootstrap, as root, so that a package which the image lacks is
found all the same; Debian's own Python then stands in for that of the base image.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.tools.dockerfile import Instruction, Stage, lineage, read_stages

ROOT = Path(__file__).parents[2]
TARGETS = ("serve", "verify")
BUILDERS = ("docker", "podman")
DEBIAN = "bookworm"
DEBIAN_PYTHON = "3.11"
OF_DEBIAN_PYTHON = ("async-timeout",)
"""Packages that Debian's Python 3.11.2 needs and a newer 3.11 does not, so that pip would not fetch them."""
PATIENCE = 120
PORT = 18_080
VERIFY = ("verify", "--quiet", "--cases", "0", "--rules", "qr-default-size,profile-unknown-404")


def main() -> None:
    """Builds, runs and says how.

    Raises:
        CalledProcessError: A step of the Dockerfile fails, or what it built does not run.
    """
    builder = _builder()
    if builder is not None:
        _with_builder(builder)
        sys.stdout.write(f"{builder} built and ran {', '.join(TARGETS)}.\n")
        return
    if shutil.which("debootstrap") is None or os.geteuid() != 0:
        sys.exit(
            "No builder responds; to run the steps without one, be root and install debootstrap."
        )
    with tempfile.TemporaryDirectory(prefix="understudy-image-") as place:
        _without_builder(Path(place))
    sys.stdout.write(
        f"No builder responds: the steps of {', '.join(TARGETS)} were run in an empty Debian {DEBIAN}"
        f" with Python {DEBIAN_PYTHON}, and what they made was started there.\n"
    )


def _builder() -> str | None:
    """Returns the name of a builder that responds; docker may lack its daemon."""
    for name in filter(shutil.which, BUILDERS):
        if subprocess.run([name, "info"], check=False, capture_output=True).returncode == 0:
            return name
    return None


def _with_builder(builder: str) -> None:
    for target in TARGETS:
        tag = f"understudy:{target}"
        _run([builder, "build", "--tag", tag, "--target", target, str(ROOT)])
        sbom = [builder, "run", "--rm", "--entrypoint", "cat", tag, "/opt/understudy/sbom.json"]
        _expect_sbom(subprocess.run(sbom, capture_output=True, check=True).stdout)
    _run([builder, "run", "--rm", "understudy:verify", *VERIFY])
    started = [builder, "run", "--detach", "--rm", "understudy:serve"]
    container = subprocess.run(started, capture_output=True, text=True, check=True).stdout.strip()
    try:
        check = read_stages(ROOT / "Dockerfile")["serve"].texts("HEALTHCHECK")[0]
        _wait_for([builder, "exec", container, *_health_check(check)])
    finally:
        _run([builder, "kill", container])


def _without_builder(place: Path) -> None:
    stages = read_stages(ROOT / "Dockerfile")
    base, wheels = place / "base", place / "wheels"
    packages = "--include=python3,python3-venv,ca-certificates"
    _run(["debootstrap", "--variant=minbase", packages, DEBIAN, str(base)])
    (base / "usr" / "local" / "bin" / "python").symlink_to("/usr/bin/python3")
    _download(wheels, stages)
    for target in TARGETS:
        system = _Chroot(place, base, wheels, stages).build(target)
        _expect_sbom((system.root / "opt" / "understudy" / "sbom.json").read_bytes())
        system.start(target)


def _download(wheels: Path, stages: dict[str, Stage]) -> None:
    """Fetches the packages that the steps install: the empty system has no network of its own."""
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    tools = [
        word
        for stage in stages.values()
        for text in stage.texts("RUN")
        for word in text.split()
        if "==" in word
    ]
    ours = [*constraints, f"{ROOT}[all]", *OF_DEBIAN_PYTHON]
    for wanted in (ours, ["hatchling"], tools):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(wheels)]
        _run([*pip, *wanted])


class _Chroot:
    """An empty system in which the steps of a stage are run."""

    def __init__(self, place: Path, base: Path, wheels: Path, stages: dict[str, Stage]) -> None:
        self._place, self._base, self._wheels, self._stages = place, base, wheels, stages
        self.root = base
        self._environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": "/root",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": "/wheels",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        self._directory = "/"
        self._user = "0"

    def build(self, target: str) -> "_Chroot":
        """Runs every step of a stage and of those that it starts from."""
        self.root = self._place / f"{target}-root"
        _run(["cp", "-al", str(self._base), str(self.root)])
        if not (self.root / "wheels").exists():
            shutil.copytree(self._wheels, self.root / "wheels", copy_function=os.link)
        for stage in lineage(self._stages, target):
            for instruction in stage.instructions:
                self._step(instruction)
        return self

    def _step(self, instruction: Instruction) -> None:
        match instruction.name:
            case "RUN":
                self.run(["sh", "-c", instruction.text], user="0")
            case "COPY":
                self._copy(instruction.words)
            case "ENV":
                self._environment |= dict(word.split("=", 1) for word in instruction.words)
            case "WORKDIR":
                self._directory = instruction.text
                (self.root / instruction.text.lstrip("/")).mkdir(parents=True, exist_ok=True)
            case "USER":
                self._user = instruction.text
            case _:
                pass  # EXPOSE, HEALTHCHECK, ENTRYPOINT and CMD are read where the stage is started

    def _copy(self, words: list[str]) -> None:
        *sources, target = (word for word in words if not word.startswith("--"))
        origin = [word.partition("=")[2] for word in words if word.startswith("--from=")]
        if origin:
            built = _Chroot(self._place, self._base, self._wheels, self._stages).build(origin[0])
            tree = built.root / sources[0].lstrip("/")
            _run(["cp", "-a", str(tree), str(self.root / target.lstrip("/"))])
            return
        for source in sources:
            path = ROOT / source
            beside = self.root / self._directory.lstrip("/") / target
            if path.is_dir():
                shutil.copytree(path, beside, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(path, beside)

    def run(self, command: Sequence[str], user: str | None = None) -> None:
        """Runs a command in the system, as the image's user unless another is named."""
        _run(self.command(command, user))

    def command(self, command: Sequence[str], user: str | None = None) -> list[str]:
        """Returns the command line that runs a command in the system."""
        settings = [f"{name}={value}" for name, value in self._environment.items()]
        who = user or self._user
        enter = ["chroot", f"--userspec={who}:{who}", str(self.root)]
        move = ["sh", "-c", f'cd {self._directory} && exec "$@"', "sh"]
        return [*enter, "env", "-i", *settings, *move, *command]

    def start(self, target: str) -> None:
        """Starts what the stage is for, on a free port, and looks whether it is well."""
        program = self._stages[target].texts("ENTRYPOINT")[0]
        words = Instruction("ENTRYPOINT", program).words
        if target == "verify":
            self.run([*words, *VERIFY])
            return
        ports = ["--host", "127.0.0.1", "--port", str(PORT), "--auth-port", "0"]
        health = _health_check(self._stages[target].texts("HEALTHCHECK")[0])
        check = [word.replace(":8080", f":{PORT}") for word in health]
        mock = subprocess.Popen(self.command([*words, "serve", *ports]))
        try:
            _wait_for(self.command(check))
        finally:
            mock.terminate()
            mock.wait(PATIENCE)


def _health_check(text: str) -> list[str]:
    return Instruction("CMD", text.partition("CMD ")[2]).words


def _wait_for(command: Sequence[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while subprocess.run(command, capture_output=True, check=False).returncode:
        if time.monotonic() > deadline:
            sys.exit(f"The mock in the image is not well: {' '.join(command)}")
        time.sleep(0.5)  # noqa: TID251 - waits for another process


def _expect_sbom(content: bytes) -> None:
    if b'"bomFormat": "CycloneDX"' not in content or b'"name": "connexion"' not in content:
        sys.exit("The software bill of materials lacks what is installed.")


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
