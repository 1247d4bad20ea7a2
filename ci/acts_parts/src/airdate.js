import AirDatepicker from "air-datepicker"; import en from "air-datepicker/locale/en"; import "air-datepicker/air-datepicker.css";
document.getElementById("app").innerHTML = `<label>From <input id="from"></label><button id="go">Search</button>`;
const pad = it => String(it).padStart(2, "0");
const picker = new AirDatepicker("#from", {locale: en, startDate: new Date(2026, 0, 1), autoClose: true, dateFormat: "yyyy-MM-dd"});
document.getElementById("go").onclick = () => did(picker.selectedDates.map(it => `${it.getFullYear()}-${pad(it.getMonth() + 1)}-${pad(it.getDate())}`).join() || "none");
