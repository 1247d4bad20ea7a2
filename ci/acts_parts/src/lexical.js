import {createEditor, $getRoot, $createParagraphNode, $createTextNode} from "lexical"; import {registerPlainText} from "@lexical/plain-text";
const app = document.getElementById("app"); app.innerHTML = `<div id="text" contenteditable="true" role="textbox" aria-multiline="true" aria-label="Note" style="border:1px solid;width:400px;min-height:80px"></div>`;
const editor = createEditor({namespace: "note", onError: it => { throw it; }});
editor.setRootElement(document.getElementById("text")); registerPlainText(editor);
editor.update(() => $getRoot().append($createParagraphNode().append($createTextNode("old text"))));
document.getElementById("save").onclick = () => did(editor.getEditorState().read(() => $getRoot().getTextContent()));
