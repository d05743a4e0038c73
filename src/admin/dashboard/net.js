// What the page knows: calls of the API, the stream of events, the appliance's clock, and the collections that the page
// at hand shows. Everything else reads from here.
import { enc, ms } from './fmt.js';

const BASE = '/api/v1';
const SILENCE = 6000;
const RETRY = [1, 2, 4, 8, 15];

export const net = {
  live: 'catching up',      // 'live', 'catching up' or 'lost'
  heard: 0,                 // when anything came, on the browser's monotonic clock
  me: null,                 // who calls
  csrf: null,               // what acts of a session carry
  paint: () => {},          // set by the page: something changed
  show: () => {},           // set by the page: all that was waited for is there
  gather: () => {},         // set by the page: some of it is
  event: () => {},          // set by the page: an event came
  login: () => {},          // set by the page: credentials are needed
  topics: null,
};

// === the clock ===

let offset = Date.now() - performance.now();
let frozen = 0;

function heardNow(iso) {
  net.heard = performance.now();
  if (!iso) return;
  const told = ms(iso) - performance.now();
  // The nearest of what was told is the one that travelled least; a step of the clock is followed.
  if (Math.abs(told - offset) > 1500 || told > offset) offset = told;
}

/** The appliance's time in milliseconds; it stands still while nothing is heard. */
export const now = () => (net.live === 'lost' ? frozen : performance.now() + offset);
export const silence = () => (performance.now() - net.heard) / 1000;

// === calls ===

export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `HTTP ${status}`);
    this.status = status;
    this.problem = problem;
  }
}

export async function call(method, path, body, { text, headers = {}, raw } = {}) {
  const init = { method, headers: { accept: 'application/json', ...headers }, cache: 'no-store' };
  if (method !== 'GET' && net.csrf) init.headers['x-csrf-token'] = net.csrf;
  if (text !== undefined) init.body = text;
  else if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers['content-type'] = 'application/json';
  }
  let response;
  try {
    response = await fetch(BASE + path, init);
  } catch {
    throw new Refused(0, { detail: 'The appliance does not answer.' });
  }
  if (raw && response.ok) return response.text();
  const said = await response.json().catch(() => ({}));
  if (response.status === 401 && path !== '/login') net.login();
  if (!response.ok) throw new Refused(response.status, said);
  return said;
}

export const get = path => call('GET', path);

/** All parameters that are set, as a query. */
export function query(params) {
  const set = Object.entries(params).filter(([, v]) => v != null && v !== '');
  return set.length ? '?' + set.map(([k, v]) => `${k}=${enc(v)}`).join('&') : '';
}

export const can = what => !net.me || !net.me.permissions || net.me.permissions.includes(what);

// === what a page shows ===
//
// A need is {path, kind, one, refetch, every, keep}: events of `kind` carry the whole object and are merged by name; events
// of `refetch` fetch anew, at most once a second. States come that way. `every` so many seconds it is fetched as well, for
// what no event tells: counters, times, the last sample of a probe, who is connected.

let needs = new Map();
export const fresh = new Map();

export class Need {
  constructor(spec) {
    Object.assign(this, { data: null, error: null, loaded: false, busy: false, again: false, at: 0 }, spec);
  }

  get items() {
    return (this.data && this.data.items) || [];
  }

  async fetch() {
    if (this.busy) { this.again = true; return; }
    this.busy = true;
    this.at = performance.now();
    const { path } = this;
    const waited = !this.loaded;
    try {
      const data = await get(path);
      if (path === this.path) { this.data = data; this.error = null; this.loaded = true; }
    } catch (error) {
      if (path === this.path) { this.error = error; this.loaded = true; if (!this.keep) this.data = null; }
    }
    this.busy = false;
    if (!waited) net.paint();
    else if ([...needs.values()].some(n => n.busy && !n.loaded)) net.gather();
    else net.show();
    if (this.again || path !== this.path) { this.again = false; this.soon(); }
  }

  /** Fetches anew, not more than once a second. */
  soon() {
    if (this.timer || !needs.has(this.key)) return;
    this.timer = setTimeout(() => { this.timer = null; this.fetch(); }, Math.max(60, 1000 - (performance.now() - this.at)));
  }

  merge(name, object) {
    if (!this.data) return;
    if (this.one) { if (this.data.name === name) this.data = object; return; }
    const index = this.items.findIndex(item => item.name === name);
    if (index >= 0) this.data.items[index] = object;
  }
}

/** Takes these needs instead of the ones so far; what stays the same keeps its data. True where something is waited for. */
export function want(specs) {
  const next = new Map();
  for (const [key, spec] of Object.entries(specs)) {
    const old = needs.get(key);
    if (old && old.path === spec.path) { next.set(key, Object.assign(old, spec)); continue; }
    const need = new Need({ key, ...spec });
    if (old && spec.keep) need.data = old.data;
    next.set(key, need);
  }
  for (const [key, need] of needs) if (next.get(key) !== need) clearTimeout(need.timer);
  needs = next;
  for (const need of next.values()) if (!need.loaded && !need.busy) need.fetch();
  return [...next.values()].some(need => need.busy && !need.loaded);
}

export const need = key => needs.get(key) || new Need({ key, path: '' });
export const refetch = (...keys) => (keys.length ? keys.map(need) : [...needs.values()]).forEach(n => n.path && n.fetch());

setInterval(() => {
  if (document.hidden || net.live === 'lost') return;
  for (const n of needs.values()) if (n.every && !n.busy && performance.now() - n.at > n.every * 1000) n.fetch();
}, 500);

function took(event, data) {
  if (data.object && data.name) {
    fresh.set(`${event}/${data.name}`, performance.now());
    if (fresh.size > 2000) fresh.clear();
  }
  for (const n of needs.values()) {
    if (n.kind === event && data.object) n.merge(data.name, data.object);
    else if (n.refetch && n.refetch.includes(event)) n.soon();
  }
  net.event(event, data);
}

export const isFresh = (kind, name) => performance.now() - (fresh.get(`${kind}/${name}`) ?? -1e9) < 1200;

// === the stream ===

let reader = null;
let last = null;
let tries = 0;
let waiting = null;
let generation = 0;
let begun = 0;

export function connect() {
  clearTimeout(waiting);
  generation += 1;
  if (reader) reader.abort();
  stream(generation);
}

/** Topics of a page that asks for rates; others are always sent. */
export function rates(objects) {
  const wanted = objects || null;
  if (wanted === net.topics) return;
  net.topics = wanted;
  if (net.live !== 'lost') connect();
}

async function stream(mine) {
  reader = new AbortController();
  begun = performance.now();
  const { signal } = reader;
  try {
    const headers = { accept: 'text/event-stream' };
    if (last) headers['last-event-id'] = last;
    const path = BASE + '/events' + (net.topics ? '?' + net.topics : '');
    const response = await fetch(path, { headers, signal, cache: 'no-store' });
    if (response.status === 401) return net.login();
    if (response.status === 400 && net.topics) { net.topics = null; net.noRates = true; return connect(); }
    if (!response.ok) throw new Error('refused');
    await read(response.body.getReader(), mine);
  } catch { /* said below */ }
  if (mine === generation) again();
}

async function read(body, mine) {
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { value, done } = await body.read();
    if (done || mine !== generation) return;
    net.heard = performance.now();
    text += decoder.decode(value, { stream: true });
    const parts = text.split('\n\n');
    text = parts.pop();
    for (const part of parts) dispatch(part);
  }
}

function dispatch(part) {
  let event = 'message', data = '';
  for (const line of part.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, '');
    if (line.startsWith('event')) event = value;
    else if (line.startsWith('data')) data += value;
    else if (line.startsWith('id')) last = value;
  }
  if (!data) return;
  const told = JSON.parse(data);
  heardNow(told.now);
  if (event === 'hello') {
    const was = net.live;
    net.live = 'live';
    tries = 0;
    // The first time everything is just being fetched; later only what events cannot repeat.
    if (was !== 'live' && net.begun) refetch();
    net.begun = true;
    net.paint();
  } else if (event === 'reset') refetch();
  // Another page of the same user took its place: coming back at once would end that one.
  else if (event === 'ended') tries = RETRY.length;
  else if (event !== 'heartbeat') took(event, told);
  net.paint();
}

function again() {
  if (silence() * 1000 > SILENCE) lost();
  const pause = RETRY[Math.min(tries, RETRY.length - 1)];
  tries += 1;
  waiting = setTimeout(connect, pause * 1000);
}

function lost() {
  if (net.live === 'lost') return;
  frozen = now();
  net.live = 'lost';
  net.paint();
}

/** Nothing for six seconds, also when the tab wakes: not live. A stream that is silent is begun anew. */
export function watch() {
  if (paused || silence() * 1000 <= SILENCE) return;
  if (net.live !== 'lost') { lost(); connect(); }
  // An attempt that hangs is given up; one that was refused is tried again by itself.
  else if (performance.now() - begun > 20000) connect();
}

setInterval(watch, 250);
window.addEventListener('online', () => paused || connect());

// A browser has six connections to a box, and a page that nobody looks at may not keep one of them for good.
let paused = false;
let hiding = null;

function pause() {
  paused = true;
  generation += 1;
  clearTimeout(waiting);
  if (reader) reader.abort();
  if (net.live === 'live') net.live = 'catching up';
}

function wake() {
  clearTimeout(hiding);
  if (!paused) { watch(); if (net.live === 'lost') connect(); return; }
  paused = false;
  net.heard = performance.now();
  connect();
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) hiding = setTimeout(pause, 30000);
  else wake();
});
window.addEventListener('pagehide', pause);
window.addEventListener('pageshow', event => { if (event.persisted) wake(); });
