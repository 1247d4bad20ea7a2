import {GridStack} from "gridstack"; import "gridstack/dist/gridstack.min.css";
const app = document.getElementById("app"); app.className = "grid-stack"; app.style.width = "800px";
const grid = GridStack.init({cellHeight: 80, column: 4, float: true, animate: false, columnOpts: {breakpoints: []}}, app);
GridStack.renderCB = (el, w) => { el.textContent = w.content; };
for (const [content, x, y] of [["Sales", 0, 0], ["Costs", 1, 0], ["Stock", 0, 2]]) grid.addWidget({x, y, w: 1, h: 1, content, id: content});
grid.on("change", (_, all) => did(all.map(it => `${it.id} at ${it.x},${it.y}`).sort().join("; ")));
