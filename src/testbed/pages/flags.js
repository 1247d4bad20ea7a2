fetch('/api/feature-flags').then(r => r.json()).then(({ flags }) => {
  for (const flag of flags) document.documentElement.dataset[flag.key.replaceAll('_', '')] = flag.enabled;
});
