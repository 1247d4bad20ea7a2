const app = { bearer: '{{bearer}}', queries: { Notices: '{{hash}}', Profile: '00aa11bb22cc33dd44ee' } };
const show = async () => {
  const kind = document.getElementById('kind').value;
  const variables = kind ? { kind } : {};
  const csrf = document.cookie.match(/shutter_csrf=([^;]+)/)[1];
  const answer = await fetch(`/q/${app.queries.Notices}/Notices?variables=${encodeURIComponent(JSON.stringify(variables))}`, {
    headers: { authorization: 'Bearer ' + app.bearer, 'x-csrf': csrf },
  });
  const { data } = await answer.json();
  document.getElementById('notices').innerHTML = data.notices.edges.map(({ node: it }) =>
    `<li><b>${it.who}</b> <span class="what">${it.what}</span> <time>${it.when}</time> <a href="${it.link}">picture</a></li>`).join('');
  document.getElementById('status').textContent = `${data.notices.edges.length} notifications`;
};
document.getElementById('ask').onsubmit = event => { event.preventDefault(); show(); };
show();
