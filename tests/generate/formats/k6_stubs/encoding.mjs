export default {
  b64decode(text, kind) {
    if (kind !== 'std') throw new Error(`k6 knows no ${kind} of these`);
    const bytes = Buffer.from(text, 'base64');
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  },
};
