// Policies: responder, rewriting and content switching with their actions and sets, and the rules of the configuration.
import { h } from './dom.js';
import { at, num } from './fmt.js';
import { need } from './net.js';
import { card, link, nm, note, obj, shows, table } from './parts.js';
import { filters } from './lists.js';
import { KINDS, comment, does, hits, texts, when } from './policy.js';

export const title = () => 'Policies';
export const needs = () => ({
  bound: { path: '/policies', refetch: ['config'], every: 10, keep: true }, ...texts(Object.keys(KINDS)),
  sets: { path: '/pattern-sets', refetch: ['config'], keep: true }, named: { path: '/policy-expressions', refetch: ['config'], keep: true },
  rules: { path: '/rules?limit=2000', refetch: ['config'], every: 10, keep: true },
});

const places = p => (p.bindings.length ? p.bindings.map(x => h('div', x.bank ? `every vserver (${x.bank})` : obj('vserver', x.vserver), h('small', ` ${x.priority ?? 'last'}${x.bind_point === 'RESPONSE' ? ', on answers' : ''}${x.goto === 'NEXT' ? ', then the next' : ''}`), p.bindings.length > 1 && h('small', `, ${num(x.hits)} hits`)))
  : h('span.dim', 'nowhere'));

const list = (kind, rows) => table(`${KINDS[kind]} policies`, [
  { head: 'Policy', wide: true, cell: p => [h('b', nm(p.name)), comment(kind, p.name)] },
  { head: 'When', wide: true, cls: 'words', cell: p => when(kind, p.name) },
  { head: 'Does', wide: true, cls: 'words', cell: p => does(kind, p.action) },
  { head: 'Bound to', cell: places },
  { head: 'Hits', num: true, cell: p => hits(p) },
], rows, { row: p => ({ key: p.name }) });

/** Actions that no policy names. */
function spare() {
  const rows = Object.keys(KINDS).flatMap(kind => need(`${kind}-actions`).items.filter(a => !need(`${kind}-policies`).items.some(p => p.action === a.name)).map(a => ({ ...a, kind })));
  return rows.length ? h('div.cols', card('spare', `Actions that no policy names, ${num(rows.length)}`, null, table('Actions without a policy', [{ head: 'Action', wide: true, cell: a => does(a.kind, a.name) }, { head: 'Kind', cell: a => KINDS[a.kind] }], rows, { row: a => ({ key: `${a.kind}/${a.name}` }) }))) : null;
}

function rules(rows) {
  return table('Rules of the configuration', [
    { head: 'Rule', wide: true, cell: r => h('b', nm(r.name)) }, { head: 'Vserver', cell: r => obj('vserver', r.vserver) }, { head: 'Priority', num: true, cell: r => num(r.priority) },
    { head: 'When', wide: true, cls: 'words', cell: r => (r.when.some(g => !g.length) ? 'always' : r.when.map((g, i) => [i ? ' or ' : '', h('code', h('bdi', g.join(' and ')))])) },
    { head: 'Does', wide: true, cls: 'words', cell: r => [h('bdi', r.action), r.phase === 'response' && h('small', ' on answers')] }, { head: 'Hits', num: true, cell: r => num(r.hits_total) },
  ], rows, { none: 'The configuration has no rules of its own.', row: r => ({ key: r.name }) });
}

const sets = rows => table('Pattern sets', [
  { head: 'Set', wide: true, cell: s => [h('b', nm(s.name)), s.comment && [h('br'), h('small', h('bdi', s.comment))]] },
  { head: 'Patterns', wide: true, cls: 'words', cell: s => { const all = Array.isArray(s.patterns) ? s.patterns : Object.keys(s.patterns || {}); return [all.slice(0, 12).map((p, i) => [i ? ', ' : '', h('code', nm(p))]), all.length > 12 && ` and ${num(all.length - 12)} more`, !all.length && h('span.dim', 'none')]; } },
], rows, { row: s => ({ key: s.name }) });

export function view(_, params) {
  const q = (params.q || '').toLowerCase();
  const fits = x => !q || x.name.toLowerCase().includes(q) || (x.action || '').toLowerCase().includes(q);
  const made = new Set(need('bound').items.flatMap(p => p.bindings.map(x => `${x.vserver}/${p.name}`)));
  return [h('div.title', h('h1', 'Policies')),
    h('p.ink2', 'A request meets the rules of the configuration, the responder, rewriting and content switching, in this order; an answer meets rewriting alone. Where they are bound, each vserver’s page shows them in the order in which they are asked.'),
    filters(params, 'policy'),
    shows('bound', d => {
      const rows = d.items.filter(fits);
      if (!d.items.length) return note('', 'info', 'No policies are defined. They are made in the shell (', h('code', 'add responder policy …'), '), by NITRO, or in the ', link(at('config'), 'configuration'), '.');
      if (!rows.length) return h('p.empty', `No policy matches “${params.q}”.`);
      return Object.keys(KINDS).filter(kind => rows.some(p => p.kind === kind)).map(kind => { const of = rows.filter(p => p.kind === kind); return h('div.cols', { key: kind }, card(kind, `${KINDS[kind]}, ${num(of.length)}`, null, list(kind, of))); });
    }),
    h('div.cols', card('rules', 'Rules of the configuration', 'asked before a vserver’s policies', shows('rules', d => rules(d.items.filter(r => !made.has(r.name) && fits(r)))))), spare(),
    h('div.cols.c2', need('sets').items.length ? card('sets', 'Pattern sets', null, sets(need('sets').items)) : null,
      need('named').items.length ? card('named', 'Named expressions', null, table('Named expressions', [{ head: 'Name', cell: e => h('b', nm(e.name)) }, { head: 'Is', wide: true, cls: 'words', cell: e => h('code', h('bdi', e.value)) }], need('named').items, { row: e => ({ key: e.name }) })) : null)];
}
