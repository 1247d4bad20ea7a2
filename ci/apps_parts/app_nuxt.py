"""Nuxt: pages drawn on the server with their payload in them, an API of its own, and pages made beforehand with a payload beside them."""

import json
import os
import shutil
import unicodedata

import words
from app import App, Task

FILES = {
    "nuxt.config.ts": """import guides from "./server/data/guides.json";
export default defineNuxtConfig({
  compatibilityDate: "2025-07-15",
  devtools: { enabled: false },
  telemetry: false,
  nitro: { prerender: { routes: ["/guides", ...guides.map(it => `/guides/${it.topic}`)] } },
  routeRules: { "/guides": { prerender: true }, "/guides/**": { prerender: true } },
});
""",
    "tsconfig.json": '{ "extends": "./.nuxt/tsconfig.json" }\n',
    "app/app.vue": """<template><NuxtLayout><NuxtPage /></NuxtLayout></template>
""",
    "app/layouts/default.vue": """<script setup lang="ts">
const q = ref("");
const find = () => navigateTo({ path: "/search", query: { q: q.value } });
</script>
<template>
  <div>
    <header>
      <NuxtLink to="/">Dishes</NuxtLink> <NuxtLink to="/guides">Guides</NuxtLink>
      <form role="search" @submit.prevent="find"><input v-model="q" type="search" aria-label="Search dishes" /><button>Search</button></form>
    </header>
    <main><slot /></main>
  </div>
</template>
""",
    "app/pages/index.vue": """<template><h1>Dishes of the harbour kitchens</h1></template>
""",
    "app/components/DishCard.vue": """<script setup lang="ts">
defineProps<{ dish: any }>();
</script>
<template>
  <li class="dish"><h2><NuxtLink :to="`/dishes/${dish.slug}`">{{ dish.name }}</NuxtLink></h2>
    <span>{{ dish.town }}</span> <span>{{ dish.minutes }} min</span> <b>€ {{ dish.price.toFixed(2) }}</b> <i v-if="dish.vegan">vegan</i></li>
</template>
""",
    "app/pages/search.vue": """<script setup lang="ts">
const route = useRoute();
const page = computed(() => Number(route.query.page ?? 1));
const { data } = await useFetch("/api/dishes", { query: { q: computed(() => route.query.q ?? ""), page } });
</script>
<template>
  <div v-if="data">
    <h1>{{ data.total }} dishes for “{{ data.q }}”</h1>
    <ul><DishCard v-for="dish in data.dishes" :key="dish.slug" :dish="dish" /></ul>
    <NuxtLink v-if="data.total > page * 12" :to="{ query: { q: route.query.q, page: page + 1 } }">Next page</NuxtLink>
  </div>
</template>
""",
    "app/pages/dishes/[slug].vue": """<script setup lang="ts">
const route = useRoute();
const { data: dish, error } = await useFetch(`/api/dishes/${route.params.slug}`);
if (error.value) throw createError({ statusCode: 404, statusMessage: "There is no such dish" });
</script>
<template>
  <article v-if="dish">
    <h1>{{ dish.name }}</h1>
    <dl>
      <dt>Town</dt><dd>{{ dish.town }}</dd><dt>Time</dt><dd>{{ dish.minutes }} min</dd>
      <dt>Price</dt><dd>€ {{ dish.price.toFixed(2) }}</dd><dt>Added</dt><dd><NuxtTime :datetime="dish.added" locale="en-GB" day="numeric" month="long" year="numeric" time-zone="UTC" /></dd>
    </dl>
    <h2>Ingredients</h2>
    <ul><li v-for="it in dish.ingredients" :key="it.name">{{ it.grams }} g {{ it.name }}</li></ul>
  </article>
</template>
""",
    "app/pages/guides/index.vue": """<script setup lang="ts">
const { data: guides } = await useFetch("/api/guides");
</script>
<template><div><h1>Guides</h1><ul><li v-for="it in guides" :key="it.topic"><NuxtLink :to="`/guides/${it.topic}`">{{ it.title }}</NuxtLink></li></ul></div></template>
""",
    "app/pages/guides/[topic].vue": """<script setup lang="ts">
const route = useRoute();
const { data: guide } = await useFetch(`/api/guides/${route.params.topic}`);
</script>
<template>
  <article v-if="guide"><h1>{{ guide.title }}</h1><p>Takes {{ guide.hours }} hours.</p>
    <ol><li v-for="it in guide.steps" :key="it.text">{{ it.text }} <em>{{ it.minutes }} min</em></li></ol></article>
</template>
""",
    "server/api/dishes/index.get.ts": """import dishes from "../../data/dishes.json";
const plain = (text: string) => text.normalize("NFD").replace(/\\p{M}/gu, "").toLowerCase();
export default defineEventHandler(event => {
  const { q, page } = getQuery(event);
  const found = dishes.filter(it => plain(it.name + " " + it.town).includes(plain(String(q ?? ""))));
  const at = Number(page ?? 1) * 12;
  return { q: String(q ?? ""), total: found.length, dishes: found.slice(at - 12, at).map(({ ingredients, added, ...it }) => it) };
});
""",
    "server/api/dishes/[slug].get.ts": """import dishes from "../../data/dishes.json";
export default defineEventHandler(event => {
  const found = dishes.find(it => it.slug === getRouterParam(event, "slug"));
  if (!found) throw createError({ statusCode: 404, statusMessage: "There is no such dish" });
  return found;
});
""",
    "server/api/guides/index.get.ts": """import guides from "../../data/guides.json";
export default defineEventHandler(() => guides.map(({ topic, title }) => ({ topic, title })));
""",
    "server/api/guides/[topic].get.ts": """import guides from "../../data/guides.json";
export default defineEventHandler(event => guides.find(it => it.topic === getRouterParam(event, "topic")));
""",
}
TOPICS = ["smoking", "salting", "baking", "baking bread", "pickling", "drying", "steaming", "roasting"]


def plain(text):
    return "".join(it for it in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(it))


class Nuxt(App):
    name = "nuxt"
    kind = "Vue application"
    pins = ("nuxt@4.4.2",)
    hosts = ("dishes.test",)
    port = 8646
    seconds = 90

    def install(self):
        self.place.node(self.pins)

    def version(self):
        return self.pins[0].rpartition("@")[2]

    def dishes(self):
        by = words.seeded("nuxt")
        for at in range(1, 221):
            name = f"{by.choice(['Crème', 'Soup', 'Soup of peas', 'Pâté', 'Gulaš', 'Pie'])} no. {at}"
            yield {
                "slug": plain(name).replace(". ", "-").replace(" ", "-"),
                "name": name,
                "town": by.choice(words.PORTS[:7]),
                "minutes": by.randint(5, 180),
                "price": by.randint(8, 90) / 4,
                "vegan": by.choice([True, False]),
                "added": f"{by.randint(2019, 2024)}-{by.randint(1, 12):02}-{by.randint(1, 28):02}T00:00:00.000Z",
                "ingredients": [
                    {"name": it, "grams": by.randint(2, 80) * 5}
                    for it in by.sample(
                        ["leek", "peas", "rye flour", "butter", "crab", "dill", "onion", "barley"], by.randint(2, 5)
                    )
                ],
            }

    def guides(self):
        by = words.seeded("nuxt", "guides")
        for topic in TOPICS:
            yield {
                "topic": topic.replace(" ", "-"),
                "title": f"A guide to {topic}",
                "hours": by.randint(2, 30),
                "steps": [
                    {
                        "text": f"{by.choice(['Wash', 'Turn', 'Weigh', 'Cool'])} batch {at} {by.choice(['twice', 'slowly', 'in the shade'])}",
                        "minutes": by.randint(3, 90),
                    }
                    for at in range(1, by.randint(5, 8))
                ],
            }

    def fill(self):
        site = os.path.join(self.place.npm, "site")
        shutil.rmtree(site, ignore_errors=True)
        files = {
            **FILES,
            "server/data/dishes.json": json.dumps(list(self.dishes())),
            "server/data/guides.json": json.dumps(list(self.guides())),
            "package.json": json.dumps({"name": "dishes", "private": True, "type": "module"}),
        }
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(site, name)), exist_ok=True)
            with open(os.path.join(site, name), "w", encoding="utf-8") as file:
                file.write(text)
        program = os.path.join(self.place.npm, "node_modules", ".bin", "nuxt")
        self.run(program, "build", cwd=site, env={"NUXT_TELEMETRY_DISABLED": "1"}, seconds=500)

    def command(self, port):
        return (
            ["node", ".output/server/index.mjs"],
            os.path.join(self.place.npm, "site"),
            {"PORT": str(port), "HOST": "127.0.0.1"},
        )

    def found(self, values):
        rows = [it for it in self.dishes() if plain(values["query"]) in plain(f"{it['name']} {it['town']}")]
        return [{name: it[name] for name in ("name", "town", "minutes", "price")} for it in rows]

    def tasks(self):
        asked = [{"query": it} for it in ("Gulaš", "Soup of peas", "Varna", "creme")]
        sentence = "Search the dishes for {query} with town, time and price"
        return [
            Task(
                "nuxt-search",
                sentence,
                "http://dishes.test/",
                asked,
                [
                    {"fill": {"role": "searchbox", "name": "Search dishes", "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"text": "dishes for “{query}”"}},
                ],
                self.found,
                page=12,
                ordered=True,
                endpoint="api/dishes|search",
                ways=("steps", "har"),
            ),
            Task(
                "nuxt-document",
                sentence,
                "http://dishes.test/",
                asked,
                [{"navigate": "http://dishes.test/search?q={query}"}, {"wait_for": {"text": "dishes for “{query}”"}}],
                self.found,
                page=12,
                ordered=True,
                endpoint="search",
                ways=("steps", "har"),
            ),
            Task(
                "nuxt-guide",
                "Show the steps of the guide to {topic} with their minutes",
                "http://dishes.test/",
                [{"topic": it} for it in ("salting", "baking bread", "drying", "steaming")],
                [
                    # What it links to is loaded ahead as soon as the page's own program runs.
                    {"wait_for": {"request": "guides/_payload.json"}},
                    {"click": {"role": "link", "name": "Guides"}},
                    {"click": {"role": "link", "name": "A guide to {topic}"}},
                    {"wait_for": {"text": "Takes"}},
                ],
                lambda values: next(it["steps"] for it in self.guides() if it["topic"] == values["topic"].replace(" ", "-")),
                ordered=True,
                endpoint="guides",
                ways=("steps", "har"),
            ),
            Task(
                "nuxt-dish",
                "Show the dish {slug} with its ingredients",
                "http://dishes.test/",
                [{"slug": it["slug"]} for it in list(self.dishes())[10:200:50]],
                [{"navigate": "http://dishes.test/dishes/{slug}"}, {"wait_for": {"text": "Ingredients"}}],
                lambda values: [
                    {
                        **{name: it[name] for name in ("name", "town", "minutes", "price")},
                        "added": it["added"][:10],
                        **{part["name"]: f"{part['grams']}" for part in it["ingredients"]},
                        **{f"{part['name']} name": part["name"] for part in it["ingredients"]},
                    }
                    for it in self.dishes()
                    if it["slug"] == values["slug"]
                ],
                one=True,
                endpoint="dishes/",
                ways=("steps", "har"),
            ),
        ]
