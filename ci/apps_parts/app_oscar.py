"""Oscar: a shop with a search that sorts, categories, prices and stock, drawn by the server."""

import json
import os
import re
import unicodedata

import words
from app import App, Task

SETTINGS = """
import os
from oscar.defaults import *

BASE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SECRET_KEY = "a secret of the test's own"
DEBUG = True
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "shop.urls"
SITE_ID = 1
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.sites",
    "django.contrib.flatpages",
    "oscar.config.Shop",
    "oscar.apps.analytics.apps.AnalyticsConfig",
    "oscar.apps.checkout.apps.CheckoutConfig",
    "oscar.apps.address.apps.AddressConfig",
    "oscar.apps.shipping.apps.ShippingConfig",
    "oscar.apps.catalogue.apps.CatalogueConfig",
    "oscar.apps.catalogue.reviews.apps.CatalogueReviewsConfig",
    "oscar.apps.communication.apps.CommunicationConfig",
    "oscar.apps.partner.apps.PartnerConfig",
    "oscar.apps.basket.apps.BasketConfig",
    "oscar.apps.payment.apps.PaymentConfig",
    "oscar.apps.offer.apps.OfferConfig",
    "oscar.apps.order.apps.OrderConfig",
    "oscar.apps.customer.apps.CustomerConfig",
    "oscar.apps.search.apps.SearchConfig",
    "oscar.apps.voucher.apps.VoucherConfig",
    "oscar.apps.wishlists.apps.WishlistsConfig",
    "oscar.apps.dashboard.apps.DashboardConfig",
    "oscar.apps.dashboard.reports.apps.ReportsDashboardConfig",
    "oscar.apps.dashboard.users.apps.UsersDashboardConfig",
    "oscar.apps.dashboard.orders.apps.OrdersDashboardConfig",
    "oscar.apps.dashboard.catalogue.apps.CatalogueDashboardConfig",
    "oscar.apps.dashboard.offers.apps.OffersDashboardConfig",
    "oscar.apps.dashboard.partners.apps.PartnersDashboardConfig",
    "oscar.apps.dashboard.pages.apps.PagesDashboardConfig",
    "oscar.apps.dashboard.ranges.apps.RangesDashboardConfig",
    "oscar.apps.dashboard.reviews.apps.ReviewsDashboardConfig",
    "oscar.apps.dashboard.vouchers.apps.VouchersDashboardConfig",
    "oscar.apps.dashboard.communications.apps.CommunicationsDashboardConfig",
    "oscar.apps.dashboard.shipping.apps.ShippingDashboardConfig",
    "widget_tweaks",
    "haystack",
    "treebeard",
    "sorl.thumbnail",
    "django_tables2",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "oscar.apps.basket.middleware.BasketMiddleware",
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
                "django.template.context_processors.i18n",
                "django.contrib.messages.context_processors.messages",
                "oscar.apps.search.context_processors.search_form",
                "oscar.apps.checkout.context_processors.checkout",
                "oscar.apps.communication.notifications.context_processors.notifications",
                "oscar.core.context_processors.metadata",
            ]
        },
    }
]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(BASE, "shop.db"), "ATOMIC_REQUESTS": True}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
HAYSTACK_CONNECTIONS = {
    "default": {"ENGINE": "haystack.backends.whoosh_backend.WhooshEngine", "PATH": os.path.join(BASE, "index")}
}
LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
MEDIA_URL = "/media/"
MEDIA_ROOT = os.path.join(BASE, "media")
OSCAR_SHOP_NAME = "Harbour Store"
"""

URLS = """
from django.apps import apps
from django.conf import settings
from django.conf.urls.static import static
from django.urls import include, path

urlpatterns = [
    path("i18n/", include("django.conf.urls.i18n")),
    path("", include(apps.get_app_config("oscar").urls[0])),
    *static(settings.MEDIA_URL, document_root=settings.MEDIA_ROOT),
]
"""

# Its page asks another site for jQuery before it takes its own copy.
TEMPLATE = """{% extends "oscar/base.html" %}
{% load static %}
{% block cdn_scripts %}<script src="{% static "oscar/js/jquery/jquery.min.js" %}"></script>{% endblock %}
"""

FILL = """
import json, os
from decimal import Decimal
from PIL import Image
from django.conf import settings
from oscar.apps.catalogue.categories import create_from_breadcrumbs
from oscar.core.loading import get_model

os.makedirs(settings.MEDIA_ROOT, exist_ok=True)
Image.new("RGB", (155, 155), "grey").save(os.path.join(settings.MEDIA_ROOT, "image_not_found.jpg"))
get_model("address", "Country").objects.create(iso_3166_1_a2="NL", printable_name="Netherlands", is_shipping_country=True)
kind = get_model("catalogue", "ProductClass").objects.create(name="Chandlery")
partner = get_model("partner", "Partner").objects.create(name="Quay 4")
for it in json.load(open("products.json", encoding="utf-8")):
    product = get_model("catalogue", "Product").objects.create(
        product_class=kind, title=it["title"], upc=it["upc"], description=it["description"], structure="standalone"
    )
    product.categories.add(create_from_breadcrumbs(it["category"]))
    get_model("partner", "StockRecord").objects.create(
        product=product, partner=partner, partner_sku=it["upc"], price_currency="GBP", price=Decimal(it["price"]), num_in_stock=it["stock"]
    )
"""

CATEGORIES = ["Deck", "Deck > Ropes & chains", "Galley", "Galley > Café tableware", "Lighting", "Safety"]
THINGS = "anchor lantern kettle compass buoy whistle hammock shackle teapot mirror".split()
LOOKS = "brass,oak,enamelled,folding,second-hand,polished,small,crème-white,40 mm,12-inch".split(",")
USES = "for trawlers,with a spare lid,for two,with hook,(pair),for night watches".split(",")


def slug(title):
    """A title as it stands in an address."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain)).strip("-_")


class Oscar(App):
    name = "oscar"
    kind = "shop"
    pins = ("django-oscar==4.2.1", "django==5.2.19", "sorl-thumbnail==13.4.0", "whoosh==2.7.4", "pillow==13.0.0", "django-haystack==3.4.0")
    hosts = ("store.test",)
    port = 8653
    ready = "/catalogue/"
    seconds = 90
    settings = SETTINGS

    def products(self):
        by = words.seeded("oscar")
        for at in range(1, 241):
            look, thing, use = by.choice(LOOKS), by.choice(THINGS), by.choice([*USES, "", ""])
            yield {
                "title": f"{look.capitalize()} {thing} {use}".strip(),
                "upc": f"HS{at * 37:06}",
                "description": f"Kept on shelf {by.randint(1, 60)}, {by.randint(80, 9_000)} g.",
                "category": by.choice(CATEGORIES),
                "price": f"{by.randint(150, 250_000) / 100:.2f}",
                "stock": by.choice([0, 1, 4, 25, 130]),
            }

    def fill(self):
        files = {
            "shop/__init__.py": "",
            "shop/settings.py": self.settings,
            "shop/urls.py": URLS,
            "templates/oscar/base.html": TEMPLATE,
            "products.json": json.dumps(list(self.products())),
        }
        for name, text in files.items():
            path = os.path.join(self.place.data, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        self.manage("migrate", "-v0")
        self.manage("shell", "-c", FILL)
        self.manage("rebuild_index", "--noinput", "-v0")

    def env(self):
        return {"DJANGO_SETTINGS_MODULE": "shop.settings", "PYTHONPATH": self.place.data}

    def manage(self, *args):
        self.run(self.place.bin("python"), "-m", "django", *args, env=self.env(), seconds=600)

    def command(self, port):
        return [self.place.bin("python"), "-m", "django", "runserver", "--noreload", f"127.0.0.1:{port}"], None, self.env()

    @staticmethod
    def row(it):
        """A card of the list: a long title is cut there, and stands whole in attributes."""
        cut = " ".join(it["title"].split()[:4]) + "…"
        return {
            "title": it["title"] if len(it["title"].split()) <= 4 else {it["title"], cut},
            "price": {f"£{float(it['price']):,.2f}", f"{float(it['price']):.2f}"},
            "availability": "In stock" if it["stock"] else "Unavailable",
        }

    def tasks(self):
        search = [
            {"fill": {"role": "textbox", "name": "Search", "value": "{query}"}},
            {"press": "Enter"},
            {"wait_for": {"request": "/search/?q="}},
            {"wait_for": {"selector": "article.product_pod"}},
        ]

        def found(values):
            return [it for it in self.products() if values["query"] in it["title"].lower()]

        def priced(values):
            falling = values["order"] == "Price high to low"
            return [self.row(it) for it in sorted(found(values), key=lambda it: float(it["price"]), reverse=falling)]

        def kept(values):
            # A category has what its own categories have.
            return [self.row(it) for it in self.products() if values["category"] in it["category"].split(" > ")]

        def product(values):
            it = list(self.products())[int(values["product"].rpartition("_")[2]) - 1]
            row = {"title": it["title"], "price": self.row(it)["price"], "upc": it["upc"], "type": "Chandlery", "about": it["description"]}
            return [{**row, "availability": f"In stock ({it['stock']} available)" if it["stock"] else "Unavailable"}]

        slugs = [f"{slug(it['title'])}_{at}" for at, it in enumerate(self.products(), 1)]
        rise, fall = "Price low to high", "Price high to low"
        pairs = [("lantern", rise), ("teapot", fall), ("compass", fall), ("anchor", rise)]
        return [
            Task(
                "oscar-search",
                "Search the shop for {query}",
                "http://store.test/catalogue/",
                [{"query": it} for it in ("kettle", "buoy", "brass", "hammock")],
                search,
                lambda values: [self.row(it) for it in found(values)],
                page=20,
                endpoint="/search/",
                ways=("steps", "har"),
            ),
            Task(
                "oscar-sorted",
                "Search the shop for {query}, in the order {order}",
                "http://store.test/catalogue/",
                [{"query": query, "order": order} for query, order in pairs],
                [
                    *search,
                    {"fill": {"css": "select[name=sort_by]", "value": "{order}"}},
                    {"wait_for": {"request": "sort_by=price"}},
                    {"wait_for": {"selector": "article.product_pod"}},
                ],
                priced,
                page=20,
                ordered=True,
                endpoint="/search/",
                ways=("steps", "har"),
            ),
            Task(
                "oscar-category",
                "List the shop's articles of the category {category}",
                "http://store.test/catalogue/",
                [{"category": it} for it in ("Galley", "Lighting", "Deck", "Safety")],
                [
                    {"click": {"role": "link", "name": "{category}"}},
                    {"wait_for": {"request": "/catalogue/category/"}},
                    {"wait_for": {"selector": "article.product_pod"}},
                ],
                kept,
                page=20,
                endpoint="/catalogue/category/",
                ways=("steps", "har"),
            ),
            Task(
                "oscar-product",
                "Show the shop's article {product} with its price",
                "http://store.test/catalogue/",
                [{"product": slugs[at]} for at in (4, 77, 150, 201)],
                [{"navigate": "http://store.test/catalogue/{product}/"}, {"wait_for": {"text": "Product Information"}}],
                product,
                one=True,
                endpoint="/catalogue/",
                ways=("steps", "har"),
            ),
        ]
