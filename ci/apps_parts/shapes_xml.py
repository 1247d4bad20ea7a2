"""Interfaces that answer in XML, drawn by the page's script."""

from shapes import e, pick, shape, ships

# Of one fleet there is one ship alone: XML does not say that it is one of a list.
COUNTS = {"Meridian": 12, "Tempest": 9, "Halcyon": 1, "Sirius": 5}


def rows_of(query):
    return ships(query, COUNTS.get(query, 0))


def attributes(rows):
    ships_of = "".join(f'<ship id="{it["id"]}" name="{e(it["name"])}"><port>{e(it["port"])}</port><price>{it["price"]}</price></ship>' for it in rows)
    return f'<?xml version="1.0"?><answer count="{len(rows)}">{ships_of}</answer>'


def feed(rows):
    items = "".join(
        f"<item><title>{e(it['name'])}</title><description><![CDATA[{it['port']}]]></description><ops:price>{it['price']}</ops:price>"
        f'<guid isPermaLink="false">{it["id"]}</guid></item>'
        for it in rows
    )
    head = '<?xml version="1.0" encoding="UTF-8"?><rss version="2.0" xmlns:ops="http://pages.test/ops"><channel><title>Ships</title>'
    return f"{head}<link>http://pages.test/</link>{items}</channel></rss>"


APIS = {
    "xml-attributes": (attributes, "text/xml; charset=utf-8"),
    "xml-feed": (feed, "application/rss+xml"),
}


def api(name, query):
    write, mime = APIS[name]
    return write(rows_of(query)), mime


def drawn(name, item, title, port, price):
    """A page whose script asks for XML and draws its items, each read by the expressions given."""
    return (
        '<p id="told"></p><div id="out"></div><script>'
        "document.querySelector('form').addEventListener('submit',async ev=>{ev.preventDefault();const q=document.querySelector('input').value;"
        f"const a=await fetch('/api/{name}?q='+encodeURIComponent(q));"
        "const d=new DOMParser().parseFromString(await a.text(),'text/xml');const t=(i,n)=>i.getElementsByTagName(n)[0].textContent;"
        f"document.getElementById('out').innerHTML='<ul>'+[...d.getElementsByTagName('{item}')]"
        f".map(i=>`<li><b>${{{title}}}</b> ${{{port}}} <i>${{{price}}} €</i></li>`).join('')+'</ul>';"
        "document.getElementById('told').textContent='Results for '+q})</script>"
    )


def scripted(query):
    return "", pick(rows_of(query), "name", "port", "price")


shape("xml-attributes", script=drawn("xml-attributes", "ship", "i.getAttribute('name')", "t(i,'port')", "t(i,'price')"))(scripted)
shape("xml-feed", script=drawn("xml-feed", "item", "t(i,'title')", "t(i,'description')", "t(i,'ops:price')"))(scripted)
