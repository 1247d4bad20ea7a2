import IMask from "imask"; import noUiSlider from "nouislider"; import "nouislider/dist/nouislider.css";
document.getElementById("app").innerHTML = `<label>Phone <input id="phone"></label><label>Amount <input id="amount"></label><div id="range" style="width:300px;margin:40px"></div><button id="save">Save</button>`;
const of = id => document.getElementById(id);
const phone = IMask(of("phone"), {mask: "+{49} 000 0000"});
const amount = IMask(of("amount"), {mask: Number, scale: 2, thousandsSeparator: ",", radix: ".", max: 100000});
const range = noUiSlider.create(of("range"), {start: [20, 80], connect: true, step: 5, range: {min: 0, max: 100}, handleAttributes: [{"aria-label": "Least"}, {"aria-label": "Most"}]});
of("save").onclick = () => did([phone.unmaskedValue, amount.typedValue, ...range.get().map(Number)].join(" "));
