"""Words that data is made of. Nothing here names a person or a firm."""

import random

SHIPS = "barge cutter lugger ketch yawl sloop schooner brig clipper dinghy".split()
PORTS = "Kiel Turku Split Brest Genoa Bergen Porto Cork Ghent Esbjerg".split()
GEAR = "winch pump radar rudder anchor hatch valve crane buoy mast".split()
CITIES = "Lisbon Oslo Graz Leipzig Bergen Porto Salzburg Dresden Turku Ghent".split()
WORKS = (
    "bridge repair,street lighting,school furniture,snow removal,water pipes,road salt,playground equipment,"
    "bus shelters,asphalt works,office paper,waste collection,heat pumps,tree care"
).split(",")


def seeded(*what):
    """A generator that depends on what is given and on nothing else."""
    return random.Random("/".join(map(str, what)))
