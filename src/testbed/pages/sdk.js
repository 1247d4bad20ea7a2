(() => {
  const project = document.currentScript?.dataset.project ?? location.hostname;
  fetch('//config.flagsrv.test/v1/flags?env=production&project=' + project, { headers: { 'x-sdk-version': 'web/2.9.0' } })
    .then(r => r.json()).then(config => { window.flags = config.flags; });
})();
