// Loaded before the suite: each of its requests to the daemon carries the token, and is otherwise as the suite made it, to the daemon's own
// port, with the Host and the Origin that a scenario chose. The suite has no option for headers.
import diagnostics from 'node:diagnostics_channel';
import http from 'node:http';

const { MCP_URL, MCP_TOKEN } = process.env;
const { origin, host, hostname, port } = new URL(MCP_URL);
const value = `Bearer ${MCP_TOKEN}`;

// `fetch`, and the client that it is made of.
diagnostics.subscribe('undici:request:create', ({ request }) => {
  if (String(request.origin) === origin) request.addHeader('authorization', value);
});

const request = http.request;
http.request = (options, ...rest) => {
  if (options?.hostname === hostname && String(options.port) === port)
    options = { ...options, headers: { ...options.headers, Authorization: value } };
  return request(options, ...rest);
};
