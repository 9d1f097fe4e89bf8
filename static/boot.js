// Starts the page's own wasm file in a worker.
//
// The page passes the hashed names of its module and wasm file as query values
// (`boot.js?js=app-….js&wasm=app-…_bg.wasm`). Only the last path component of each counts, so that
// a crafted address cannot make the worker load anything from elsewhere.
const query = new URL(import.meta.url).searchParams;
const sibling = (key) => new URL('../' + query.get(key).split('/').pop(), import.meta.url).href;

const { default: init } = await import(sibling('js'));
await init({ module_or_path: sibling('wasm') });
