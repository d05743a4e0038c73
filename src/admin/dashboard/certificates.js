// Certificates, the first to expire first.
import { h } from './dom.js';
import { num } from './fmt.js';
import { b, card, nm, shows, table } from './parts.js';


export const title = () => 'Certificates';
export const needs = () => ({ certificates: { path: '/certificates', every: 60 } });
export function view() {
    return [h('div.title', h('h1', 'Certificates')), card('list', 'Certificates', 'the first to expire first', shows('certificates', c => table('Certificates', [
      { head: 'Certificate', wide: true, cell: x => [h('b', nm(x.name)), h('br'), h('small', nm(x.subject))] },
      { head: 'Expires', cell: x => (x.days_left < 0 ? b('bad', 'bad', 'expired') : x.days_left <= 30 ? b('warn', 'wait', `in ${num(x.days_left)} d`) : `in ${num(x.days_left)} d`) }, { head: 'On', cell: x => x.not_after.slice(0, 10) },
      { head: 'For', wide: true, cell: x => [...x.names, ...x.addresses].slice(0, 8).map((n, i) => [i ? ', ' : '', nm(n)]) }, { head: 'Key', cell: x => [x.key, !x.has_key && h('small', ' no private key')] }, { head: 'Issuer', wide: true, cell: x => nm(x.issuer) },
      { head: 'Used by', wide: true, cell: x => (x.used_by.length ? x.used_by.map((u, i) => [i ? ', ' : '', nm(u)]) : 'nothing') },
    ], [...c.items].sort((a, z) => a.days_left - z.days_left), { none: 'No certificates are defined.', row: x => ({ key: x.name, class: x.days_left < 0 ? 'row-bad' : x.days_left <= 30 ? 'row-warn' : '' }) })))];
}
