import {combine} from "@atlaskit/pragmatic-drag-and-drop/combine"; import {draggable, dropTargetForElements} from "@atlaskit/pragmatic-drag-and-drop/element/adapter";
const app = document.getElementById("app"); app.style.display = "flex";
app.innerHTML = ["Todo", "Doing", "Done"].map(it => `<section aria-label="${it}" style="width:180px;height:360px;border:1px solid;margin:4px;overflow:auto"><h3>${it}</h3></section>`).join("");
const columns = [...app.children];
for (let i = 1; i <= 12; i++) columns[0].insertAdjacentHTML("beforeend", `<div role="button" tabindex="0" style="border:1px solid;margin:4px;height:40px">Card ${i}</div>`);
for (const it of app.querySelectorAll("[role=button]")) draggable({element: it, getInitialData: () => ({name: it.textContent})});
combine(...columns.map(element => dropTargetForElements({element, onDrop: ({source, location}) => {
  if (location.current.dropTargets[0]?.element !== element) return;
  element.append(source.element); did(source.data.name + " to " + element.getAttribute("aria-label"));
}})));
