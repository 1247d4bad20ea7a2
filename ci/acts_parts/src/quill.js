import Quill from "quill"; import "quill/dist/quill.snow.css";
const app = document.getElementById("app"); app.innerHTML = "<div id=text><p>old text</p></div>";
const it = new Quill("#text", {theme: "snow", modules: {toolbar: ["bold", {list: "bullet"}]}});
it.root.setAttribute("role", "textbox"); it.root.setAttribute("aria-label", "Body");
document.getElementById("save").onclick = () => did(it.getText());
document.getElementById("html").onclick = () => did(it.root.innerHTML.includes("<strong>") ? "bold" : "plain");
