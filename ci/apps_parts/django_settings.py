"""Settings of a site of Django in one folder: an application of others with what it needs around it."""

TEXT = """
import os

BASE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SECRET_KEY = "a secret of the test's own"
DEBUG = True
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "site_.urls"
SITE_ID = 1
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.sites",
    *APPS,
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    *LOGGED_IN,
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "DIRS": [os.path.join(BASE, "templates")],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.debug",
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(BASE, "site.db")}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
"""


def settings_of(apps, more="", logged_in=()):
    """The text of `site_/settings.py`; `logged_in` names the middleware that knows who comes."""
    text = TEXT.replace("*APPS", "*" + repr(tuple(apps))).replace("*LOGGED_IN", "*" + repr(tuple(logged_in)))
    return text + more
