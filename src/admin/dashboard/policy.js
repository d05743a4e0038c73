// Policies in words: what they look at, what they do, where they are bound. For their page and that of a vserver.
import { h } from './dom.js';
import { num } from './fmt.js';
import { need } from './net.js';
import { b, card, link, nm, obj, shows, table } from './parts.js';
import { needs as refollow } from './app.js';

export const KINDS = { responder: 'Responder', rewrite: 'Rewrite', cs: 'Content switching' };

/** What the configuration says of these kinds: policies and actions. */
export const texts = kinds => Object.fromEntries(kinds.flatMap(kind => ['policies', 'actions'].map(what => [`${kind}-${what}`, { path: `/${kind}-${what}`, refetch: ['config'], keep: true }])));

const told = (kind, what, name) => need(`${kind}-${what}`).items.find(x => x.name === name) || {};

/** When a policy acts. */
export function when(kind, name) {
  const p = told(kind, 'policies', name);
  const text = p.rule || [p.domain && `host ${p.domain}`, p.url && `path ${p.url}`].filter(Boolean).join(', ');
  return text ? h('code', h('bdi', text)) : h('span.dim', need(`${kind}-policies`).loaded ? 'always' : '…');
}

const verb = a => ({ redirect: `redirects${a.status ? ` (${a.status})` : ''} to`, respondwith: 'answers', noop: 'does nothing', insert_http_header: 'adds the field', delete_http_header: 'removes the field', replace: 'replaces' }[a.type] || a.type);

/** What an action does, in a line. */
export function does(kind, name, target) {
  if (kind === 'cs') {
    const to = target || told(kind, 'actions', name).target;
    return to ? ['leads to ', obj('vserver', to)] : h('span.dim', name || '…');
  }
  if (!name || /^(NOREWRITE|NOOP|DROP|RESET)$/i.test(name)) return name || '–';
  const a = told(kind, 'actions', name);
  return [h('b', nm(name)), a.type && [h('br'), h('small', `${verb(a)} `, a.target && h('code', h('bdi', a.target)), a.value && [' = ', h('code', h('bdi', a.value))])]];
}

/** How often it was met, and how often a second where it is now. */
export const hits = p => [num(p.hits), p.hits_per_second > 0 && [h('br'), h('small', `${num(p.hits_per_second)}/s`)]];

export const comment = (kind, name) => { const c = told(kind, 'policies', name).comment; return c && [h('br'), h('small', h('bdi', c))]; };

// === the policies of one vserver ===

let used = '';

export const needsOf = name => ({ policies: { path: `/policies?vserver=${encodeURIComponent(name)}`, refetch: ['config'], every: 10, keep: true }, ...texts(used.split(' ').filter(Boolean)) });

/** In the order in which they are asked; nothing where none is bound. */
export function cardOf(v) {
  const { items } = need('policies');
  const kinds = [...new Set(items.map(p => p.kind))].sort().join(' ');
  if (kinds !== used) { used = kinds; setTimeout(refollow); }
  if (!items.length) return null;
  return h('div.cols', card('policies', `Policies, ${num(items.length)}`, link('#/policies', 'All policies'), shows('policies', () => table(`Policies of ${v.name}, in the order in which they are asked`, [
    { head: 'Asked', cell: (p, i) => `${i + 1}.` },
    { head: 'Policy', wide: true, cell: p => [h('b', nm(p.name)), ' ', b('line', null, KINDS[p.kind]), p.bindings[0].bind_point === 'RESPONSE' && h('small', ' on answers'), comment(p.kind, p.name)] },
    { head: 'When', wide: true, cls: 'words', cell: p => when(p.kind, p.name) },
    { head: 'Does', wide: true, cls: 'words', cell: p => does(p.kind, p.action, p.bindings[0].target) },
    { head: 'Priority', num: true, cell: p => p.bindings[0].priority ?? 'last' },
    { head: 'Then', cell: p => (p.bindings[0].goto === 'NEXT' ? 'the next' : 'END') },
    { head: 'Hits', num: true, cell: p => hits(p.bindings[0]) },
  ], items, { row: p => ({ key: `${p.kind}/${p.name}` }) }))));
}
