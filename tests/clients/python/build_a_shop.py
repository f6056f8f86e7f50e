"""The guide `docs/build-a-shop.md` as somebody follows it who runs its Python, too: the receiver gets every event of the
shop, each verified, and the client of the protocol charges the saved card."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "build-a-shop.md"
DELIVERED_WITHIN_SECONDS = 20
# Starts the receiver, which gets the events that follow.
RECEIVE = f"""export SECRET
BEFORE=$(shop list-events '{{"per_page": 1}}' | jq '.page[0].sequence')
{sys.executable} receiver.py > received &
RECEIVER=$!
trap 'kill $RECEIVER' EXIT
"""
CHARGE = f"""export TILL KEY SHOP INSTALLATION CARD
{sys.executable} client.py > charged
"""
# Waits until the receiver has printed a line for each of them.
WAIT = f"""for try in $(seq {DELIVERED_WITHIN_SECONDS}); do
  shop list-events '{{"per_page": 100}}' | jq ".page[].sequence | select(. > $BEFORE)" | sort -n > expected
  cut -d' ' -f1 received | sort -nu > delivered
  cmp -s expected delivered && break
  sleep 1
done
diff expected delivered
"""


def main():
    text, port = GUIDE.read_text(), str(free_port())
    receiver, client = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    Path("receiver.py").write_text(replaced(receiver, "4000", port))
    Path("client.py").write_text(client)
    Path("guide.sh").write_text(at_server(commands(text), port))
    subprocess.run(["bash", "-euo", "pipefail", "guide.sh"], check=True)
    charged = Path("charged").read_text().split()
    assert charged == ["subscription-42-1"], charged
    print("the receiver got every event, and the client charged the saved card")


def commands(text):
    """The commands of the guide in their order, with each program run at its place."""
    blocks = re.findall(r"^```(sh|python)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    runs = iter([RECEIVE, CHARGE])
    return "".join(block if language == "sh" else next(runs) for language, block in blocks) + WAIT


def at_server(script, port):
    """The commands with the addresses of the running server, and the token that it has."""
    script = replaced(script, "http://127.0.0.1:8080", os.environ["TILL_PUBLIC"])
    script = replaced(script, "http://127.0.0.1:9090", os.environ["TILL_ADMIN"])
    script = replaced(script, "$(cat data/secrets/admin-token)", os.environ["TILL_ADMIN_TOKEN"])
    return replaced(script, "127.0.0.1:4000", f"127.0.0.1:{port}")


def replaced(text, old, new):
    assert text.count(old) == 1, f"{old} is there {text.count(old)} times"
    return text.replace(old, new)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


if __name__ == "__main__":
    main()
