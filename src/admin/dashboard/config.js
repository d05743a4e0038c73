// The configuration: checked as it is typed, compared with what runs, applied all or nothing; running and saved apart.
import { h, icon } from './dom.js';
import { many, num, wall } from './fmt.js';
import { Refused, call, can, need, now } from './net.js';
import { act, answers, card, note } from './parts.js';
import { ask, saveConfig as save } from './acts.js';
import { repaint } from './app.js';

const state = { text: null, base: null, tag: null, problems: [], changes: null, answers: null, warnings: [], said: '', checking: false, error: '' };
const TOML = { 'content-type': 'application/toml' };

export const title = () => 'Configuration';
export const needs = () => ({});

async function load() {
  try {
    const response = await fetch('/api/v1/config?format=toml', { cache: 'no-store' });
    const text = await response.text();
    if (!response.ok) throw new Refused(response.status, JSON.parse(text));
    Object.assign(state, { text, base: text, tag: response.headers.get('etag'), problems: [], changes: null, answers: null, said: '', error: '' });
    const editor = document.getElementById('editor');
    if (editor) editor.value = text;
  } catch (error) { state.error = error.message; }
  repaint();
}
export const opened = () => { if (state.text == null || state.text === state.base) load(); };

let timer = null;
let turn = 0;
function typed(text) {
  state.text = text;
  state.checking = true;
  clearTimeout(timer);
  timer = setTimeout(check, 500);
  repaint();
}

async function check() {
  const mine = (turn += 1);
  if (state.text === state.base) { Object.assign(state, { problems: [], changes: null, answers: null, warnings: [], said: '', checking: false }); repaint(); return; }
  let next;
  try {
    const told = await call('POST', '/config/diff', undefined, { text: state.text, headers: TOML });
    next = { problems: [], changes: told.changes || [], answers: told.answers || null, transitions: told.transitions || [], warnings: told.warnings || [], said: '' };
  } catch (error) {
    const problems = error.problem && error.problem.problems;
    next = { problems: problems || [], changes: null, answers: null, warnings: [], said: problems ? '' : error.message };
  }
  if (mine !== turn) return;
  Object.assign(state, next, { checking: false });
  repaint();
}

const apply = () => ({
  title: 'Apply this configuration', method: 'PUT', path: '/config', needs: 'configure', level: 2, body: () => ({}), text: () => state.text, headers: { ...TOML, ...(state.tag ? { 'if-match': state.tag } : {}) },
  intro: 'All or nothing. It runs at once and is not saved by this: a restart takes what is saved.', verb: 'Apply', keep: 'Leave it as it runs', reason: false, word: (need('status').data || {}).name,
  after: 'With this configuration', done: o => { load(); return { text: `Applied: ${num((o.changes || []).length)} changes. Not saved yet.`, back: save() }; },
});
const reload = () => ({
  title: 'Take the saved configuration again', method: 'POST', path: '/config/reload', needs: 'configure', level: 3, reason: false, preview: false, body: () => ({}),
  intro: 'Changes that are not saved are dropped.', word: (need('status').data || {}).name, to: 'drop what is not saved', danger: true, verb: 'Take the saved one', keep: 'Keep what runs', done: o => { load(); return { text: `Reloaded: ${num((o.changes || []).length)} changes.` }; },
});

/** The line of the editor that a problem speaks of. */
function jump(line) {
  const editor = document.getElementById('editor');
  const lines = editor.value.split('\n');
  const start = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
  editor.focus();
  editor.setSelectionRange(start, start + (lines[line - 1] || '').length);
  editor.scrollTop = Math.max(0, (line - 6) * 20);
  gutter(editor);
}

function gutter(editor) {
  const g = document.getElementById('gutter');
  if (g) g.scrollTop = editor.scrollTop;
}

/** Warnings in one line that opens. */
function folded(id, list, word) {
  if (!list.length) return null;
  return h('details.fold', { id, key: id }, h('summary', icon('info'), ` ${many(list.length, 'warning')} ${word === 'warns' ? 'of what runs' : 'that it has already'}`), h('ul.says.pad', list.map(w => h('li', h('bdi', w)))));
}

const plain = w => w.replace(/^[^ ]+:\d+: /, '');

/** What the change adds to the warnings is said; what runs with them already is folded. */
function warned() {
  const known = new Set((((need('status').data || {}).config || {}).warnings || []).map(plain));
  return [state.warnings.filter(w => !known.has(plain(w))).map(w => note('warn', 'info', h('bdi', w))), folded('f-next', state.warnings.filter(w => known.has(plain(w))), 'next')];
}

const problem = p => h('li', h('button', { type: 'button', class: 'quiet', onclick: () => p.line && jump(p.line) }, p.line ? `Line ${p.line}` : 'File'), h('span', { class: p.severity === 'warning' ? 'warn' : 'bad' }, h('bdi', `${p.path ? `${p.path}: ` : ''}${p.what}`), p.did_you_mean && [' Nearest: ', h('code', p.did_you_mean)]));

function verdict() {
  if (state.checking) return h('p.empty', 'Checking…');
  if (state.said) return note('bad', 'bad', h('bdi', state.said));
  if (state.problems.length) {
    const light = state.problems.filter(p => p.severity === 'warning');
    return [h('ul.problems', state.problems.filter(p => p.severity !== 'warning').map(problem)), light.length ? h('details.fold', h('summary', icon('info'), ` ${many(light.length, 'warning')} beside`), h('ul.problems', light.map(problem))) : null];
  }
  if (!state.changes) return h('p.empty', 'This is what runs. Type, and it is checked; nothing changes before Apply.');
  return [!state.changes.length ? h('p.empty', 'It says the same as what runs.') : h('ul.says.pad', state.changes.map(c => h('li', h('bdi', typeof c === 'string' ? c : JSON.stringify(c))))),
    (state.transitions || []).map(t => note('warn', 'info', h('bdi', typeof t === 'string' ? t : `${t.scenario || t.object || ''} ${t.direction || ''}${t.to ? ` ${t.from} → ${t.to}` : ''}`))), state.answers && h('div.pad', answers(state.answers, 'With this configuration')), warned()];
}

export function view() {
  const status = need('status').data;
  const c = status && status.config;
  const lines = (state.text || '').split('\n').length;
  const marked = new Set(state.problems.map(p => p.line));
  const changed = state.text != null && state.text !== state.base;
  const locked = !can('configure');
  const ready = changed && !state.checking && !state.problems.length && !state.said;
  return [h('div.title', h('h1', 'Configuration'), h('div.btns', {  },
    h('button', { type: 'button', class: 'btn pri', id: 'apply', 'aria-disabled': ready && !locked ? null : 'true', title: locked ? 'needs role superuser' : ready ? null : changed ? 'it has problems' : 'nothing is changed', onclick: e => ready && !locked && ask(apply(), e.target) }, 'Apply…'),
    act('Save…', o => ask(save(), o), { needs: 'configure' }), act('Reload…', o => ask(reload(), o), { needs: 'configure' }), changed && h('button.btn', { type: 'button', onclick: load }, 'Start again from what runs'))),
  c && (c.unsaved ? note('warn', 'info', h('b', 'What runs is not what is saved. '), 'Running ', h('code', c.hash.slice(0, 12)), ', saved ', h('code', c.saved_hash.slice(0, 12)), c.path && [' in ', h('code', c.path)], '. A restart or a reload takes the saved one.')
    : note('', 'info', h('b', 'What runs is saved. '), h('code', c.hash.slice(0, 12)), c.path && [' in ', h('code', c.path)], `, since ${wall(c.loaded_at, now())}.`)),
  c && folded('f-running', c.warnings || [], 'warns'),
  state.error && note('bad', 'bad', h('bdi', state.error)),
  h('div.cols.c21', card('edit', 'Editor', locked ? 'to read only: needs role superuser' : `${num(lines)} lines`, h('div.editor', {  },
    h('pre', { id: 'gutter', 'aria-hidden': 'true' }, Array.from({ length: lines }, (_, i) => (marked.has(i + 1) ? h('mark', `${i + 1}\n`) : `${i + 1}\n`))),
    h('textarea', { id: 'editor', 'data-keep': 'true', 'aria-label': 'The configuration, as TOML', spellcheck: 'false', autocapitalize: 'none', wrap: 'off', readonly: locked, value: state.text || '', oninput: e => typed(e.target.value), onkeydown: e => { if (e.key === 'Escape') e.target.blur(); } }))),
  card('verdict', state.problems.length ? `Problems, ${num(state.problems.length)}` : state.changes ? `What would change, ${num(state.changes.length)}` : 'Check', null, h('div', { role: 'status' }, verdict())))];
}
document.addEventListener('scroll', e => { if (e.target.id === 'editor') gutter(e.target); }, true);
