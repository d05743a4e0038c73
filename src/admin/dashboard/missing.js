// What clients of NITRO asked for and this build does not have: what to tell whoever runs them, and what is to come next.
import { h } from './dom.js';
import { num } from './fmt.js';
import { card, nm, shows, since, table } from './parts.js';

export const title = () => 'Asked in vain';
// No event tells of it.
export const needs = () => ({ missing: { path: '/nitro/missing', every: 30 } });

export function view() {
  return [h('div.title', h('h1', 'Asked in vain')),
    h('p.ink2', 'Resources and attributes of NITRO that clients asked for and this build does not have, since the start of the process. Each was answered with the error that a NetScaler gives for what it does not know.'),
    h('div.cols', card('list', 'Resources and attributes', 'the most often asked for first', shows('missing', m => table('Resources and attributes', [
      { head: 'Resource', wide: true, cell: x => h('b', nm(x.resource)) },
      { head: 'Attribute', wide: true, cell: x => (x.attribute ? h('code', nm(x.attribute)) : h('span.dim', 'the resource itself')) },
      { head: 'Method', cell: x => x.method }, { head: 'How often', num: true, cell: x => num(x.count) }, { head: 'Last', cell: x => [since(x.last), ' ago'] },
    ], [...m.items].sort((a, z) => z.count - a.count), { none: 'Clients of NITRO found everything that they asked for.', row: x => ({ key: `${x.method} ${x.resource} ${x.attribute || ''}` }) }))))];
}
