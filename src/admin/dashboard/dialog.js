// Acting: one dialog for every act. It shows what the appliance says the act would do, asks for what the appliance says
// it must ask for, sends what was seen, and leaves a record with the way back. The level is never decided here.
import { h, icon, paint } from './dom.js';
import { call, can, net, now, query, refetch } from './net.js';
import { answers, field, note, select } from './parts.js';
import { many, num, span, wall } from './fmt.js';

const OLD = 10;
const AGAIN = 5;

let open = null;
let number = 0;
let records = [];

const pathOf = st => (typeof st.spec.path === 'function' ? st.spec.path(st.values) : st.spec.path);
const age = st => (performance.now() - st.at) / 1000;
const level = st => (st.preview && st.preview.confirm) ?? st.spec.level ?? 2;
const word = st => (st.preview && st.preview.confirm_word) || st.spec.word || '';
/** What a change of the preview is told by: not by its age. */
const essence = p => p && JSON.stringify([p.answers, p.transitions, p.warnings, p.confirm, p.seq, p.triggers, p.changes]);

/**
 * Opens the dialog of an act: {title, intro, method, path, body(values), fields, verb, keep, danger, expires, reason,
 * after, done, level, word, preview}. `preview: false`: the appliance has none for it.
 */
export function ask(spec, opener = document.activeElement) {
  number += 1;
  const values = { reason: '', expires: spec.expires ? spec.expires[0][0] : '', typed: '' };
  for (const f of spec.fields || []) values[f.id] = f.value;
  open = { spec, values, preview: null, at: -1e9, state: 'previewing', said: '', opener, id: number, changed: false };
  const mine = open;
  draw();
  const dialog = document.querySelector('#dialogs dialog');
  dialog.showModal();
  dialog.querySelector('h2').focus();
  dialog.addEventListener('close', () => { if (open === mine) shut(); }, { once: true });
  look();
}

export const isOpen = () => Boolean(open);
/** Another page: what was asked on the last one is dropped. */
export const drop = () => { if (open) shut(); };

function shut() {
  const { opener } = open;
  open = null;
  const dialog = document.querySelector('#dialogs dialog');
  if (dialog && dialog.open) dialog.close();
  paint(document.getElementById('dialogs'), []);
  if (opener && opener.isConnected) opener.focus();
  else document.getElementById('main')?.focus();
}

function body(st) {
  const { spec, values } = st;
  const own = spec.body(values);
  if (own === undefined) return undefined;
  const sent = { ...own };
  if (spec.reason !== false) sent.reason = values.reason.trim() || undefined;
  if (spec.expires && values.expires) sent.expires = values.expires;
  return sent;
}

async function look() {
  const st = open;
  if (!st) return null;
  if (st.spec.preview === false) { st.state = 'ready'; st.none = true; draw(); return null; }
  const asked = (st.asked = (st.asked || 0) + 1);
  st.renew = false;
  if (!st.preview) st.state = 'previewing';
  try {
    const sent = body(st);
    const path = pathOf(st) + query({ ...(st.spec.query || {}), dry_run: 'true' });
    const preview = await call(st.spec.method, path, st.spec.text ? undefined : sent, st.spec.text ? { text: st.spec.text(), headers: st.spec.headers } : {});
    if (open !== st || asked !== st.asked) return null;
    const was = st.preview;
    st.changed = Boolean(was) && st.form === formOf(st) && essence(was) !== essence(preview);
    st.form = formOf(st);
    st.preview = preview;
    st.none = false;
    st.at = performance.now();
    if (st.state !== 'refused') { st.state = 'ready'; st.said = ''; }
  } catch (error) {
    if (open !== st || asked !== st.asked) return null;
    if (error.status === 501) { st.none = true; st.state = 'ready'; st.at = performance.now(); } else {
      st.preview = null;
      st.state = 'blocked';
      st.said = error.message;
      st.problem = error.problem;
    }
  }
  draw();
  return st.preview;
}

const formOf = st => JSON.stringify(st.spec.body(st.values));

let soon = null;
function edited(id, value, renew) {
  const st = open;
  st.values[id] = value;
  if (st.state === 'refused') { st.state = 'ready'; st.said = ''; }
  clearTimeout(soon);
  if (renew) { st.preview = null; st.state = 'previewing'; st.renew = true; }
  // What waits to be asked is asked, also where something else is typed meanwhile.
  if (st.renew || (age(st) > AGAIN && net.live === 'live')) soon = setTimeout(look, 150);
  draw();
}

function missing(st) {
  const out = [];
  if (st.state === 'blocked') return out;
  const needs = level(st);
  if (needs >= 1 && st.spec.reason !== false && !st.values.reason.trim()) out.push(['reason', 'Reason']);
  for (const f of st.spec.fields || []) if (f.required && !String(st.values[f.id]).trim()) out.push([f.id, f.label]);
  if (needs >= 3 && word(st) && st.values.typed.trim() !== word(st)) out.push(['typed', 'Name']);
  return out;
}

const listed = words => words.map((w, i) => (i ? (i === words.length - 1 ? ' and ' : ', ') + w.toLowerCase() : w)).join('');

async function send() {
  const st = open;
  if (st.state === 'sent' || st.state === 'previewing') return;
  const [first] = missing(st);
  if (first) { document.getElementById(`f-${first[0]}`)?.focus(); return; }
  if (st.state === 'blocked' || (!st.none && age(st) > OLD) || net.live === 'lost') {
    const seen = essence(st.preview);
    st.changed = false;
    await look();
    if (open !== st || st.state !== 'ready') return;
    if (seen && essence(st.preview) !== seen) { st.changed = true; st.said = 'It changed while you were reading. Nothing was sent. Look again.'; draw(); return; }
    if (missing(st).length) { draw(); return; }
  }
  st.state = 'sent';
  draw();
  const { spec } = st;
  try {
    const sent = body(st);
    // Where the appliance said what it asks for, it is held to it: the level is its own.
    if (sent && st.preview && st.preview.confirm != null && !spec.text) sent.confirm = st.values.typed.trim();
    if (sent && st.preview && st.preview.confirm != null && st.preview.seq != null && !spec.text) sent.if_seq = st.preview.seq;
    let answer;
    if (spec.text) answer = await call(spec.method, pathOf(st) + query({ ...(spec.query || {}), reason: (sent || {}).reason }), undefined, { text: spec.text(), headers: spec.headers });
    else answer = await call(spec.method, pathOf(st) + query(spec.query || {}), sent);
    if (open === st) shut();
    const told = spec.done ? spec.done(answer, st.values) : { text: `${spec.verb}: done.` };
    const known = ((st.preview && st.preview.warnings) || []).map(str);
    record({ ...told, warnings: (answer.warnings || []).filter(w => !known.includes(w)) });
    refetch();
  } catch (error) {
    if (open !== st) { record({ text: `${spec.verb}: ${error.message}`, failed: true }); return; }
    st.state = 'refused';
    st.said = [409, 412].includes(error.status) ? `${error.message} Nothing was sent. Look again.` : error.message;
    st.problem = error.problem;
    st.preview = null;
    draw();
    look();
  }
}

// === what the appliance says it would do ===

const str = x => (typeof x === 'string' ? x : x == null ? '' : x.text || x.what || [x.scenario || x.name || x.object, x.direction || x.would || x.to || x.outcome, x.because || x.detail].filter(Boolean).join(' '));

function transition(t) {
  if (typeof t === 'string') return t;
  const verb = { activate: 'activates', deactivate: 'deactivates' }[t.direction];
  if (verb) return `${t.scenario} ${verb}${t.group ? `: ${t.group}` : t.cause ? `, ${t.cause}` : ''}${t.after_guard ? ', if its guard passes' : ''}.`;
  if (t.from && t.to) return `${t.kind ? t.kind.replace('_', ' ') + ' ' : ''}${t.object || t.name}: ${t.from} → ${t.to}${t.because ? `, ${t.because}` : ''}`;
  return str(t);
}

function load(l) {
  const now_ = l.now != null && `now ${num(l.now)}/s`;
  const after = l.after != null && `${num(l.after)}/s after`;
  const peak = l.peak_48h != null && `its highest in 48 h was ${num(l.peak_48h)}/s`;
  return `${l.service}: ${[now_, after, peak].filter(Boolean).join(', ')}`;
}

function shown(st) {
  if (st.state === 'previewing' || (st.state === 'sent' && !st.preview && !st.none)) return h('p.dim', 'Asking what it would do…');
  const p = st.preview;
  if (!p) {
    return st.none && st.spec.preview !== false
      ? note('warn', 'unk', 'This appliance cannot say beforehand what this act would do.') : null;
  }
  const grave = level(st) >= 3;
  const trig = (p.triggers || []).map(t => `${t.name} would be ${t.would === 'send' ? 'told' : 'held back'} of ${t.scenario} ${t.direction}`);
  const says = (name, list) => (list && list.length ? h('div', h('h3.sub', name), h('ul.says', list.map(x => h('li', h('bdi', x))))) : null);
  return [
    st.changed && note('warn', 'info', h('b', 'The preview has changed since you opened this. '), 'Look again.'),
    p.answers && (p.answers.length || st.spec.after) ? answers(p.answers, st.spec.after) : null,
    (p.warnings || []).map(w => note(grave ? 'bad' : 'warn', grave ? 'bad' : 'info', h('bdi', str(w)))),
    says('What moves', (p.transitions || []).map(transition)), says('What changes', p.answers || p.transitions ? null : p.changes),
    says('Guards', (p.guards || []).map(g => `${g.scenario} ${g.direction}: ${[...g.run, g.approve && 'a person'].filter(Boolean).join(', ')}${g.overridden ? ' would not be asked' : ' must pass first'}`)),
    says('Who is told', trig), says('Who carries the load', (p.load || []).map(l => (typeof l === 'string' ? l : load(l)))),
    p.connections ? h('p.small', `${many(p.connections, 'connection or request is', 'connections or requests are')} open on it now.`) : null,
  ];
}

function view(st) {
  const { spec, values } = st;
  const needs = level(st);
  const lacks = missing(st);
  const ready = st.state === 'ready' || st.state === 'refused';
  const old = !st.none && st.preview && age(st) > OLD;
  const text = (id, label, hint, extra = {}) => field(`f-${id}`, label, hint, h('input', {
    id: `f-${id}`, value: values[id], autocomplete: 'off', spellcheck: 'false', maxlength: 500,
    oninput: e => edited(id, e.target.value), ...extra }));
  const age_ = st.preview ? `Preview is ${Math.floor(age(st))}\u00a0s old.` : '';
  const say = st.state === 'sent' ? 'Sent. Waiting for the answer.'
    : st.state === 'previewing' ? 'Asking what it would do.'
      : net.live === 'lost' ? 'Not live: nothing is sent without a fresh preview.'
        : lacks.length ? `${listed(lacks.map(l => l[1]))} missing.` : '';
  return h('dialog', { key: st.id, 'aria-labelledby': 'dlg-t' }, h('div.form', {  },
    h('div.body', {  },
      h('h2', { id: 'dlg-t', tabindex: '-1' }, spec.title),
      spec.intro && h('p.ink2', spec.intro),
      h('section.stackd', { 'aria-label': 'Preview' }, shown(st)),
      st.said && note('bad', 'bad', h('b', h('bdi', st.said)),
        st.problem && Array.isArray(st.problem.problems) && h('ul', st.problem.problems.slice(0, 8).map(p => h('li', str(p.what || p)))))
      ,
      (spec.fields || []).map(f => (f.options
        ? field(`f-${f.id}`, f.label, f.hint, select(`f-${f.id}`, values[f.id], f.options, v => edited(f.id, v, true)))
        : f.check
          ? h('label.check', { key: f.id }, h('input', { type: 'checkbox', id: `f-${f.id}`, checked: values[f.id], onchange: e => edited(f.id, e.target.checked, true) }), ' ', f.label, f.hint && h('span.hint', ' ', f.hint))
          : text(f.id, f.label, f.hint, f.type ? { type: f.type, autocomplete: 'new-password' } : {}))),
      needs >= 1 && spec.reason !== false && h('div', { class: spec.expires ? 'two' : '' },
        text('reason', 'Reason', 'goes into the journal and to who is told', { placeholder: 'Change or incident, and why now', 'aria-required': 'true' }),
        spec.expires && field('f-expires', spec.expiresLabel || 'Ends by itself', null, select('f-expires', values.expires, spec.expires, v => edited('expires', v)))),
      needs >= 3 && word(st) && field('f-typed', ['Type ', h('code', nmt(word(st))), ` to ${spec.to || 'go on'}`], null,
        h('input', { id: 'f-typed', value: values.typed, autocomplete: 'off', spellcheck: 'false', 'aria-required': 'true', oninput: e => edited('typed', e.target.value) }))),
    h('div.foot', {  },
      h('span.say', ready && age_, ' ', h('span', { role: 'status' }, say)),
      h('button.btn', { type: 'button', onclick: shut }, spec.keep || 'Leave it'),
      h('button', { type: 'button', id: 'go', class: `btn ${spec.danger || needs >= 3 ? 'danger' : 'pri'}`,
        'aria-disabled': ready && !lacks.length && net.live !== 'lost' && can(spec.needs || 'operate') ? null : 'true', onclick: send },
      st.state === 'blocked' || (old && net.live === 'lost') ? 'Preview again' : spec.verb))));
}

const nmt = text => h('bdi', text);

export function draw() {
  if (open) paint(document.getElementById('dialogs'), [view(open)]);
}

setInterval(() => {
  if (!open) return;
  const idle = open.state === 'ready' && !open.none && net.live === 'live';
  if (idle && age(open) > AGAIN && !document.hidden) look();
  draw();
}, 1000);

// === records of acts, with the way back ===

export function record(r) {
  records = [...records.slice(-9), { ...r, at: now(), id: (number += 1) }];
  drawRecords();
}

function drawRecords() {
  const drop = r => () => { records = records.filter(x => x !== r); drawRecords(); };
  const one = r => h('div', { key: r.id, class: r.failed ? 'failed' : '' },
    h('p.grow', r.failed && [icon('bad'), ' '], `${wall(r.at, now())} `, h('bdi', r.text),
      (r.warnings || []).map(w => h('span.why', ' ', h('bdi', w)))),
    r.back && h('button', { type: 'button', onclick: () => ask(r.back) }, `${r.back.short || r.back.verb}…`),
    h('button', { type: 'button', onclick: drop(r) }, 'Dismiss'));
  // The last one stands there whole; those before it are one click away.
  const earlier = records.slice(0, -1);
  paint(document.getElementById('acts'), [earlier.length ? h('details', h('summary', `${many(earlier.length, 'earlier act')}`), earlier.map(one)) : null, records.slice(-1).map(one)]);
}

export const lasting = [['1h', 'in 1 h'], ['8h', 'in 8 h'], ['24h', 'in 24 h']];
export const orNever = [['1h', 'in 1 h'], ['8h', 'in 8 h'], ['24h', 'in 24 h'], ['', 'never']];
export const inWords = secs => span(secs);
