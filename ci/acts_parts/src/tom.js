import TomSelect from "tom-select"; import "tom-select/dist/css/tom-select.css";
document.getElementById("app").innerHTML = `<label for="tags">Tags</label><select id="tags" multiple placeholder="choose"><option value="r" selected>Red</option><option value="g">Green</option><option value="b">Blue</option></select><button id="after">After</button>`;
const it = new TomSelect("#tags", {plugins: ["remove_button"]});
it.on("change", value => did("tags " + [].concat(value).join()));
document.getElementById("after").onclick = () => did("after");
