"""HTTP/1.1: requests read, answers written, some of them badly on purpose."""

import http.server
import socket
import socketserver
import urllib.parse

import answers

BODY_MAX = 2**20
CHUNK = b"a" * 2**16
BACKLOG = 1024
IDLE_SECONDS = 120


class Request:
    """What was asked; `form` is the text of the body, or of the query where there is no body."""

    def __init__(self, method, target, headers, body):
        parts = urllib.parse.urlsplit(target)
        self.method, self.target, self.path, self.headers, self.body = method, target, parts.path, headers, body
        self.form = parts.query if method == "GET" else body.decode("utf-8", "replace")


class Server(socketserver.ThreadingTCPServer):
    """A thread for each connection. `sites` are asked in order for the answer to a path that begins as they say."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = BACKLOG

    def __init__(self, address):
        super().__init__(address, Handler)
        self.sites = []

    @property
    def base(self):
        return f"http://{self.server_address[0]}:{self.server_address[1]}"

    def answer(self, request):
        for prefix, site in self.sites:
            if request.path.startswith(prefix):
                answer = site.answer(request)
                if answer is not None:
                    return answer
        return answers.of_page(404, "<!doctype html><title>Not found</title>")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = IDLE_SECONDS

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def do_GET(self):
        length = int(self.headers.get("Content-Length", 0))
        if length > BODY_MAX:
            self.close_connection = True
            return
        request = Request(self.command, self.path, self.headers, self.rfile.read(length))
        self.write(self.server.answer(request))

    do_POST = do_DELETE = do_GET

    def write(self, answer):
        if answer.dropped:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        body, tail = answer.body, b""
        if answer.padding_bytes:
            body, tail = body.rstrip()[:-1] + b', "padding": "', b'"}'
        self.send_response_only(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) + answer.padding_bytes + len(tail)))
        self.end_headers()
        if answer.cut_at is not None:
            self.wfile.write(body[: answer.cut_at])
            self.close_connection = True
            return
        self.wfile.write(body)
        if answer.padding_bytes:
            self.write_padding(answer.padding_bytes, tail)

    def write_padding(self, left, tail):
        while left > 0:
            part = CHUNK[:left]
            self.wfile.write(part)
            left -= len(part)
        self.wfile.write(tail)

    def log_message(self, *_):
        pass
