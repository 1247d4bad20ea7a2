"""Gradio: a form whose answer comes over a stream of events."""

import json
import os

import words
from app import App, Task

PROGRAM = """
import sys, json
import gradio as gr
lines = json.load(open(sys.argv[2]))
def find(city):
    return lines.get(city, [])
gr.Interface(find, gr.Textbox(label="City"), gr.Dataframe(headers=["line", "stops"]), title="Tram lines").launch(
    server_name="127.0.0.1", server_port=int(sys.argv[1]), share=False)
"""


class Gradio(App):
    name = "gradio"
    kind = "demo of a model"
    pins = ("gradio==6.31.0",)
    hosts = ("trams.test",)
    port = 8627
    seconds = 120

    def lines(self):
        by = words.seeded("gradio")
        kinds = ["north", "south", "ring", "harbour", "express", "night"]
        return {city: [[f"{city} {it}", by.randint(5, 60)] for it in by.sample(kinds, 3)] for city in words.CITIES}

    def fill(self):
        for name, text in (("site.py", PROGRAM), ("lines.json", json.dumps(self.lines()))):
            with open(os.path.join(self.place.data, name), "w", encoding="utf-8") as file:
                file.write(text)

    def command(self, port):
        env = {
            "HF_HUB_OFFLINE": "1",
            "GRADIO_TEMP_DIR": self.place.data,
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
        }
        return [self.place.bin("python"), "site.py", port, "lines.json"], None, env

    def tasks(self):
        return [
            Task(
                "gradio-trams",
                "List the tram lines of the city {city}",
                "http://trams.test/",
                [{"city": it} for it in ("Lyon", "Krakow", "Utrecht", "Malmo")],
                [
                    {"fill": {"role": "textbox", "name": "City", "value": "{city}"}},
                    {"click": {"role": "button", "name": "Submit"}},
                    {"wait_for": {"request": "/gradio_api/queue/data"}},
                    {"wait_for": {"text": "{city} "}},
                ],
                lambda values: [{"line": name, "stops": stops} for name, stops in self.lines()[values["city"]]],
                answerable=False,
                because="the answer comes over a stream of events that another request opened",
            ),
        ]
