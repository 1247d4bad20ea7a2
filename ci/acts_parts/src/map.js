import L from "leaflet"; import "leaflet/dist/leaflet.css";
const app = document.getElementById("app"); app.style.width = "500px"; app.style.height = "300px";
const map = L.map(app, {center: [0, 0], zoom: 2, zoomAnimation: false, fadeAnimation: false, markerZoomAnimation: false, inertia: false});
const icon = L.divIcon({html: "", className: "pin", iconSize: [30, 30]});
const pin = L.marker([0, 0], {draggable: true, icon, title: "Warehouse", alt: "Warehouse"}).addTo(map);
pin.on("click", () => did("pin")); pin.on("dragend", () => { const at = map.latLngToContainerPoint(pin.getLatLng()); did(`pin to ${Math.round(at.x / 50) * 50},${Math.round(at.y / 50) * 50}`); });
map.on("click", event => did(`map ${Math.round(event.containerPoint.x / 10) * 10},${Math.round(event.containerPoint.y / 10) * 10}`));
