// Users, roles and tokens: who may come in, who is in, who is locked out, and what was tried lately.
import { h } from './dom.js';
import { enc, many, ms, num, wall, who } from './fmt.js';
import { can, need, net, now, query } from './net.js';
import { act, b, card, left, nm, note, shows, since, table, time } from './parts.js';
import { ask, saveConfig } from './acts.js';
import { record } from './dialog.js';

export const title = () => 'Users and tokens';
export const needs = () => ({
  users: { path: '/users', refetch: ['config'], keep: true }, tokens: { path: '/tokens', refetch: ['config'], keep: true },
  logins: { path: '/logins', refetch: ['config'], every: 5, keep: true },
  access: { path: `/journal${query({ kind: 'access', since: '90d', newest_first: 'true', limit: 1000 })}`, every: 30, keep: true },
});

const ROLES = [['read-only', 'read-only: looks'], ['operator', 'operator: also drains, forces, changes modes'], ['superuser', 'superuser: also configures']];
const configures = { needs: 'configure', reason: false, preview: false, level: 2 };
/** What stands after an act here: in force, and gone with a restart unless it is saved. */
const unsaved = text => ({ text: `${text} Not saved yet.`, back: saveConfig() });

// === acts ===

const PASSWORD = { id: 'password', label: 'Password', hint: 'kept as a hash alone', value: '', type: 'password', required: true };

const addUser = first => ({ ...configures, title: 'Add a user', method: 'PUT', path: v => `/users/${enc(v.name.trim())}/password`, body: v => ({ password: v.password, role: v.role }),
  intro: first ? 'The first user is a superuser. From then on everybody must log in, this page too.' : null,
  fields: [{ id: 'name', label: 'Name', value: '', required: true }, PASSWORD, { id: 'role', label: 'Role', options: first ? ROLES.slice(2) : ROLES, value: first ? 'superuser' : 'read-only' }],
  verb: 'Add the user', keep: 'Add nobody', done: (_, v) => unsaved(`${v.name} may log in as ${v.role}.`) });
const setPassword = u => ({ ...configures, title: `Set the password of ${u.name}`, method: 'PUT', path: `/users/${enc(u.name)}/password`, body: v => ({ password: v.password, role: u.role }),
  intro: 'Their sessions end with the next request.', fields: [PASSWORD], verb: 'Set the password', keep: 'Keep the old one', done: () => unsaved(`${u.name} has a new password.`) });
const setRole = u => ({ ...configures, title: `Role of ${u.name}`, method: 'PATCH', path: `/users/${enc(u.name)}`, body: v => ({ role: v.role }), preview: true,
  fields: [{ id: 'role', label: 'Role', options: ROLES, value: u.role || 'read-only' }], verb: 'Set the role', keep: 'Leave it', done: (_, v) => unsaved(`${u.name} is ${v.role}.`) });
const lastSuperuser = u => u.role === 'superuser' && !need('users').items.some(x => x.role === 'superuser' && x.name !== u.name);
const removeUser = u => ({ ...configures, title: `Remove ${u.name}`, method: 'DELETE', path: `/users/${enc(u.name)}`, body: () => undefined, level: 3, word: u.name, to: 'remove them', danger: true,
  intro: ['Their sessions end with the next request.', lastSuperuser(u) && h('b', ' No other user is a superuser: nobody could configure over the network then but by a token or the directory.')], verb: `Remove ${u.name}`, keep: 'Keep them', done: () => unsaved(`${u.name} may not log in any more.`) });
const lift = l => ({ title: `Let ${l.name} try again`, method: 'DELETE', path: `/users/${enc(l.name)}/lock`, body: () => undefined, needs: 'configure', reason: false, preview: false, level: 1,
  intro: `${many(l.wrong, 'wrong password')} of ${l.name} ${l.wrong === 1 ? 'is' : 'are'} forgotten, wherever they were typed.`, verb: 'Lift the lock', keep: 'Leave it locked', done: o => ({ text: `${l.name} may try again.${o.networks ? '' : ' No lock was there any more.'}` }) });

const LASTS = [['24h', '1 day'], ['720h', '30 days'], ['2160h', '90 days'], ['8760h', '1 year'], ['', 'no end']];

/** Made here: the appliance is told its hash alone. */
async function tokenOf() {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const text = `bascule_${btoa(String.fromCharCode(...bytes)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')}`;
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return [text, `sha256:${[...hash].map(x => x.toString(16).padStart(2, '0')).join('')}`];
}

async function newToken(opener) {
  if (!globalThis.crypto?.subtle) { record({ text: 'A browser makes no token on a page that came over plain HTTP from another machine. Open it over TLS, or use `bascule token create`.', failed: true }); return; }
  const [text, hash] = await tokenOf();
  ask({ ...configures, title: 'New token', method: 'POST', path: '/tokens', intro: 'For programs. It is shown once, after this; the appliance keeps a hash.',
    body: v => ({ name: v.name.trim(), role: v.role, hash, ...(v.lasts ? { expires: new Date(now() + parseInt(v.lasts, 10) * 3600e3).toISOString().replace(/\.\d+/, '') } : {}) }),
    fields: [{ id: 'name', label: 'Name', hint: 'who uses it', value: '', required: true }, { id: 'role', label: 'Role', options: ROLES, value: 'read-only' }, { id: 'lasts', label: 'Lasts', options: LASTS, value: '2160h' }],
    verb: 'Make the token', keep: 'Make none', done: (_, v) => ({ ...unsaved(''), text: `The token ${v.name} is made. Not saved yet. Shown this once: ${text}` }) }, opener);
}
const revoke = t => ({ ...configures, title: `Revoke ${t.name}`, method: 'DELETE', path: `/tokens/${enc(t.name)}`, body: () => undefined, danger: true,
  intro: 'Whoever uses it is refused from the next request on.', verb: `Revoke ${t.name}`, keep: 'Keep it', done: () => unsaved(`The token ${t.name} is revoked.`) });

// === what is shown ===

/** The last login of each name in the journal, by how the journal names them. */
function lastLogins() {
  const last = new Map();
  for (const e of need('access').items) if (e.body.what === 'login' && !last.has(who(e.actor).replace(/^ldap:/, ''))) last.set(who(e.actor).replace(/^ldap:/, ''), e);
  return last;
}

function users() {
  const logins = need('logins').items, last = lastLogins();
  const of = name => logins.find(l => l.name === name) || {};
  const rows = [...need('users').items.map(u => ({ ...u, ...of(u.name), name: u.name })), ...logins.filter(l => l.kind === 'directory').map(l => ({ ...l, role: null }))];
  return table('Users', [
    { head: 'User', wide: true, cell: u => [h('b', nm(u.name)), u.kind === 'directory' && h('small', ' of the directory'), net.me && u.name === net.me.user && h('small', ' you')] },
    { head: 'Role', cell: u => u.role || (u.kind === 'directory' ? 'by their groups' : 'read-only') },
    { head: 'Last login', cell: u => { const e = last.get(u.name); return e ? [since(e.at), ' ago'] : need('access').loaded ? h('span.dim', 'none in 90 d') : '–'; } },
    { head: 'Sessions', num: true, cell: u => num(u.sessions || 0) },
    { head: 'Lock', cell: u => (u.locked_networks ? b('warn', 'wait', `Locked ${left(u.locked_until)}`, `from ${many(u.locked_networks, 'network')}`) : u.wrong ? h('span.dim', many(u.wrong, 'wrong password')) : h('span.dim', 'none')) },
    { head: 'Acts', hide: true, wide: true, cell: u => h('span.btns', u.wrong ? act('Lift…', o => ask(lift(u), o), { needs: 'configure' }) : null, u.kind === 'directory' ? null : [act('Password…', o => ask(setPassword(u), o), { needs: 'configure' }), act('Role…', o => ask(setRole(u), o), { needs: 'configure' }), act('Remove…', o => ask(removeUser(u), o), { needs: 'configure' })]) },
  ], rows, { none: 'No users are defined: callers on this machine are let in as superusers, others not at all.', row: u => ({ key: u.name, class: u.locked_networks ? 'row-warn' : '' }) });
}

const tokens = rows => table('Tokens', [
  { head: 'Token', wide: true, cell: t => h('b', nm(t.name)) }, { head: 'Role', cell: t => t.role || 'read-only' },
  { head: 'Expires', cell: t => { const gone = t.expires && (ms(t.expires) - now()) / 86400e3; return !t.expires ? b('hand', 'info', 'never') : gone < 0 ? b('bad', 'bad', `expired ${wall(t.expires, now())}`) : gone < 14 ? b('warn', 'wait', [wall(t.expires, now())]) : time(t.expires); } },
  { head: 'Acts', hide: true, wide: true, cell: t => h('span.btns', act('Revoke…', o => ask(revoke(t), o), { needs: 'configure' })) },
], rows, { none: 'No tokens. Programs may use one in place of a password.', row: t => ({ key: t.name }) });

const WORDS = { login: 'logged in', logout: 'logged out', refused: 'refused', unlock: 'lifted a lock' };

function tried(rows) {
  return table('Logins and refusals, newest first', [
    { head: 'When', cell: e => time(e.at) }, { head: 'What', cell: e => (e.body.what === 'refused' ? h('b.bad', 'refused') : WORDS[e.body.what] || e.body.what) },
    { head: 'Who', cell: e => nm(e.body.what === 'refused' ? e.body.user || 'nobody known' : who(e.actor)) }, { head: 'From', cell: e => (e.body.door ? nm(e.body.door) : '–') },
    { head: 'More', wide: true, cls: 'words', cell: e => h('bdi', [e.body.why, e.body.what === 'unlock' && `of ${e.body.user}`, e.body.left_out && `${num(e.body.left_out)} like it are left out before`].filter(Boolean).join('; ') || '–') },
  ], rows.slice(0, 30), { none: 'Nobody has logged in or been refused in 90 days.', row: e => ({ key: e.number }) });
}

export function view() {
  const none = need('users').loaded && !need('users').items.length && !need('tokens').items.length;
  const lockedOut = need('logins').items.filter(l => l.locked_networks);
  return [h('div.title', h('h1', 'Users and tokens'), h('div.btns', act('Add a user…', o => ask(addUser(none), o), { needs: 'configure' }), act('New token…', newToken, { needs: 'configure' }))),
    none && note('warn', 'info', h('b', 'Nobody needs to log in. '), 'Whoever is on this machine may do everything; callers from elsewhere are refused.'),
    lockedOut.length > 0 && note('warn', 'wait', h('b', `${many(lockedOut.length, 'name')} ${lockedOut.length === 1 ? 'is' : 'are'} locked out. `), 'Ten wrong passwords in a row close the door for that name and network; it opens by itself.'),
    h('div.cols', card('users', 'Users', can('configure') ? null : 'to look at only', [shows('users', users)])),
    h('div.cols', card('tokens', 'Tokens', null, shows('tokens', t => tokens(t.items)))),
    h('div.cols', card('roles', 'Roles', null, h('dl.kv', ROLES.map(([r, text]) => [h('dt', r), h('dd', text.slice(r.length + 2))])), { pad: true }), card('tried', 'Logins and refusals', 'newest first', shows('access', d => tried(d.items))))];
}
