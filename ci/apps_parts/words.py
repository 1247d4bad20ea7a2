"""Words that data is made of. Nothing here names a person or a firm."""

import random

SHIPS = "trawler tender collier packet whaler frigate corvette skiff tanker galley".split()
PORTS = "Gdynia Malmo Varna Aarhus Trieste Nantes Setubal Bilbao Rijeka Tallinn".split()
GEAR = "capstan ladder davit sextant bollard gangway windlass fender lantern propeller".split()
CITIES = "Lyon Krakow Utrecht Bologna Nantes Setubal Seville Tampere Malmo Rijeka".split()
WORKS = "roof garden,solar panels,bay window,bicycle shed,shop sign,wooden fence,glass porch,chimney,well,stone wall,garage,tree house".split(
    ","
)


def seeded(*what):
    """A generator that depends on what is given and on nothing else."""
    return random.Random("/".join(map(str, what)))
