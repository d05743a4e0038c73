// The frame: routes, top bar, rail, banners, what is said to screen readers, and keys.
import { h, icon, paint, s } from './dom.js';
import { call, can, connect, get, need, net, now, query, rates, refetch, silence, want } from './net.js';
import { at, many, num, span, wall } from './fmt.js';
import { hrefOf, nm, note } from './parts.js';
import { ask, draw, drop, isOpen } from './dialog.js';
import { drain, enable, force, kick } from './acts.js';
import * as login from './login.js';
import { forced, verdict, wrong } from './status.js';

/** Loaded when first looked at; then what else pages are called. */
const PAGES = {
  '': () => import('./overview.js'), scenarios: () => import('./scenarios.js'), vservers: () => import('./vservers.js'),
  services: () => import('./services.js'), checks: () => import('./checks.js'), timeline: () => import('./timeline.js'),
  datacenters: () => import('./datacenters.js'), dns: () => import('./dns.js'), outbox: () => import('./outbox.js'),
  journal: () => import('./journal.js'), missing: () => import('./missing.js'), monitors: () => import('./monitors.js'), policies: () => import('./policies.js'),
  people: () => import('./people.js'), certificates: () => import('./certificates.js'), config: () => import('./config.js'),
  states: () => import('./states.js'), unknown: () => import('./unknown.js'), login: () => login, more: () => ({ title: () => 'Pages', view: more }),
};
const CALLED = new Map([['users', 'people'], ['tokens', 'people'], ['overview', ''], ['zones', 'dns'], ['configuration', 'config']]);
const COMING = { title: () => 'Bascule', view: () => h('p.empty', 'Reading…') };
const loaded = new Map();
const RAIL = [
  ['', 'Overview'], 'Steering', ['scenarios', 'Scenarios'], ['datacenters', 'Data centres'], ['dns', 'DNS and zones'],
  ['timeline', 'Timeline'], 'Balancing', ['vservers', 'Vservers'], ['services', 'Services'], ['monitors', 'Monitors'],
  ['policies', 'Policies'], ['certificates', 'Certificates'],
  'Box', ['outbox', 'Outbox'], ['journal', 'Journal'], ['people', 'Users and tokens'], ['missing', 'Asked in vain'], ['config', 'Configuration'],
];
const TABS = [['', 'home', 'Overview'], ['scenarios', 'sc', 'Scenarios'], ['vservers', 'vs', 'Vservers'], ['timeline', 'tl', 'Timeline'], ['more', 'more', 'More']];
/** Kinds of events after which the status is another. */
const MOVES = ['service', 'vserver', 'scenario', 'check', 'switch', 'trigger', 'alert', 'peer', 'datacenter_pair', 'zone', 'server', 'service_group', 'config'];
let route = parse();
let find = { text: '', items: [], at: -1, open: false };
let help = false;
let said = '';
let nobody = new Set();

const app = document.getElementById('app');
const tell = (id, text) => { document.getElementById(id).textContent = text; };

// === routes ===

function parse() {
  const [path, rest = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [name = '', ...args] = path.split('/').map(part => { try { return decodeURIComponent(part); } catch { return part; } });
  const known = Object.hasOwn(PAGES, name) ? name : CALLED.get(name) ?? 'unknown';
  return { name: known, page: loaded.get(known) || COMING, args, params: Object.fromEntries(new URLSearchParams(rest)) };
}

/** The module of the page at hand; true where it had to come first. */
async function load() {
  const { name } = route;
  if (loaded.has(name)) return false;
  try { loaded.set(name, await PAGES[name]()); } catch (error) { loaded.set(name, { title: () => 'Not reached', view: () => note('bad', 'bad', 'This page could not be read from the appliance. ', h('button.btn', { type: 'button', onclick: () => location.reload() }, 'Read again')) }); console.error(error); }
  if (route.name !== name) return false;
  route = parse();
  needs();
  paintNow();
  return true;
}

/** Changes parameters of the page at hand, which are in its address. */
export function setParams(changes) {
  const params = { ...route.params, ...changes };
  history.replaceState(null, '', at(...[route.name, ...route.args].filter(Boolean)) + query(params));
  route = parse();
  if (needs()) gather(); else soon();
}

/** Something leaves or is practised: what is still on it, and how long it takes, has no event. */
function waits() {
  const status = need('status').data;
  return Boolean(status && (status.draining.length || status.drill));
}

/** What the page at hand shows is fetched; also called where what it shows says what else there is. True: some has to come. */
export function needs() {
  const page = route.page;
  if (route.name === 'login' || !net.me) return want({});
  const comes = want({ status: { path: '/status', refetch: MOVES, every: waits() ? 5 : 30, keep: true }, ...(page.needs ? page.needs(route.args, route.params) : {}) });
  rates(!net.noRates && page.rates ? page.rates(route.args, route.params) : null);
  return comes;
}

function go() {
  const was = route;
  route = parse();
  const moved = was.name !== route.name || was.args.join('/') !== route.args.join('/');
  needs();
  paintNow();
  if (moved) {
    drop();
    window.scrollTo(0, 0);
    document.getElementById('main')?.focus({ preventScroll: true });
  }
  open(moved);
}

async function open(moved) {
  await load();
  if (moved && route.page.opened) route.page.opened(route.args, route.params);
  else if (route.params.to) document.getElementById(route.params.to)?.scrollIntoView();
}
window.addEventListener('hashchange', go);

// === painting: once a frame, at most four times a second ===

let due = null;
let frame = null;
let painted = 0;

export function schedule() {
  if (!due && !frame) due = setTimeout(soon, Math.max(0, 250 - (performance.now() - painted)));
}
/** With the next frame: what a person waits for. */
function soon() {
  clearTimeout(due);
  due = null;
  // A hidden tab has no frames; it is painted when it is looked at.
  frame ??= requestAnimationFrame(() => { frame = null; paintNow(); });
}
/** With what else comes within a tenth of a second: painting what is old would only hold that up. */
function gather() {
  if (!due && !frame) due = setTimeout(soon, 100);
}
/** At once: what a person did. */
export function repaint() { paintNow(); }

function paintNow() {
  painted = performance.now();
  let body;
  try {
    body = route.page.view(route.args, route.params);
  } catch (error) {
    console.error(error);
    body = note('bad', 'bad', h('b', 'This page could not be drawn. '), 'The rest works; what it says of this page is in the browser’s console.');
  }
  const title = route.page.title(route.args);
  const status = need('status').data;
  document.title = `${title} · ${status ? status.name : 'Bascule'}`;
  document.documentElement.classList.toggle('stale', net.live === 'lost');
  if (route.name === 'login') { paint(app, [h('main.wide', { id: 'main', tabindex: '-1' }, body)]); return; }
  paint(app, [top(status), banners(status), rail(status), h('main', { id: 'main', tabindex: '-1' }, body), tabbar()]);
  paintHelp();
  draw();
  speak(status);
}

net.paint = schedule;
net.show = soon;
net.gather = gather;
setInterval(() => { if (!document.hidden) schedule(); }, 1000);
document.addEventListener('visibilitychange', () => { if (!document.hidden) paintNow(); });

// === the bar ===

function tally(status) {
  const n = (list) => (list ? list.length : null);
  const bad = n(status && wrong(status));
  const hand = n(status && forced(status));
  const draining = n(status && status.draining);
  const one = (to, kind, sign, count, word) => h('a', { class: count ? kind : '', href: `#/?to=${to}` }, icon(sign), h('b', count ?? '–'), ` ${word}`);
  return h('nav.tally', { 'aria-label': 'What needs attention' }, one('wrong', 'has-bad', 'bad', bad, 'wrong'),
    one('forced', 'has-hand', 'hand', hand, 'forced'), one('draining', 'has-warn', 'drain', draining, 'draining'));
}

function top(status) {
  const dark = getComputedStyle(document.documentElement).colorScheme === 'dark';
  const t = new Date(now());
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const local = t.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  const me = net.me;
  return h('header.top', { key: 'top' },
    h('a.brand', { href: '#/' }, s('svg', { viewBox: '0 0 28 28', 'aria-hidden': 'true' }, s('path', { d: 'M14 13l6 12H8z', fill: 'currentColor' }),
      s('path', { d: 'M2.5 15.5 25.5 7', stroke: 'currentColor', 'stroke-width': '3.4', 'stroke-linecap': 'round' })),
    h('span', h('b', nm(status ? status.name : 'Bascule')), h('span', status && status.site ? ['at ', nm(status.site)] : ''))),
    tally(status), finder(),
    h('span', { class: `live ${{ live: '', lost: 'lost' }[net.live] ?? 'wait'}`, id: 'live' }, h('i', { 'aria-hidden': 'true' }),
      h('span', { live: 'Live', lost: 'Not live' }[net.live] || 'Catching up')),
    h('span.clock', h('time', { datetime: t.toISOString() }, `${t.toISOString().slice(11, 19)} UTC`),
      h('small', `${t.toLocaleDateString('en-GB', { weekday: 'short', day: 'numeric', month: 'short' })}, ${local} ${zone.split('/').pop().replace('_', ' ')}`)),
    h('button.theme.quiet', { type: 'button', id: 'theme', onclick: () => theme(dark ? 'light' : 'dark') }, dark ? 'Light' : 'Dark'),
    me && (net.csrf
      ? h('button.who.quiet', { type: 'button', title: 'Log out', onclick: login.logout }, nm(login.name(me)), ' · log out')
      : h('span.who.dim', { title: me.role }, nm(login.name(me)))));
}

function theme(to) {
  document.documentElement.dataset.theme = to;
  try { localStorage.setItem('theme', to); } catch { /* storage is off */ }
  paintNow();
}

function rail(status) {
  const problems = (status && status.problems) || [];
  const of = (...kinds) => problems.filter(p => kinds.includes(p.kind) && p.severity !== 'info').length;
  const marks = {
    scenarios: [of('scenario') || need('scenarios').items.filter(x => x.state !== 'inactive' || x.stuck).length, 'not at rest', of('scenario') ? 'bad' : ''],
    services: [of('service', 'service_group', 'check', 'name'), 'wrong', 'bad'], monitors: [of('monitor'), 'wrong', 'bad'], vservers: [of('vserver'), 'wrong', 'bad'],
    datacenters: [of('datacenter', 'datacenter_pair', 'peer'), 'wrong', 'bad'], dns: [of('zone', 'rrset'), 'wrong', 'bad'],
    outbox: [of('trigger', 'delivery', 'query'), 'not delivered', 'bad'], certificates: [of('certificate'), 'wrong', 'bad'],
    config: [status && status.config.unsaved ? 1 : 0, 'unsaved change', 'warn'],
  };
  const c = status && status.config;
  return h('nav.rail', { 'aria-label': 'Pages', key: 'rail' }, RAIL.map(entry => {
    if (typeof entry === 'string') return h('h2', entry);
    const [name, text] = entry;
    const [n, what, cls] = marks[name] || [];
    return h('a', { href: at(name), 'aria-current': current(name) ? 'page' : null }, text,
      n ? h('span', { class: `n ${cls}` }, num(n), h('span.vh', ` ${what}`)) : null);
  }), h('footer', status && [`Bascule ${status.version}`, h('br'), `config ${c.hash.slice(0, 8)}${c.unsaved ? ' · unsaved' : ''}`, h('br'),
    status.clock && (status.clock.synced == null ? 'clock: not known' : status.clock.synced ? 'clock synced' : 'clock not synced'), h('br'),
    h('button', { type: 'button', class: 'quiet', onclick: () => { help = true; paintHelp(); } }, 'Keys')]));
}

const current = name => name === route.name || (route.name === 'checks' && name === 'services');

function tabbar() {
  return h('nav.tabbar', { 'aria-label': 'Main pages', key: 'tabs' }, TABS.map(([name, sign, text]) =>
    h('a', { href: at(name), 'aria-current': current(name) || (name === 'more' && !TABS.some(t => t[0] === route.name)) ? 'page' : null }, icon(sign), text)));
}

function more() {
  return [h('div.title', h('h1', 'Pages')),
    h('ul.card.pages', RAIL.filter(Array.isArray).map(([name, text]) => h('li', h('a', { href: at(name) }, text))),
      h('li', h('button.btn.quiet', { type: 'button', onclick: () => theme(getComputedStyle(document.documentElement).colorScheme === 'dark' ? 'light' : 'dark') }, 'Light or dark')))];
}

// === banners: at most two, the rest in More ===

function banners(status) {
  const list = [];
  const strip = (kind, sign, text, extra) => list.push(h('div', { class: `strip ${kind}`, key: text.slice(0, 12) }, icon(sign), h('p', text), extra));
  if (net.live === 'lost') {
    strip('bad', 'bad', `You see ${wall(now(), now())}, ${span(silence())} old. The box may have moved on; its DNS and proxy do not need this page.`,
      h('button', { type: 'button', onclick: connect }, 'Reconnect now'));
  }
  if (status) {
    const faults = status.faults || [];
    if (status.lab || faults.length) {
      const until = faults.map(f => f.until || f.expires).filter(Boolean).sort().pop();
      const which = faults.filter(f => typeof f === 'string').slice(0, 3).join('; ');
      strip('lab', 'hand', faults.length ? `${many(faults.length, 'fault is', 'faults are')} injected${until ? ` until ${wall(until, now())}` : ''}${which && `: ${which}`}.` : 'This box runs with --lab: faults can be injected.');
    }
    const d = status.drill;
    if (d && d.state !== 'over') strip('hand', 'hand', `Drill ${d.id} of ${d.scenario} is ${d.state}${d.ends_at ? `, until ${wall(d.ends_at, now())}` : ''}. ${d.reason ? `“${d.reason}”` : ''}`, h('a', { href: at('scenarios', d.scenario) }, 'Look'));
    if (status.not_durable) strip('bad', 'bad', `Not saved. ${status.not_durable} What people did since would be lost by a restart.`);
    for (const a of status.alerts || []) if (/oscillation|disputed|stuck/.test(a.kind)) strip('bad', 'bad', a.text, h('a', { href: hrefOf(a.object_kind, a.object) || '#/' }, 'Look'));
    const c = status.config;
    if (c.unsaved && now() - Date.parse(c.loaded_at) > 3600e3) strip('warn', 'info', 'The running configuration has not been saved for more than 1 h.', h('a', { href: at('config') }, 'Save'));
  }
  const [first, second, ...rest] = list;
  return h('section.strips', { key: 'strips', 'aria-label': list.length ? 'Notices' : null }, first, second, rest.length ? h('details.strip', h('summary', `${many(rest.length, 'more')}`.replace('mores', 'more')), rest) : null);
}

// === what screen readers are told ===

function speak(status) {
  const alarm = net.live === 'lost' ? 'Not live. What you see is old.' : '';
  const names = new Set(((status && status.problems) || []).filter(p => p.severity === 'error' && /^(zone|rrset|vserver)$/.test(p.kind)).map(p => `${p.kind.replace('_', ' ')} ${p.object}: ${p.text}`));
  const fresh = [...names].filter(n => !nobody.has(n));
  if (status) { if (nobody.started && fresh.length) tell('alarm', fresh[0]); nobody = names; nobody.started = true; }
  if (net.live === 'lost' && document.getElementById('alarm').textContent !== alarm) tell('alarm', alarm);
  const v = status && verdict(status).text;
  if (v && v !== said) { if (said) tell('say', v); said = v; }
}

// === find and explain ===

function finder() {
  const options = find.items.map((item, i) => h('li', { role: 'option', id: `o${i}`, 'aria-selected': i === find.at ? 'true' : 'false', onpointerdown: e => { e.preventDefault(); pick(item); } },
    h('span.dim', item.kind), ' ', nm(item.name)));
  return h('form.find', { role: 'search', onsubmit: e => { e.preventDefault(); enter(); } },
    h('label.vh', { for: 'q' }, 'Find or explain'),
    h('input', {
      id: 'q', placeholder: 'Find, or: why www A 10.1.2.3', autocomplete: 'off', spellcheck: 'false', role: 'combobox', value: find.text,
      'aria-expanded': String(find.open && options.length > 0), 'aria-controls': 'found', 'aria-autocomplete': 'list',
      'aria-activedescendant': find.at >= 0 ? `o${find.at}` : null, oninput: e => typed(e.target.value),
      onkeydown: e => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
        if (step && find.items.length) { e.preventDefault(); find.at = (find.at + step + find.items.length) % find.items.length; paintNow(); }
        if (e.key === 'Escape') { find = { text: '', items: [], at: -1, open: false }; e.target.value = ''; e.target._value = ''; paintNow(); }
      },
    }), h('kbd', { 'aria-hidden': 'true' }, '/'),
    h('ul', { id: 'found', role: 'listbox', 'aria-label': 'Found', hidden: !(find.open && options.length) }, options));
}

let pause = null;
function typed(text) {
  find = { ...find, text, open: true, at: -1 };
  clearTimeout(pause);
  if (!text.trim() || /^why\b/i.test(text)) { find.items = []; paintNow(); return; }
  pause = setTimeout(async () => {
    const kinds = [['services', 'service'], ['vservers', 'vserver'], ['scenarios', 'scenario'], ['zones', 'zone'], ['checks', 'check'], ['monitors', 'monitor']];
    const found = await Promise.all(kinds.map(([path, kind]) => search(path, text.trim(), 5).then(names => names.map(name => ({ kind, name })), () => [])));
    if (find.text === text) { find.items = found.flat().slice(0, 12); paintNow(); }
  }, 150);
}

const plain = new Map();
/** By the server where it searches, else among all names. */
async function search(path, text, limit) {
  if (!plain.has(path)) {
    try { return (await get(`/${path}${query({ q: text, limit })}`)).items.map(i => i.name); } catch (error) {
      if (error.status !== 400) return [];
      plain.set(path, get(`/${path}`).then(all => all.items.map(i => i.name)));
    }
  }
  return (await plain.get(path)).filter(name => name.includes(text)).slice(0, limit);
}

function pick(item) {
  find = { text: '', items: [], at: -1, open: false };
  const q = document.getElementById('q');
  q.value = ''; q._value = '';
  q.blur();
  location.hash = item.kind === 'zone' ? at('dns', item.name) : hrefOf(item.kind, item.name);
}

function enter() {
  const why = /^why\s+(\S+)(?:\s+([A-Za-z0-9]+))?(?:\s+(\S+))?/i.exec(find.text);
  if (why) {
    const [, name, type, client] = why;
    find = { text: '', items: [], at: -1, open: false };
    location.hash = at('dns') + query({ name, type: (type || 'A').toUpperCase(), client, to: 'why' });
  } else if (find.items.length) pick(find.items[Math.max(0, find.at)]);
}

// === keys ===

const KEYS = [['/', 'find'], ['?', 'these keys'], ['g o', 'overview'], ['g s', 'scenarios'], ['g v', 'vservers'], ['g t', 'timeline'], ['d', 'drain the focused row'], ['e', 'enable it'], ['f', 'force it'], ['x', 'end what runs on it']];
const keysOn = () => { try { return localStorage.getItem('keys') !== 'off'; } catch { return true; } };
let before = '';

document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.altKey || event.metaKey || isOpen() || help) return;
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || !keysOn()) return;
  const key = event.key;
  const go = { o: '', s: 'scenarios', v: 'vservers', t: 'timeline' };
  if (before === 'g' && key in go) { before = ''; location.hash = at(go[key]); return; }
  before = key;
  if (key === '/') { event.preventDefault(); document.getElementById('q')?.focus(); return; }
  if (key === '?') { help = true; paintHelp(); return; }
  const row = event.target.closest('[data-kind=service]');
  const spec = row && { d: drain, e: n => enable('services', n), f: n => force('services', n), x: n => kick(n) }[key];
  if (spec && can('operate')) { event.preventDefault(); ask(spec(row.dataset.name), event.target); }
});

function paintHelp() {
  const root = document.getElementById('keys') || document.body.appendChild(h('div', { id: 'keys' }));
  if (!help) { if (root.firstChild) paint(root, []); return; }
  const opener = document.activeElement;
  const isNew = !root.firstChild;
  paint(root, [h('dialog', { 'aria-labelledby': 'keys-t' }, h('div.form', h('div.body', h('h2', { id: 'keys-t', tabindex: '-1' }, 'Keys'),
    h('dl.kv', KEYS.map(([k, what]) => [h('dt', h('kbd', k)), h('dd', what)])),
    h('label.check', h('input', { type: 'checkbox', checked: keysOn(), onchange: e => { try { localStorage.setItem('keys', e.target.checked ? 'on' : 'off'); } catch { /* storage is off */ } } }), ' Single keys act')),
  h('div.foot', h('button', { type: 'button', class: 'btn', onclick: () => root.firstChild.close() }, 'Close'))))]);
  if (isNew) {
    const dialog = root.firstChild;
    dialog.showModal();
    dialog.querySelector('h2').focus();
    dialog.addEventListener('close', () => { help = false; paint(root, []); opener.focus(); }, { once: true });
  }
}

document.getElementById('skip').addEventListener('click', event => { event.preventDefault(); document.getElementById('main')?.focus(); });
document.addEventListener('click', event => { if (find.open && !event.target.closest('.find')) { find.open = false; schedule(); } });

// === begin ===

/** Who calls decides what is shown: the page, or the login. */
export async function begin() {
  try {
    net.me = await call('GET', '/whoami');
    net.csrf = net.me.csrf || null;
  } catch (error) {
    if (error.status !== 401) {
      paint(app, [h('main.wide', { id: 'main', tabindex: '-1' }, h('h1', 'Not reached'), note('bad', 'bad', error.message),
        h('button.btn', { type: 'button', onclick: begin }, 'Try again'))]);
    }
    return;
  }
  if (route.name === 'login') { location.hash = net.wanted || '#/'; route = parse(); }
  needs();
  connect();
  paintNow();
  open(true);
}

net.login = () => {
  // Several answers may ask for it before the page has changed.
  if (route.name === 'login' || location.hash === at('login')) return;
  net.wanted = location.hash;
  net.me = null;
  location.hash = at('login');
};

net.event = (kind, data) => { if (route.page.event) route.page.event(kind, data, route.args); };
refetch();
begin();
