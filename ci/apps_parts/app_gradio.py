"""Gradio: a form whose answer comes over a stream of events."""

import json
import os

import words
from app import App, Task

PROGRAM = """
import sys, json
import gradio as gr
sights = json.load(open(sys.argv[2]))
def find(city):
    return sights.get(city, [])
gr.Interface(find, gr.Textbox(label="City"), gr.Dataframe(headers=["sight", "built"]), title="Sights").launch(
    server_name="127.0.0.1", server_port=int(sys.argv[1]), share=False)
"""


class Gradio(App):
    name = "gradio"
    kind = "demo of a model"
    pins = ("gradio==6.31.0",)
    hosts = ("sights.test",)
    port = 8627
    seconds = 120

    def sights(self):
        by = words.seeded("gradio")
        kinds = ["tower", "castle", "palace", "bridge", "market", "theatre"]
        return {city: [[f"{city} {it}", by.randint(1100, 1990)] for it in by.sample(kinds, 3)] for city in words.CITIES}

    def fill(self):
        for name, text in (("site.py", PROGRAM), ("sights.json", json.dumps(self.sights()))):
            with open(os.path.join(self.place.data, name), "w", encoding="utf-8") as file:
                file.write(text)

    def command(self, port):
        env = {"HF_HUB_OFFLINE": "1", "GRADIO_TEMP_DIR": self.place.data, "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}
        return [self.place.bin("python"), "site.py", port, "sights.json"], None, env

    def tasks(self):
        return [
            Task(
                "gradio-sights",
                "List the sights of the city {city}",
                "http://sights.test/",
                [{"city": it} for it in ("Lisbon", "Oslo", "Graz", "Turku")],
                [
                    {"fill": {"role": "textbox", "name": "City", "value": "{city}"}},
                    {"click": {"role": "button", "name": "Submit"}},
                    {"wait_for": {"request": "/gradio_api/queue/data"}},
                    {"wait_for": {"text": "{city} "}},
                ],
                lambda values: [{"sight": name, "built": year} for name, year in self.sights()[values["city"]]],
                answerable=False,
                because="the answer comes over a stream of events that another request opened",
            ),
        ]
