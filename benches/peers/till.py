"""A Till of the comparison's own: started, filled with merchants and sessions, asked, stopped, removed."""

import contextlib
import http.client
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.parse
from pathlib import Path

ADMIN_TOKEN = "admin-token-of-a-bench"
AMOUNT_MINOR = 10_000
SETTLED_WITHIN_SECONDS = 120


class Till:
    """A running server on a data directory below `directory`."""

    def __init__(self, binary, directory, wrapper=(), log=None, settings=None):
        self.binary, self.wrapper, self.log, self.settings = binary, list(wrapper), log, settings or {}
        self.directory = Path(directory)
        self.data = self.directory / "data"
        self.shops = []
        self.process = None

    def start(self):
        command = [*self.wrapper, str(self.binary), "serve", "--data", str(self.data)]
        command += ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]
        environment = {
            "PATH": "/usr/bin:/bin",
            "TILL_ADMIN_TOKEN": ADMIN_TOKEN,
            "TILL_LOG_FILTER": "error",
            "TILL_WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
            **self.settings,
        }
        environment |= self._lifted_rates(environment)
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.public = self._address("listening on ")
        self.admin = self._address("admin listening on ")
        return self

    def _address(self, prefix):
        line = self.process.stdout.readline().strip()
        if not line.startswith(prefix):
            raise RuntimeError(f"till did not start: it said {line!r}")
        return urllib.parse.urlsplit(line.removeprefix(prefix)).netloc

    def _lifted_rates(self, environment):
        """All customers share an address. A build refuses settings that it does not know, and older ones know fewer."""
        printed = subprocess.check_output([self.binary, "configuration"], env=environment, text=True)
        keys = [line.split(" = ")[0] for line in printed.splitlines() if line.startswith("sdk_")]
        return {f"TILL_{key.upper()}": "1000000" for key in keys}

    def stop(self, how=signal.SIGTERM):
        if self.process is None:
            return
        self.process.send_signal(how)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.process = None

    def add_shops(self, count):
        """Makes merchants, each with an installation, a key and a card that can be used again and again."""
        admin = Caller(self.admin, ADMIN_TOKEN, "/admin/")
        sdk = Caller(self.public, "", "/sdk/")
        for number in range(count):
            merchant = admin("create-merchant", {"name": f"Bench {number}", "currency": "THB"})
            shop = {"merchant_id": merchant}
            installation = {"name": "Web", "platform": "WEB", "identifier": "https://shop.example"}
            shop["installation_id"] = admin("add-installation", {**shop, **installation})
            card = {
                "number": "4242424242424242", "name": "Ada Example", "expiration_date": "12/49",
                "security_code": "123", "usage": "MULTIPLE",
            }
            token = sdk("tokenize-card", {**shop, **card})
            key = admin("generate-key", {"merchant_id": merchant, "name": "Bench"})["key"]
            self.shops.append({**shop, "token": token, "key": key})

    def make_sessions(self, peers, count, file):
        """Makes sessions, the merchants taking turns, and writes a line with key and session for each."""
        shops = self.directory / "shops.json"
        shops.write_text(json.dumps(self.shops))
        command = [str(peers), "sessions", "--address", self.public, "--shops", str(shops)]
        subprocess.run([*command, "--count", str(count), "--out", str(file)], check=True)

    def captured(self):
        """How many payments are captured: by the balances, which hold exactly what was."""
        total = 0
        for shop in self.shops:
            balance = Caller(self.public, shop["key"], "/merchants/")("get-balance", {})
            total += balance["available"] + balance["pending"]
        return total // AMOUNT_MINOR

    def wait_for(self, payments):
        """Waits until so many payments are captured, and says how many seconds that took."""
        start = time.monotonic()
        while self.captured() < payments:
            if time.monotonic() - start > SETTLED_WITHIN_SECONDS:
                raise RuntimeError(f"{payments} payments are not captured in {SETTLED_WITHIN_SECONDS} s")
        return time.monotonic() - start

    def processor_seconds(self):
        """The time that processors spent for the server so far, in the kernel too."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Caller:
    """One connection with one key."""

    def __init__(self, address, key, prefix):
        self.connection = http.client.HTTPConnection(address, timeout=60)
        self.prefix = prefix
        self.headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}

    def __call__(self, endpoint, body):
        self.connection.request("POST", self.prefix + endpoint, json.dumps(body), self.headers)
        response = self.connection.getresponse()
        answer = response.read()
        if response.status != 200:
            raise RuntimeError(f"{endpoint}: {response.status} {answer.decode()}")
        return json.loads(answer)


@contextlib.contextmanager
def running(binary, directory, shops, wrapper=(), log=None, settings=None):
    """A server in a directory of its own, which goes with it, with further variables of the environment. Its errors go
    where ours do, or into the open file `log`."""
    directory = Path(directory)
    directory.mkdir()
    till = Till(binary, directory, wrapper, log, settings)
    try:
        till.start()
        till.add_shops(shops)
        yield till
    finally:
        till.stop()
        shutil.rmtree(directory)
