// A short mark of a text (FNV-1a, 32 bits, in base 36): whether it is still the one that was translated.
export function mark(text) {
  let sum = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return sum.toString(36);
}
