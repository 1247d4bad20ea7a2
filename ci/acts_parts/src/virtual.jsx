import React from "react"; import {createRoot} from "react-dom/client"; import {useVirtualizer} from "@tanstack/react-virtual";
// Rows are measured as they come, and sorted another way by a button.
function App() {
  const [down, setDown] = React.useState(false), outer = React.useRef(null);
  const rows = useVirtualizer({count: 500, getScrollElement: () => outer.current, estimateSize: () => 40});
  const name = i => "File " + (down ? 500 - i : i + 1);
  return <div><button onClick={() => setDown(it => !it)}>Sort</button><div ref={outer} role="list" style={{height: 300, width: 360, overflow: "auto"}}><div style={{height: rows.getTotalSize(), position: "relative"}}>{rows.getVirtualItems().map(it =>
    <div key={it.key} role="listitem" ref={rows.measureElement} data-index={it.index} style={{position: "absolute", top: 0, width: "100%", transform: `translateY(${it.start}px)`}}><p>{name(it.index)}{it.index % 2 ? <small><br />shared</small> : null} <button onClick={() => did("delete " + name(it.index))}>Delete</button></p></div>)}</div></div></div>;
}
createRoot(document.getElementById("app")).render(<App />);
