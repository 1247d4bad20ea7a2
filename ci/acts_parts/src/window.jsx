import React from "react"; import {createRoot} from "react-dom/client"; import {FixedSizeList} from "react-window";
const names = Array.from({length: 400}, (_, i) => `Contact ${String(i + 1).padStart(3, "0")}`);
// Rows have no key of their own: a row's nodes hold the next row's contents after scrolling.
const Row = ({index, style}) => <div style={style} role="listitem"><span>{names[index]}</span> <button onClick={() => did("call " + names[index])}>Call</button></div>;
const List = () => <FixedSizeList height={320} width={400} itemCount={400} itemSize={40} itemKey={index => index % 12} innerElementType="div" className="people" outerElementType={Outer}>{Row}</FixedSizeList>;
const Outer = React.forwardRef((props, ref) => <div ref={ref} role="list" aria-label="People" {...props} />);
createRoot(document.getElementById("app")).render(<List />);
