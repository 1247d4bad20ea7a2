onmessage = async ({ data: name }) => {
  const response = await fetch('/api/stars?name=' + encodeURIComponent(name));
  postMessage({ name, answer: await response.json() });
};
