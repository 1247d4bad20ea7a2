import Tagify from "@yaireo/tagify"; import "@yaireo/tagify/dist/tagify.css";
document.getElementById("app").innerHTML = `<label>Labels <input id="labels" value="red"></label><button id="go">Save</button>`;
const it = new Tagify(document.getElementById("labels"), {whitelist: ["red", "green", "grey", "blue"], dropdown: {enabled: 1}});
document.getElementById("go").onclick = () => did(it.value.map(it => it.value).join());
