"""A proxy in front of localstripe that loses requests and answers. It takes out the parameters that localstripe refuses
because it does not know them, and adds the members that its intents lack, each by name."""

import http.client
import http.server
import json
import random
import re
import threading
import urllib.parse

# Parameters that localstripe does not know, by the path of a POST.
UNKNOWN = {
    r"/v1/payment_intents": {"description"},
    r"/v1/payment_intents/[^/]+/confirm": {"return_url"},
}
WAYS = ("request lost", "answer lost", "answered")


class Proxy:
    """Loses these shares of the requests and of the answers, by chance from a seed; counts each way."""

    def __init__(self, target, seed, requests_lost, answers_lost):
        self.target, self.dice, self.lock = target, random.Random(seed), threading.Lock()
        self.weights = (requests_lost, answers_lost, 1 - requests_lost - answers_lost)
        self.counted = dict.fromkeys(WAYS, 0)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def way(self):
        with self.lock:
            [way] = self.dice.choices(WAYS, self.weights)
            self.counted[way] += 1
        return way

    def handler(proxy):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                way = proxy.way()
                if way == "request lost":
                    self.close_connection = True
                    return
                status, answer = proxy.forward(self, body)
                if way == "answer lost":
                    self.close_connection = True
                    return
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        return Handler

    def forward(self, request, body):
        if request.command == "POST":
            body = without_unknown(request.path, body)
        headers = {name: request.headers[name] for name in ("Authorization", "Content-Type") if name in request.headers}
        connection = http.client.HTTPConnection(self.target, timeout=30)
        connection.request(request.command, request.path, body, headers)
        response = connection.getresponse()
        answer = response.read()
        connection.close()
        return response.status, json.dumps(with_missing(json.loads(answer))).encode()


def without_unknown(path, body):
    unknown = next((names for pattern, names in UNKNOWN.items() if re.fullmatch(pattern, path)), set())
    fields = urllib.parse.parse_qsl(body.decode(), keep_blank_values=True)
    return urllib.parse.urlencode([(name, value) for name, value in fields if name not in unknown]).encode()


def with_missing(answer):
    """An intent's two amounts, which Stripe always tells."""
    if answer.get("object") == "payment_intent":
        amount, status = answer["amount"], answer["status"]
        answer["amount_received"] = amount if status == "succeeded" else 0
        answer["amount_capturable"] = amount if status == "requires_capture" else 0
    return answer
