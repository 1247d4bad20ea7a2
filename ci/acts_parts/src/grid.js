import {createGrid, ModuleRegistry, AllCommunityModule} from "ag-grid-community";
ModuleRegistry.registerModules([AllCommunityModule]);
const app = document.getElementById("app"); app.style.height = "320px"; app.style.width = "600px";
const rowData = Array.from({length: 500}, (_, i) => ({name: "Part " + String.fromCharCode(65 + i % 26) + (i + 1), stock: i + 10}));
const button = ({data}) => { const it = document.createElement("button"); it.textContent = "Order"; it.onclick = () => did("order " + data.name); return it; };
createGrid(app, {rowData, columnDefs: [{field: "name"}, {field: "stock", editable: true}, {headerName: "Act", cellRenderer: button}], onCellValueChanged: event => did(`${event.data.name} ${event.newValue}`)});
