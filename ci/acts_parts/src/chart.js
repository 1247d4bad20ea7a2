import {Chart, BarController, BarElement, CategoryScale, LinearScale, LineController, LineElement, PointElement, Legend} from "chart.js";
Chart.register(BarController, BarElement, CategoryScale, LinearScale, LineController, LineElement, PointElement, Legend);
const app = document.getElementById("app"); app.style.width = "600px"; app.innerHTML = `<canvas id="sales" width="600" height="300" aria-label="Sales" role="img"></canvas>`;
new Chart("sales", {type: "bar", data: {labels: ["Jan", "Feb", "Mar", "Apr"], datasets: [{label: "North", data: [5, 9, 7, 8]}]},
  options: {responsive: false, animation: false, scales: {y: {min: 0, max: 10}}, onClick: (event, hit, chart) => did("bar " + (hit.length ? chart.data.labels[hit[0].index] : "none"))}});
