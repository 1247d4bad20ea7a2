import React from "react"; import {createRoot} from "react-dom/client"; import {Virtuoso} from "react-virtuoso";
// Rows are as high as their text, and a row more comes at the top every second.
function Feed() {
  const [from, setFrom] = React.useState(1000);
  React.useEffect(() => { const it = setInterval(() => setFrom(from => from - 1), 1000); return () => clearInterval(it); }, []);
  const row = i => <div role="listitem" style={{padding: 6 + i % 3 * 10, borderBottom: "1px solid"}}><span>Post {i}</span> <button onClick={() => did("like " + i)}>Like</button></div>;
  return <Virtuoso style={{height: 320, width: 400}} firstItemIndex={from} totalCount={1300 - from} initialTopMostItemIndex={0} itemContent={row} />;
}
createRoot(document.getElementById("app")).render(<Feed />);
