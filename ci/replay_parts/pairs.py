"""Two versions of one application, one to three years apart: the same data, each installed in a place of its own."""

import os
import re

from app_datasette import Datasette
from app_flaskadmin import FlaskAdmin
from app_klaus import Klaus
from app_luigi import Luigi
from app_mkdocs import MkDocs
from app_pypiserver import PypiServer
from app_roundup import Roundup
from app_sqliteweb import SqliteWeb
from app_verdaccio import Verdaccio
from app_wagtail import Wagtail


class RoundupHere(Roundup):
    """It leads to where its settings say that it is."""

    def fill(self):
        super().fill()
        path = os.path.join(self.site, "config.ini")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub(r"^web = .*", f"web = http://localhost:{self.port}/harbour/", text, flags=re.MULTILINE))


class SqliteWebOpen(SqliteWeb):
    """Rows may be changed."""

    def command(self, port):
        words, folder, env = super().command(port)
        return [it for it in words if it != "--read-only"], folder, env


# What ran in one year beside what runs now; None: as `ci/apps` has it.
PAIRS = {
    "datasette": (Datasette, ("datasette==0.64.6", "setuptools==80.9.0"), None),
    "flask-admin": (
        FlaskAdmin,
        ("flask-admin==1.6.1", "flask==2.3.3", "flask-sqlalchemy==3.0.5", "wtforms==3.0.1", "setuptools==80.9.0"),
        None,
    ),
    "klaus": (Klaus, ("klaus==2.0.3", "setuptools==80.9.0"), None),
    "luigi": (Luigi, ("luigi==3.5.0", "setuptools==80.9.0"), None),
    "mkdocs": (MkDocs, ("mkdocs-material==9.5.3",), None),
    "pypiserver": (PypiServer, ("pypiserver==2.0.1", "setuptools==80.9.0"), None),
    "roundup": (RoundupHere, ("roundup==2.3.0",), None),
    "sqlite-web": (SqliteWebOpen, ("sqlite-web==0.6.4",), None),
    "verdaccio": (Verdaccio, ("verdaccio@5.29.2",), None),
    "wagtail": (Wagtail, ("wagtail==6.0.6", "django==5.0.14"), None),
}


def versions(name, work):
    """Both, the older first."""
    kind, old, new = PAIRS[name]
    for which, pins in (("old", old), ("new", new)):
        about = {"name": f"{name}-{which}", "pins": pins or kind.pins, "__module__": kind.__module__}
        yield type(f"{kind.__name__}{which.title()}", (kind,), about)(work)
