"""The programs of others that the campaign runs: checked to be installable, and installed in the user's cache directory
exactly as the lock files here say. They are installed again only after a lock file changed."""

import hashlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "till" / "clients"
PYTHON_LOCK = HERE / "python" / "requirements.txt"
# It is published as source only, and built by the setuptools of the other file.
LOCALSTRIPE_LOCK = HERE / "python" / "localstripe.txt"
NODE_FILES = [HERE / "node" / name for name in (".npmrc", "package.json", "package-lock.json")]
PYTHON_AT_LEAST, NODE_AT_LEAST, NPM_AT_LEAST = (3, 11), (20, 19), (9,)


def check():
    """Ends the program with the command that installs what is missing."""
    if sys.version_info < PYTHON_AT_LEAST:
        sys.exit(f"test-clients: this is Python {platform.python_version()}; Python 3.11 or newer is needed")
    if not all(importlib.util.find_spec(module) for module in ("venv", "ensurepip")):
        sys.exit("test-clients: missing: python3-venv. Run: sudo apt-get install -y python3-venv")
    for program, least in (("node", NODE_AT_LEAST), ("npm", NPM_AT_LEAST)):
        found = version(program)
        if found < least:
            sys.exit(missing_node(program, found))


def version(program):
    """The version of a program as numbers; none when it is missing."""
    try:
        text = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ()
    return tuple(int(number) for number in re.findall(r"\d+", text)[:2])


def missing_node(program, found):
    state = f"{program} is {'.'.join(map(str, found))}" if found else f"{program} is missing"
    return (
        f"test-clients: {state}; Node.js 20.19 (or 22.12) or newer with npm 9 or newer is needed.\n"
        "Debian 13 and newer: sudo apt-get install -y nodejs npm\n"
        "Elsewhere: https://nodejs.org/en/download"
    )


def install():
    """The directories of the installed programs, in the order in which they are searched."""
    python = installed("python", [LOCALSTRIPE_LOCK, PYTHON_LOCK], platform.python_version(), install_python)
    node = installed("node", NODE_FILES, "", install_node)
    return {"python": python, "node": node}


def installed(name, locks, interpreter, install_into):
    """The directory of the cache that was filled by these lock files, filled anew when they changed."""
    directory = CACHE / name
    digest = hashlib.sha256(b"\0".join([interpreter.encode(), *(lock.read_bytes() for lock in locks)])).hexdigest()
    marker = directory / "installed-by"
    if not marker.is_file() or marker.read_text() != digest:
        print(f"test-clients: installing what {locks[-1].relative_to(HERE.parents[1])} names into {directory}", flush=True)
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        install_into(directory)
        marker.write_text(digest)
    return directory


def install_python(directory):
    subprocess.run([sys.executable, "-m", "venv", directory], check=True)
    pip = [directory / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
    subprocess.run([*pip, "--only-binary", ":all:", "--requirement", PYTHON_LOCK], check=True)
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--requirement", LOCALSTRIPE_LOCK], check=True)


def install_node(directory):
    for file in NODE_FILES:
        shutil.copy(file, directory)
    quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel", "error"]
    subprocess.run(["npm", "ci", "--ignore-scripts", *quiet], cwd=directory, check=True)
