"""What npm needs of an index, over the packages of a folder: npm_registry.py FOLDER PORT, on loopback, until it is stopped."""

import base64
import hashlib
import http.server
import json
import pathlib
import sys
import tarfile

folder, port = pathlib.Path(sys.argv[1]), int(sys.argv[2])
known = {}
for path in folder.glob("commis-*.tgz"):
    with tarfile.open(path) as tar:
        package = json.load(tar.extractfile("package/package.json"))
    digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
    package["dist"] = {"tarball": f"http://127.0.0.1:{port}/-/{path.name}", "integrity": f"sha512-{digest}"}
    version = package["version"]
    known[package["name"]] = {"name": package["name"], "dist-tags": {"latest": version}, "versions": {version: package}}


class Index(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.removeprefix("/").split("?")[0]
        if name in known:
            body, kind = json.dumps(known[name]).encode(), "application/json"
        elif name.startswith("-/") and (folder / name[2:]).name == name[2:] and (folder / name[2:]).is_file():
            body, kind = (folder / name[2:]).read_bytes(), "application/octet-stream"
        else:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(("127.0.0.1", port), Index).serve_forever()
