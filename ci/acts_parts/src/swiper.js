import Swiper from "swiper"; import {Navigation} from "swiper/modules"; import "swiper/css";
document.getElementById("app").innerHTML = `<div class="swiper" style="width:400px"><div class="swiper-wrapper">${[1, 2, 3].map(it => `<div class="swiper-slide" style="width:400px;height:80px"><button>Offer ${it}</button></div>`).join("")}</div></div><button id="next">Next slide</button>`;
const swiper = new Swiper(".swiper", {modules: [Navigation], speed: 200, navigation: {nextEl: "#next"}});
document.querySelector(".swiper").addEventListener("click", event => did(event.target.tagName === "BUTTON" ? event.target.textContent : "missed"));
