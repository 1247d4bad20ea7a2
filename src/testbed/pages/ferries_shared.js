onconnect = ({ ports: [port] }) => {
  port.onmessage = async ({ data: island }) => {
    const response = await fetch('/api/crossings?island=' + encodeURIComponent(island));
    port.postMessage({ island, answer: await response.json() });
  };
};
