// Who calls: name and password for a session, and out again.
import { h } from './dom.js';
import { call } from './net.js';
import { who } from './fmt.js';
import { field, note } from './parts.js';
import { begin, repaint } from './app.js';

const state = { user: '', password: '', said: '', busy: false };

export const title = () => 'Log in';
export const name = me => who(me.user || me.actor || '');

async function send() {
  state.busy = true;
  state.said = '';
  repaint();
  try {
    await call('POST', '/login', { username: state.user, password: state.password });
    state.password = '';
    state.busy = false;
    await begin();
  } catch (error) {
    state.busy = false;
    state.said = error.status === 501 ? 'This appliance has no sessions: its API takes HTTP Basic.' : error.message;
    repaint();
    document.getElementById('password')?.focus();
  }
}

export async function logout() {
  try { await call('POST', '/logout', {}); } catch { /* the session may be over already */ }
  location.reload();
}

export function view() {
  const text = (id, label, props) => field(id, label, null, h('input', { id, required: true, value: state[id], oninput: e => { state[id] = e.target.value; }, ...props }));
  return h('form.card.login', { onsubmit: e => { e.preventDefault(); if (!state.busy) send(); } },
    h('h1', 'Log in'), h('p.ink2', `to Bascule at ${location.host}`),
    state.said && h('div', { role: 'alert' }, note('bad', 'bad', h('bdi', state.said))),
    text('user', 'Name', { autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false' }),
    text('password', 'Password', { type: 'password', autocomplete: 'current-password' }),
    h('button.btn.pri', { type: 'submit', 'aria-disabled': state.busy ? 'true' : null }, 'Log in'));
}
