import React, {useState} from "react"; import {createRoot} from "react-dom/client"; import {Dialog, DialogPanel, DialogTitle} from "@headlessui/react";
function App() {
  const [open, setOpen] = useState(true);
  return <div><button onClick={() => did("behind")}>Behind</button>
    <Dialog open={open} onClose={() => {}} style={{position: "relative", zIndex: 10}}><div style={{position: "fixed", inset: 0, background: "#0008"}} /><div style={{position: "fixed", inset: 0, display: "flex", alignItems: "center", justifyContent: "center"}}>
      <DialogPanel style={{background: "white", padding: 30}}><DialogTitle>Accept the terms</DialogTitle><button onClick={() => { did("agreed"); setOpen(false); }}>Agree</button></DialogPanel></div></Dialog></div>;
}
createRoot(document.getElementById("app")).render(<App />);
