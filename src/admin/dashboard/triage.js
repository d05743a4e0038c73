// The three columns that are read first: what is wrong, what people did, what leaves.
import { h, icon } from './dom.js';

const MOST = 5;

export function column(id, cls, sign, tone, head, right, items, none) {
  const rest = items.length - MOST;
  return h('section', { class: `card tri ${items.length ? cls : 'clear'}`, id, 'aria-labelledby': `${id}-h` },
    h('h2', { id: `${id}-h` }, h('span', { class: items.length ? tone : 'dim' }, icon(sign)), `${head}, ${items.length}`, h('span.r.dim', right)),
    items.length ? h('ul', items.slice(0, MOST)) : h('p.empty', none),
    rest > 0 ? h('details', h('summary', `${rest} more`), h('ul', items.slice(MOST))) : null);
}

export function entry(key, badges, object, age, why, extra) {
  return h('li', { key }, h('span.t', badges, object), h('span.age', age), why && h('p.why', why), extra);
}
