"""All applications, in the order in which they are measured."""

from app_datasette import Datasette
from app_dokuwiki import DokuWiki
from app_pages import Pages

ALL = [Pages, Datasette, DokuWiki]
