// The page's data: json beside the scripts, larger parts compressed within it.

const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array };

export const report = JSON.parse(document.getElementById("report-data").textContent);

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes;
}

export async function unpackBytes(base64) {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

export async function unpackText(base64) {
  return new TextDecoder().decode(await unpackBytes(base64));
}

export async function unpackTexts(base64) {
  return base64 ? JSON.parse(await unpackText(base64)) : null;
}

export async function unpackArrays(pack) {
  const buffer = await unpackBytes(pack.data);
  return pack.arrays.map((one) => new ARRAYS[one.type](buffer, one.at, one.length));
}
