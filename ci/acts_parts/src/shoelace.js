import "@shoelace-style/shoelace/dist/components/input/input.js"; import "@shoelace-style/shoelace/dist/components/select/select.js";
import "@shoelace-style/shoelace/dist/components/option/option.js"; import "@shoelace-style/shoelace/dist/components/checkbox/checkbox.js";
import "@shoelace-style/shoelace/dist/components/switch/switch.js"; import "@shoelace-style/shoelace/dist/components/button/button.js";
import "@material/web/textfield/filled-text-field.js"; import "@material/web/checkbox/checkbox.js"; import "@material/web/switch/switch.js";
document.getElementById("app").innerHTML = `<sl-input label="Name" maxlength="6"></sl-input><sl-checkbox>Gift</sl-checkbox> <sl-switch>Loud</sl-switch>
<sl-select label="Size"><sl-option value="s">Small</sl-option><sl-option value="l">Large</sl-option></sl-select>
<md-filled-text-field label="Street"></md-filled-text-field><label>Terms <md-checkbox></md-checkbox></label><label>Dark <md-switch></md-switch></label><sl-button>Save</sl-button>`;
const of = name => document.querySelector(name);
of("sl-button").addEventListener("click", () => did([of("sl-input").value, of("sl-checkbox").checked, of("sl-switch").checked, of("sl-select").value, of("md-filled-text-field").value, of("md-checkbox").checked, of("md-switch").selected].join(" ")));
