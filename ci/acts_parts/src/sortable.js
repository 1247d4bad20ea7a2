import Sortable from "sortablejs";
const list = document.getElementById("app"), count = Number(new URLSearchParams(location.search).get("n"));
for (let i = 1; i <= count; i++) list.insertAdjacentHTML("beforeend", `<div role="button" tabindex="0" style="border:1px solid;height:34px;margin:2px;width:240px">Row ${i}</div>`);
new Sortable(list, {animation: 100, forceFallback: location.search.includes("fallback"), onEnd: event => did("moved " + event.item.textContent + " to " + (event.newIndex + 1))});
