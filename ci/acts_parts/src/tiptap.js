import {Editor} from "@tiptap/core"; import StarterKit from "@tiptap/starter-kit";
const editor = new Editor({element: document.getElementById("app"), extensions: [StarterKit], content: "<p>old text</p><ul><li><p>old item</p></li></ul>", editorProps: {attributes: {"aria-label": "Body", role: "textbox", "aria-multiline": "true"}}});
document.getElementById("save").onclick = () => did(editor.getText({blockSeparator: "\n"}));
