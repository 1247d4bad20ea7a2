"""Serves one CGI program, and files beside it: `python3 cgi_server.py PORT PROGRAM PREFIX FOLDER`."""

import http.server
import os
import subprocess
import sys
import urllib.parse


class Handler(http.server.SimpleHTTPRequestHandler):
    program, prefix = "", ""

    def log_message(self, *_):
        pass

    def __init__(self, *args, **more):
        super().__init__(*args, directory=sys.argv[4], **more)

    def do_POST(self):
        self.do_GET()

    def do_GET(self):
        path, _, query = self.path.partition("?")
        plain = urllib.parse.unquote(path)
        file = os.path.normpath(os.path.join(self.directory, plain.lstrip("/")))
        if plain != "/" and file.startswith(self.directory) and os.path.isfile(file):
            return super().do_GET()
        info = plain[len(self.prefix) :] if plain.startswith(self.prefix) else plain
        length = int(self.headers.get("content-length") or 0)
        env = {
            **os.environ,
            "GATEWAY_INTERFACE": "CGI/1.1",
            "REQUEST_METHOD": self.command,
            "REQUEST_URI": self.path,
            "SCRIPT_NAME": self.prefix.rstrip("/"),
            "PATH_INFO": info if info.startswith("/") or not info else "/" + info,
            "QUERY_STRING": query,
            "SERVER_PROTOCOL": "HTTP/1.1",
            "SERVER_NAME": (self.headers.get("host") or "localhost").split(":")[0],
            "SERVER_PORT": "80",
            "HTTP_HOST": self.headers.get("host") or "localhost",
            "HTTP_ACCEPT": self.headers.get("accept") or "*/*",
            "CONTENT_LENGTH": str(length),
            "CONTENT_TYPE": self.headers.get("content-type") or "",
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run([self.program], env=env, input=self.rfile.read(length), capture_output=True, timeout=60, check=False)
        head, _, body = done.stdout.replace(b"\r\n\r\n", b"\n\n", 1).partition(b"\n\n")
        status, headers = 200, []
        for line in head.decode("latin-1").splitlines():
            name, _, value = line.partition(":")
            if name.lower() == "status":
                status = int(value.split()[0])
            elif value:
                headers.append((name, value.strip()))
        self.send_response(status if head else 500)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return None


if __name__ == "__main__":
    Handler.program, Handler.prefix = sys.argv[2], sys.argv[3]
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
