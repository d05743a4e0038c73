// Elements, and how a page is brought up to date: a view is built anew and the old tree is changed into it, so that
// focus, what is typed and what is scrolled stay. Text is always a text node: no name can become markup.
const SVG = 'http://www.w3.org/2000/svg';

function build(el, props, kids) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value == null || value === false) continue;
    if (name === 'key') el._key = String(value);
    else if (name === 'style') for (const [k, v] of Object.entries(value)) el.style.setProperty(k, v);
    else if (name.startsWith('on')) (el._on ||= {})[name.slice(2)] = value;
    else if (name === 'value') { el.value = value; el._value = value; }
    else if (name === 'checked') { el.checked = value; el._checked = value; }
    else el.setAttribute(name, value === true ? '' : value);
  }
  append(el, kids);
  return el;
}

function append(el, kids) {
  for (const kid of kids) {
    if (kid == null || kid === false || kid === true) continue;
    if (Array.isArray(kid)) append(el, kid);
    else el.append(kid instanceof Node ? kid : String(kid));
  }
}

const make = create => (spec, ...kids) => {
  const [tag, ...classes] = spec.split('.');
  const el = create(tag);
  if (classes.length) el.setAttribute('class', classes.join(' '));
  const has = kids[0] && kids[0].constructor === Object;
  return build(el, has ? kids[0] : null, has ? kids.slice(1) : kids);
};
/** `h('p.small', {title: …}, …)`: the properties may be left out. */
export const h = make(tag => document.createElement(tag));
export const s = make(tag => document.createElementNS(SVG, tag));
export const icon = name => s('svg', { class: 'i', 'aria-hidden': 'true' }, s('use', { href: '#i-' + name }));

function attributes(old, now) {
  for (const { name, value } of now.attributes) {
    if (name !== 'style' && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    const users = name === 'open' && (old.tagName === 'DETAILS' || old.tagName === 'DIALOG');
    if (!now.hasAttribute(name) && name !== 'style' && !users) old.removeAttribute(name);
  }
  if (old.style.cssText !== now.style.cssText) old.style.cssText = now.style.cssText;
}

/** Changes `old` into `now`, an element of the same kind. */
export function morph(old, now) {
  old._on = now._on;
  old._key = now._key;
  attributes(old, now);
  if (old.hasAttribute('data-keep')) return old;
  if (now._value !== undefined && now._value !== old._value) { old.value = now._value; old._value = now._value; }
  if (now._checked !== undefined && now._checked !== old._checked) {
    old.checked = now._checked;
    old._checked = now._checked;
  }
  children(old, now);
  // Options come after the value was first set.
  if (old.tagName === 'SELECT' && now._value !== undefined && old._shown !== now._value) {
    old.value = now._value;
    old._shown = now._value;
  }
  return old;
}

function children(old, now) {
  const keyed = new Map();
  for (const kid of old.childNodes) if (kid._key) keyed.set(kid._key, kid);
  let at = old.firstChild;
  for (const want of [...now.childNodes]) {
    let have = want._key ? keyed.get(want._key) : at;
    while (!want._key && have && have._key) have = have.nextSibling;
    if (have && have.nodeName === want.nodeName) {
      if (want._key) keyed.delete(want._key);
      if (have === at) at = at.nextSibling;
      else if (old.moveBefore && old.isConnected) old.moveBefore(have, at);
      else old.insertBefore(have, at);
      if (have.nodeType === 1) morph(have, want);
      else if (have.data !== want.data) have.data = want.data;
    } else old.insertBefore(want, at);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

/** Puts `kids` in the place of what `root` holds. */
export function paint(root, kids) {
  const now = root.cloneNode(false);
  append(now, [kids]);
  children(root, now);
}

// Handlers stand on the elements and are found from the document: what morphs keeps no stale closure.
for (const type of ['click', 'input', 'change', 'submit', 'keydown', 'pointerdown', 'toggle']) {
  document.addEventListener(type, event => {
    for (let el = event.target; el && el !== document; el = el.parentNode) {
      const call = el._on && el._on[type];
      if (call) call(event, el);
      if (event.cancelBubble) return;
    }
  }, type === 'toggle');
}
