"""Oscar: orders, addresses and wish lists of two customers."""

import datetime
import json

import app_oscar as plain
import words
from members import FIRST, SECOND, Behind, Members

FILL = """
import datetime, json
from decimal import Decimal
from django.contrib.auth import get_user_model
from django.contrib.sites.models import Site
from oscar.core.loading import get_model

given = json.load(open("customers.json", encoding="utf-8"))
country = get_model("address", "Country").objects.first()
products = list(get_model("catalogue", "Product").objects.order_by("id"))
for name, it in given.items():
    user = get_user_model().objects.create_user(name, f"{name}@store.test", it["word"])
    for order in it["orders"]:
        total = Decimal(order["total"])
        made = get_model("order", "Order").objects.create(
            number=order["number"], user=user, currency="GBP", status="", site=Site.objects.first(),
            total_incl_tax=total, total_excl_tax=total, shipping_incl_tax=0, shipping_excl_tax=0,
            date_placed=datetime.datetime.fromisoformat(order["placed"]),
        )
        for at, quantity in order["lines"]:
            product = products[at]
            record = product.stockrecords.first()
            price = record.price * quantity
            get_model("order", "Line").objects.create(
                order=made, partner=record.partner, partner_name=record.partner.name, partner_sku=record.partner_sku, stockrecord=record,
                product=product, title=product.title, upc=product.upc, quantity=quantity, tax_code="", num_allocated=0,
                line_price_incl_tax=price, line_price_excl_tax=price, line_price_before_discounts_incl_tax=price,
                line_price_before_discounts_excl_tax=price, unit_price_incl_tax=record.price, unit_price_excl_tax=record.price,
            )
    for address in it["addresses"]:
        get_model("address", "UserAddress").objects.create(user=user, country=country, **address)
"""


class Store(Members, plain.Oscar):
    name = "store-accounts"
    kind = "shop"
    packages_of = plain.Oscar
    port = 8753
    login = "/accounts/login/"
    fields = ("css=#id_login-username", "css=#id_login-password")
    settings = plain.SETTINGS + 'AUTHENTICATION_BACKENDS = ["oscar.apps.customer.auth_backends.EmailBackend"]\n'

    def account(self, account):
        return f"{account}@store.test"

    def customers(self):
        by = words.seeded("store-accounts")
        products = list(self.products())
        out = {}
        number = 100_300
        for account in (FIRST, SECOND):
            orders = []
            for at in range(9 if account == FIRST else 6):
                number += by.randint(3, 60)
                lines = [(by.randrange(len(products)), by.randint(1, 4)) for _ in range(by.randint(1, 3))]
                total = sum(round(100 * float(products[it]["price"])) * count for it, count in lines) / 100
                day = datetime.datetime(2025, 1, 3, 9, 30, tzinfo=datetime.timezone.utc) + datetime.timedelta(days=11 * at + by.randint(0, 9))
                orders.append({"number": str(number), "lines": lines, "total": f"{total:.2f}", "placed": day.isoformat()})
            addresses = [
                {"first_name": "", "last_name": account.title(), "line1": f"{by.choice(['Dock', 'Quay', 'Mill'])} road {by.randint(2, 90)}", "line4": city, "postcode": f"{by.randint(1000, 9999)} AB"}
                for city in by.sample(words.CITIES, 3)
            ]
            out[account] = {"word": self.words[account], "orders": orders, "addresses": addresses}
        return out

    def fill(self):
        super().fill()
        self.write_files({"customers.json": json.dumps(self.customers())})
        self.manage("shell", "-c", FILL)

    def tasks(self):
        customers = self.customers()
        products = list(self.products())

        def row(it):
            day = datetime.datetime.fromisoformat(it["placed"])
            return {
                "number": it["number"],
                "items": sum(count for _, count in it["lines"]),
                "total": {f"£{float(it['total']):,.2f}", it["total"]},
                "placed": {f"{day.day} {day:%B %Y}", f"{day:%Y-%m-%d}"},
            }

        def orders(values, account):
            return [row(it) for it in reversed(customers[account]["orders"])]

        def lines(values, account):
            it = next((it for it in customers[account]["orders"] if it["number"] == values["number"]), None)
            if not it:
                return None
            rows = []
            for at, count in it["lines"]:
                price = count * round(100 * float(products[at]["price"])) / 100
                rows.append({"title": products[at]["title"], "price": {f"£{price:,.2f}", f"{price:.2f}"}, "quantity": count})
            # The sums stand in the same table.
            sums = [{"name": name} for name in ("Basket total", "Shipping total", "Order total")]
            return rows, rows + sums

        def addresses(values, account):
            return [{"line": it["line1"], "city": it["line4"], "postcode": it["postcode"]} for it in customers[account]["addresses"]]

        numbers = [it["number"] for it in customers[FIRST]["orders"] if len(it["lines"]) > 1]
        return [
            Behind(
                "store-orders",
                "List my orders",
                "http://store.test/accounts/orders/",
                [{}, {}],
                [{"wait_for": {"text": "Order number"}}],
                orders,
                ordered=True,
                endpoint="/accounts/orders/",
            ),
            Behind(
                "store-order",
                "List the articles of my order {number}",
                "http://store.test/accounts/orders/",
                [{"number": it} for it in numbers[:4]],
                [{"click": {"role": "link", "name": "{number}"}}, {"wait_for": {"text": "Line price"}}],
                lines,
                endpoint="/accounts/orders/",
            ),
            Behind(
                "store-addresses",
                "List the addresses of my address book",
                "http://store.test/accounts/addresses/",
                [{}, {}],
                [{"wait_for": {"text": "Address"}}],
                addresses,
                endpoint="/accounts/addresses/",
            ),
            Behind(
                "store-search",
                "Search the shop for {query}",
                "http://store.test/catalogue/",
                [{"query": it} for it in ("kettle", "buoy", "brass", "hammock")],
                [
                    {"fill": {"role": "textbox", "name": "Search", "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"request": "/search/?q="}},
                    {"wait_for": {"selector": "article.product_pod"}},
                ],
                lambda values, account: [self.row(it) for it in self.products() if values["query"] in it["title"].lower()],
                page=20,
                endpoint="/search/",
                public=True,
            ),
        ]
