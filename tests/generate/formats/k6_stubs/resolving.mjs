const known = { k6: 'k6.mjs', 'k6/http': 'http.mjs', 'k6/encoding': 'encoding.mjs' };

export function resolve(name, context, next) {
  const found = known[name];
  return found ? { url: new URL(found, import.meta.url).href, shortCircuit: true } : next(name, context);
}
