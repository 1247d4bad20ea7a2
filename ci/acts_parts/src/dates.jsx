import React, {useState} from "react"; import {createRoot} from "react-dom/client";
import flatpickr from "flatpickr"; import {DayPicker} from "react-day-picker"; import dayjs from "dayjs";
import {LocalizationProvider} from "@mui/x-date-pickers/LocalizationProvider"; import {AdapterDayjs} from "@mui/x-date-pickers/AdapterDayjs"; import {DateField} from "@mui/x-date-pickers/DateField";
const iso = it => it ? `${it.getFullYear()}-${String(it.getMonth() + 1).padStart(2, "0")}-${String(it.getDate()).padStart(2, "0")}` : "none";
function App() {
  const [at, setAt] = useState(dayjs("2026-01-15")), [day, setDay] = useState(new Date(2026, 0, 15));
  React.useEffect(() => { window.picker = flatpickr("#picker", {defaultDate: "2026-01-15", dateFormat: "d.m.Y", allowInput: true}); }, []);
  return <div>
    <LocalizationProvider dateAdapter={AdapterDayjs}><DateField label="Arrival" value={at} onChange={setAt} format="DD/MM/YYYY" /></LocalizationProvider>
    <label>Inspection <input id="picker" /></label>
    <DayPicker mode="single" selected={day} onSelect={setDay} defaultMonth={day} />
    <button onClick={() => did([at?.isValid() ? at.format("YYYY-MM-DD") : "none", iso(window.picker.selectedDates[0]), iso(day)].join(" "))}>Save</button></div>;
}
createRoot(document.getElementById("app")).render(<App />);
