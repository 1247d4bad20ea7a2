import Konva from "konva";
const stage = new Konva.Stage({container: "app", width: 500, height: 300}), layer = new Konva.Layer();
for (const [name, x, fill] of [["red", 80, "red"], ["blue", 200, "blue"]]) {
  const it = new Konva.Circle({x, y: 100, radius: 30, fill, draggable: true});
  it.on("click", () => did("click " + name));
  it.on("dragend", () => did(`drag ${name} to ${Math.round(it.x() / 50) * 50},${Math.round(it.y() / 50) * 50}`));
  layer.add(it);
}
stage.add(layer);
