import "@vaadin/combo-box"; import "@vaadin/date-picker";
document.getElementById("app").innerHTML = `<vaadin-combo-box label="Port"></vaadin-combo-box><vaadin-date-picker label="Sails" value="2026-01-15"></vaadin-date-picker><button id="go">Book</button>`;
const port = document.querySelector("vaadin-combo-box"), day = document.querySelector("vaadin-date-picker");
port.items = Array.from({length: 300}, (_, i) => "Port " + (i + 1));
document.getElementById("go").onclick = () => did(port.value + " " + day.value);
