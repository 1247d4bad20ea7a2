import {basicSetup, EditorView} from "codemirror"; import {javascript} from "@codemirror/lang-javascript";
const app = document.getElementById("app"); app.style.width = "500px";
const view = new EditorView({doc: "let old = [1];\nfunction gone() {\n}\n", extensions: [basicSetup, javascript(), EditorView.contentAttributes.of({"aria-label": "Code"})], parent: app});
document.getElementById("save").onclick = () => did(view.state.doc.toString());
