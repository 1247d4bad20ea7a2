import React, {useState} from "react"; import {createRoot} from "react-dom/client"; import Select from "react-select";
import * as Radix from "@radix-ui/react-select";
import {Listbox, ListboxButton, ListboxOptions, ListboxOption, Combobox, ComboboxInput, ComboboxOptions, ComboboxOption} from "@headlessui/react";
const towns = ["Aachen", "Bergen", "Cork", "Delft", "Faro", "Genoa", "Hull", "Izmir"].map(it => ({value: it.toLowerCase(), label: it}));
function App() {
  const [to, setTo] = useState(towns[0]), [then, setThen] = useState(null), [words, setWords] = useState("");
  return <div>
    <label id="from" htmlFor="from-input">From</label><Select inputId="from-input" aria-labelledby="from" options={towns} onChange={it => did("from " + it.value)} menuPortalTarget={document.body} />
    <span id="via">Via</span><Radix.Root onValueChange={it => did("via " + it)}><Radix.Trigger aria-labelledby="via"><Radix.Value placeholder="choose" /></Radix.Trigger><Radix.Portal><Radix.Content position="popper"><Radix.Viewport>{towns.map(it => <Radix.Item key={it.value} value={it.value}><Radix.ItemText>{it.label}</Radix.ItemText></Radix.Item>)}</Radix.Viewport></Radix.Content></Radix.Portal></Radix.Root>
    <span id="to">To</span><Listbox value={to} onChange={it => { setTo(it); did("to " + it.value); }}><ListboxButton aria-labelledby="to">{to.label}</ListboxButton><ListboxOptions anchor="bottom">{towns.map(it => <ListboxOption key={it.value} value={it}>{it.label}</ListboxOption>)}</ListboxOptions></Listbox>
    <Combobox value={then} onChange={it => { setThen(it); did("then " + it.value); }}><ComboboxInput aria-label="Then" displayValue={it => it?.label ?? ""} onChange={e => setWords(e.target.value)} /><ComboboxOptions anchor="bottom">{towns.filter(it => it.label.toLowerCase().includes(words.toLowerCase())).map(it => <ComboboxOption key={it.value} value={it}>{it.label}</ComboboxOption>)}</ComboboxOptions></Combobox>
  </div>;
}
createRoot(document.getElementById("app")).render(<App />);
