import React from "react"; import {createRoot} from "react-dom/client"; import {DragDropContext, Droppable, Draggable} from "@hello-pangea/dnd";
const start = {Inbox: ["Mail 1", "Mail 2", "Mail 3", "Mail 4"], Later: ["Mail 5"]};
function App() {
  const [all, setAll] = React.useState(start);
  const moved = ({source, destination}) => {
    if (!destination) return;
    const next = {Inbox: [...all.Inbox], Later: [...all.Later]};
    const [it] = next[source.droppableId].splice(source.index, 1);
    next[destination.droppableId].splice(destination.index, 0, it);
    setAll(next); did(`${it} in ${destination.droppableId}`);
  };
  return <DragDropContext onDragEnd={moved}><div style={{display: "flex"}}>{Object.keys(all).map(name => <Droppable key={name} droppableId={name}>{drop =>
    <section aria-label={name} ref={drop.innerRef} {...drop.droppableProps} style={{width: 200, minHeight: 300, border: "1px solid", margin: 6}}>{all[name].map((it, i) => <Draggable key={it} draggableId={it} index={i}>{drag =>
      <div ref={drag.innerRef} {...drag.draggableProps} {...drag.dragHandleProps} style={{height: 36, border: "1px solid", margin: 3, ...drag.draggableProps.style}}>{it}</div>}</Draggable>)}{drop.placeholder}</section>}</Droppable>)}</div></DragDropContext>;
}
createRoot(document.getElementById("app")).render(<App />);
