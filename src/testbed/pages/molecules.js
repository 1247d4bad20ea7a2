// Reads a message into { field: [values] }; bytes stay bytes.
function read(bytes) {
  const message = {};
  let at = 0;
  const varint = () => {
    let value = 0, shift = 1;
    for (;;) {
      const byte = bytes[at++];
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) return value;
      shift *= 128;
    }
  };
  while (at < bytes.length) {
    const key = varint();
    let value = varint();
    if ((key & 7) === 2) {
      at += value;
      value = bytes.subarray(at - value, at);
    }
    (message[key >> 3] ??= []).push(value);
  }
  return message;
}
const text = bytes => new TextDecoder().decode(bytes);
document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const name = document.getElementById('q').value.trim();
  const response = await fetch('/v1/compounds:search?name=' + encodeURIComponent(name), { headers: { accept: 'application/x-protobuf' } });
  const found = read(new Uint8Array(await response.arrayBuffer()));
  document.getElementById('status').textContent = `${found[2][0]} results for ${name}`;
  document.getElementById('compounds').innerHTML = (found[1] ?? []).map(read).map(it =>
    `<p><b>${text(it[1][0])}</b> ${text(it[2][0])}, ${it[3][0]} u. ${text(it[4][0])}</p>`).join('');
};
