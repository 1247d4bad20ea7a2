"""All applications, in the order in which they are measured."""

import importlib

NAMES = (
    "pages datasette dokuwiki klaus sqliteweb gitweb cgit hgweb fossil trac roundup wagtail flaskadmin luigi kiwix"
    " mediawiki verdaccio pypiserver mkdocs instantsearch next mlflow jupyter dagster gradio prometheus sveltekit"
    " djangoadmin nagios reactrouter flower awstats reactadmin datatables oscar namazu autoindex htmx buildbot"
    " shaarli tiddlywiki nuxt haproxy helpdesk omega astro tabulator supervisor gatsby aggrid"
).split()


def apps():
    from app import App

    for name in NAMES:
        module = importlib.import_module(f"app_{name}")
        yield from (it for it in vars(module).values() if isinstance(it, type) and issubclass(it, App) and it is not App)


ALL = list(apps())
