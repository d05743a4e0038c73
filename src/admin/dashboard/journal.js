// The journal: everything that happened, by object, person, kind and time.
import { h } from './dom.js';
import { at, num, wall, who } from './fmt.js';
import { now, query } from './net.js';
import { act, card, field, link, nm, obj, shows, since, table, time } from './parts.js';
import { setParams } from './app.js';


const KINDS = ['', 'transition', 'act', 'ended', 'state', 'board', 'attempt', 'warning', 'alert', 'drill', 'members', 'config', 'delivery', 'caches', 'access', 'start', 'stop'];
const MOST = 200;

/** An entry in words: its sentence without the object, which has a place of its own, and what there is more on it. */
function words(e) {
  const said = e.kind === 'access' ? [e.body.what, e.body.user, e.body.why].filter(Boolean).join(': ') : e.text || e.kind;
  const short = said.startsWith(`${e.object}: `) ? said.slice(e.object.length + 2) : said.startsWith(`${e.object} `) ? said.slice(e.object.length + 1) : said;
  return [h('bdi', short), e.details.slice(0, 6).map(d => [h('br'), h('small', h('bdi', d))])];
}

export const title = () => 'Journal';
export const needs = (_, p) => ({ journal: { path: `/journal${query({ since: p.since || '24h', until: p.until, scenario: p.scenario, actor: p.actor, kind: p.kind, newest_first: 'true', limit: p.object ? 5000 : MOST })}`, refetch: p.until || p.object ? [] : ['scenario', 'service', 'vserver', 'switch', 'check', 'alert'], keep: true } });
let timer = null;
export function view(_, p) {
    const set = (key, value) => { clearTimeout(timer); timer = setTimeout(() => setParams({ [key]: value }), 300); };
    const input = (id, label, props) => field(`j-${id}`, label, null, h('input', { id: `j-${id}`, value: p[id] || '', oninput: e => set(id, e.target.value), autocomplete: 'off', ...props }));
    return [h('div.title', h('h1', 'Journal')),
      h('div.filters.many', { role: 'search', 'aria-label': 'Filter the journal' }, input('object', 'Object', { placeholder: 'web1' }), input('scenario', 'Scenario'), input('actor', 'Actor', { placeholder: 'admin:ada' }),
        field('j-kind', 'Kind', null, h('select', { id: 'j-kind', value: p.kind || '', onchange: e => setParams({ kind: e.target.value }) }, KINDS.map(k => h('option', { value: k, selected: k === (p.kind || '') }, k || 'any')))), input('since', 'Since', { placeholder: '24h' }), input('until', 'Until', { placeholder: 'now' })),
      card('list', 'What happened', 'newest first', shows('journal', j => {
        const q = (p.object || '').toLowerCase();
        const rows = j.items.filter(e => !q || e.object.toLowerCase().includes(q)).slice(0, MOST);
        const oldest = j.items[j.items.length - 1];
        return [table('Entries of the journal', [
          { head: 'When', cell: e => link(at('timeline', 'at', e.at), time(e.at, 3)) }, { head: 'Kind', cell: e => e.kind },
          { head: 'Object', wide: true, cell: e => { const [kind, ...name] = e.object.split(' '); return name.length ? obj(kind, name.join(' ')) : h('span.none', '–'); } },
          { head: 'What', wide: true, cls: 'words', cell: words }, { head: 'Who', cell: e => (/^(system|auto)$/.test(e.actor) ? h('span.dim', e.actor) : h('span.hand', nm(who(e.actor)))) }, { head: 'Entry', num: true, cell: e => num(e.number) },
        ], rows, { none: 'Nothing fits in this time.', row: e => ({ key: e.number }) }), j.items.length >= (q ? 5000 : MOST) && h('p.pad', h('button', { type: 'button', class: 'btn', onclick: () => setParams({ until: oldest.at, since: p.since || '400d' }) }, `Older than ${wall(oldest.at, now())}`))];
      }))];
}

