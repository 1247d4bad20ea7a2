"""A CycloneDX bill of materials of what is compiled into the program, from `cargo metadata` on standard input; to the file that
is named. Procedural macros are in it, what only tests and build scripts need is not. The result is validated against the schema."""

import json
import sys

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

metadata = json.load(sys.stdin)
packages = {it["id"]: it for it in metadata["packages"]}
nodes = {it["id"]: it for it in metadata["resolve"]["nodes"]}
root = metadata["resolve"]["root"]


def needs(id):
    return [it["pkg"] for it in nodes[id]["deps"] if any(kind["kind"] is None for kind in it["dep_kinds"])]


# Cargo.lock's checksums, by name and version.
sums = {}
for block in open("Cargo.lock").read().split("[[package]]")[1:]:
    fields = dict(line.split(" = ", 1) for line in block.splitlines() if " = " in line)
    if "checksum" in fields:
        sums[json.loads(fields["name"]), json.loads(fields["version"])] = json.loads(fields["checksum"])


def component(id):
    it = packages[id]
    name, version = it["name"], it["version"]
    digest = sums.get((name, version))
    licence = it["license"] and it["license"].replace("/", " OR ")
    return Component(
        type=ComponentType.APPLICATION if id == root else ComponentType.LIBRARY,
        name=name,
        version=version,
        bom_ref=f"{name}@{version}",
        purl=PackageURL("cargo", name=name, version=version),
        licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)] if digest else [],
    )


seen, todo = {}, [root]
while todo:
    id = todo.pop()
    if id not in seen:
        seen[id] = component(id)
        todo += needs(id)

bom = Bom()
bom.metadata.component = seen[root]
for id, it in seen.items():
    if id != root:
        bom.components.add(it)
    bom.register_dependency(it, [seen[other] for other in needs(id)])
text = JsonV1Dot6(bom).output_as_string(indent=1)
wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
if wrong:
    sys.exit(f"not CycloneDX: {wrong}")
open(sys.argv[1], "w").write(text)
bare = [it.name for it in bom.components if not it.licenses]
print(f"bill of materials: {sys.argv[1]}, {len(bom.components)} libraries, without a licence: {bare or 'none'}")
