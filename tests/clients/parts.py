"""The parts of the campaign. Each is a function whose doc comment is its line in the report."""

import json
import os
import shlex
import shutil
import subprocess
import urllib.request
from pathlib import Path

import till

HERE = Path(__file__).resolve().parent
PYTHON, NODE = HERE / "python", HERE / "node"
STRIPE = HERE.parent / "fakes" / "stripe"
LISTENERS = ("public", "admin")
COMMAND_SECONDS_MAX = 1200
SESSIONS = 100


class Failed(Exception):
    """A part failed; its log says how."""


class Part:
    """What a part works with: a running server, an empty directory, installed programs, an open log."""

    def __init__(self, server, directory, installed, seed, log):
        self.server, self.directory, self.seed, self.log = server, directory, seed, log
        self.node_modules = installed["node"] / "node_modules"
        bins = [installed["python"] / "bin", self.node_modules / ".bin"]
        self.environment = {
            "PATH": os.pathsep.join([*map(str, bins), os.environ["PATH"]]),
            "HOME": str(directory),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NO_COLOR": "1",
            **self.addresses(),
        }

    def addresses(self):
        """What a client has to know of the server, by the names under which the clients here read it."""
        shop = self.server.shops[0]
        return {
            "TILL_PUBLIC": f"http://{self.server.public}",
            "TILL_ADMIN": f"http://{self.server.admin}",
            "TILL_ADMIN_TOKEN": till.ADMIN_TOKEN,
            "TILL_API_KEY": shop["key"],
            "TILL_MERCHANT": shop["merchant_id"],
            "TILL_INSTALLATION": shop["installation_id"],
        }

    def call(self, *command, **environment):
        """Runs a command in the part's directory; what it prints goes to the log."""
        print(f"$ {shlex.join(map(str, command))}", file=self.log, flush=True)
        try:
            done = subprocess.run(
                list(map(str, command)), cwd=self.directory, env={**self.environment, **environment},
                stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT, timeout=COMMAND_SECONDS_MAX,
            )
        except subprocess.TimeoutExpired as error:
            raise Failed(f"{command[0]} did not end in {COMMAND_SECONDS_MAX} s") from error
        if done.returncode != 0:
            raise Failed(f"{command[0]} ended with {done.returncode}")

    def document(self, listener):
        """The OpenAPI document of a listener, as a file."""
        file = self.directory / f"{listener}.json"
        with urllib.request.urlopen(self.addresses()[f"TILL_{listener.upper()}"] + "/openapi.json") as answer:
            file.write_bytes(answer.read())
        return file


def openapi_python_client(part):
    """generates clients without a warning, type-checks, makes the flow and three refusals"""
    for listener in LISTENERS:
        file = part.document(listener)
        part.call("openapi-python-client", "generate", "--fail-on-warning", "--meta", "none", "--path", file,
                  "--output-path", part.directory / f"till_{listener}")
    shutil.copy(PYTHON / "generated_client.py", part.directory)
    part.call("mypy", "--strict", "--warn-unreachable", "--follow-imports", "silent", "generated_client.py")
    part.call("python", "generated_client.py")


def openapi_typescript(part):
    """generates types, compiles strictly, makes the flow and three refusals"""
    (part.directory / "node_modules").symlink_to(part.node_modules)
    for file in ("package.json", "tsconfig.json", "flow.ts"):
        shutil.copy(NODE / file, part.directory)
    part.call("openapi-typescript", part.document("admin"), "--output", "admin.ts")
    part.call("openapi-typescript", part.document("public"), "--output", "schema.ts")
    part.call("tsc", "--project", "tsconfig.json")
    part.call("node", "compiled/flow.js")


def redocly(part):
    """finds nothing in both documents, warnings included"""
    files = [part.document(listener) for listener in LISTENERS]
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    part.call("redocly", "lint", "--extends", "recommended-strict", "--format", "stylish", *files, **quiet)


def spectral(part):
    """finds nothing in both documents, hints included"""
    files = [part.document(listener) for listener in LISTENERS]
    part.call("spectral", "lint", "--ruleset", NODE / "spectral.yaml", "--fail-severity", "hint", *files)


def web_function(part):
    """makes its calls, sync and async, and in pipelines that the server ran"""
    part.call("python", PYTHON / "web_function.py")


def webhooks(part):
    """verifies every delivery, rejects what was changed, knows both secrets during a rotation"""
    part.call("python", PYTHON / "webhook_receiver.py")


def build_a_shop(part):
    """follows the guide of a shop: its receiver gets every event, and its client charges the saved card"""
    part.call("python", PYTHON / "build_a_shop.py")


def stripe(part):
    """reads every answer of the fake of Stripe, has every member of its forms, verifies its notices"""
    part.call("python", STRIPE / "check_with_client.py")


def localstripe(part):
    """charges 300 payments and gives them back once each, whatever is lost on the way to a fake that others wrote"""
    settings = {"PYTHONPATH": Path(till.__file__).parent, "TILL_BINARY": part.server.binary, "SEED": part.seed}
    part.call("python", PYTHON / "charged_once.py", **{name: str(value) for name, value in settings.items()})


def schemathesis_public(part):
    """finds no 5xx, nothing undocumented, nothing invalid that was accepted"""
    fuzz(part, "public", part.environment["TILL_API_KEY"])


def schemathesis_admin(part):
    """finds no 5xx, nothing undocumented, nothing invalid that was accepted"""
    fuzz(part, "admin", part.environment["TILL_ADMIN_TOKEN"])


def fuzz(part, listener, token):
    """Calls as an ordinary client, then as one that asks for problem details, whose statuses tell refused keys apart."""
    for file in ("schemathesis.toml", "schemathesis_hooks.py"):
        shutil.copy(PYTHON / file, part.directory)
    for name, ids in fuzzed_ids(part).items():
        (part.directory / f"{name}.dict").write_text("".join(f"{json.dumps(one)}\n" for one in ids))
    run = ["schemathesis", "--config-file", "schemathesis.toml", "run", part.document(listener), "--seed", part.seed]
    run += ["--url", part.environment[f"TILL_{listener.upper()}"]]
    part.call(*run, "--exclude-checks", "ignored_auth", TILL_TOKEN=token)
    part.call(*run, "--header", "Accept: application/problem+json", TILL_TOKEN=token)
    check_token(part, listener, token)


def fuzzed_ids(part):
    """Ids that schemathesis cannot make up, after one of the sessions was paid for as order-1 by customer-1."""
    shop = part.server.shops[0]
    merchants = till.Caller(part.server.public, shop["key"], "/merchants/")
    sdk = till.Caller(part.server.public, "", "/sdk/")
    ids = {name: shop[f"{name}_id"] for name in ("merchant", "installation")}
    choice = {"amount": "10000", "currency": "THB", "payment_method": "CARD", "token": shop["token"]}
    chosen = {f"{name}_id": one for name, one in ids.items()} | choice
    first, *sessions = [sdk("select-payment-method", chosen) for _ in range(SESSIONS)]
    names = {"payment_session_id": first, "external_id": "order-1", "customer_id": "customer-1"}
    payment = {"amount": "10000", "currency": "THB", "capture": True, "return_url": "https://shop.example/done"}
    merchants("initiate-payment-flow", {**payment, **names})
    merchants("sync-metadata", {"key": "order-1", "metadata": {"tags": ["gift"]}})
    return {**{name: [one] for name, one in ids.items()}, "session": sessions}


def check_token(part, listener, token):
    """A token that was refused from some call on would have hidden everything behind it."""
    package, endpoint = {"public": ("merchants", "list-keys"), "admin": ("admin", "list-merchants")}[listener]
    try:
        till.Caller(getattr(part.server, listener), token, f"/{package}/")(endpoint, {})
    except RuntimeError as error:
        raise Failed(f"the token was lost on the way: {error}") from error


ALL = {
    "openapi-python-client": openapi_python_client,
    "openapi-typescript": openapi_typescript,
    "redocly": redocly,
    "spectral": spectral,
    "webfunction": web_function,
    "webhooks": webhooks,
    "build-a-shop": build_a_shop,
    "stripe": stripe,
    "localstripe": localstripe,
    "schemathesis-public": schemathesis_public,
    "schemathesis-admin": schemathesis_admin,
}
