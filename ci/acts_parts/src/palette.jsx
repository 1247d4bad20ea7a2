import React from "react"; import {createRoot} from "react-dom/client"; import {Command} from "cmdk";
function App() {
  const [open, setOpen] = React.useState(false);
  React.useEffect(() => { const hear = e => { if (e.key === "k" && e.ctrlKey) { e.preventDefault(); setOpen(it => !it); } }; addEventListener("keydown", hear); return () => removeEventListener("keydown", hear); }, []);
  const pick = it => { setOpen(false); did("ran " + it); };
  return <div><p>Press Ctrl K</p><Command.Dialog open={open} onOpenChange={setOpen} label="Commands"><Command.Input aria-label="Command" /><Command.List><Command.Empty>Nothing</Command.Empty>
    <Command.Group heading="File">{["Open file", "Close file", "Close all files"].map(it => <Command.Item key={it} onSelect={() => pick(it)}>{it}</Command.Item>)}</Command.Group>
    <Command.Group heading="View">{["Zoom in", "Zoom out"].map(it => <Command.Item key={it} onSelect={() => pick(it)}>{it}</Command.Item>)}</Command.Group></Command.List></Command.Dialog></div>;
}
createRoot(document.getElementById("app")).render(<App />);
