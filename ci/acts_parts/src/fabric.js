import {Canvas, Rect} from "fabric";
document.getElementById("app").innerHTML = `<canvas id="plan" width="500" height="300"></canvas>`;
const canvas = new Canvas("plan");
for (const [name, left, fill] of [["desk", 40, "tan"], ["shelf", 240, "grey"]]) {
  const it = new Rect({left, top: 60, originX: "left", originY: "top", width: 100, height: 60, fill, hasControls: false});
  it.on("mousedown", () => did("press " + name)); canvas.add(it);
  it.on("modified", () => did(`moved ${name} to ${Math.round(it.left / 20) * 20},${Math.round(it.top / 20) * 20}`));
}
