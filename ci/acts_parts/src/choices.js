import Choices from "choices.js"; import "choices.js/public/assets/styles/choices.css";
document.getElementById("app").innerHTML = `<label for="land">Land</label><select id="land">${["Norway", "Niger", "Nigeria", "Nepal", "Norfolk"].map(it => `<option>${it}</option>`).join("")}</select>`;
new Choices("#land", {shouldSort: false, itemSelectText: ""}).passedElement.element.addEventListener("choice", event => did("land " + event.detail.value));
