import {TabulatorFull as Tabulator} from "tabulator-tables"; import "tabulator-tables/dist/css/tabulator.min.css";
const data = Array.from({length: 300}, (_, i) => ({id: i + 1, name: "Lot " + (i + 1), bid: 10 + i, open: i % 2 === 0}));
const it = new Tabulator("#app", {data, height: 300, columns: [
  {title: "Name", field: "name", width: 160}, {title: "Bid", field: "bid", editor: "number", width: 100},
  {title: "Open", field: "open", formatter: "tickCross", editor: true, width: 80},
  {title: "Kind", field: "kind", editor: "list", editorParams: {values: ["art", "coin", "map"]}, width: 120}]});
it.on("cellEdited", cell => did(cell.getRow().getData().name + " " + cell.getField() + " " + cell.getValue()));
