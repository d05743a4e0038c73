// Monitors: the definitions, who is probed by them, and how many of these probes fail.
import { h } from './dom.js';
import { at, enc, many, num, span, seconds } from './fmt.js';
import { need } from './net.js';
import { b, card, checkBadge, crumb, link, nm, obj, shows, since, table } from './parts.js';
import { filters } from './lists.js';

export const title = args => args[0] || 'Monitors';
export const needs = ([name]) => (name ? { monitor: { path: `/monitors/${enc(name)}`, refetch: ['check', 'service'], every: 10, keep: true } } : { monitors: { path: '/monitors', refetch: ['check', 'config'], every: 30, keep: true } });

const failing = m => m.bindings.filter(x => x.monitor.state === 'down' && x.monitor.admin !== 'DISABLED');

/** Services by name, members by their group. */
function users(m) {
  const groups = new Map(), single = [];
  for (const { service } of m.bindings) {
    const [group, member] = service.split('/');
    if (member === undefined) single.push(service);
    else groups.set(group, (groups.get(group) || 0) + 1);
  }
  const all = [...[...groups].map(([name, n]) => [obj('service_group', name), h('small', ` ${many(n, 'member')}`)]), ...single.map(name => obj('service', name))];
  return [all.slice(0, 4).map((x, i) => [i ? ', ' : '', x]), all.length > 4 && ` and ${num(all.length - 4)} more`, !all.length && h('span.dim', 'nothing')];
}

const fails = m => { const n = failing(m).length; return n ? h('b.bad', `${num(n)} of ${num(m.bindings.length)}`) : m.bindings.length ? `0 of ${num(m.bindings.length)}` : '–'; };
const off = m => m.admin === 'DISABLED' && b('hand', 'ofs', 'Disabled');

const list = (caption, rows, none) => table(caption, [
  { head: 'Monitor', wide: true, cell: m => [h('a.obj', { href: at('monitors', m.name) }, nm(m.name)), m.builtin && h('small', ' built in'), ' ', off(m), m.comment && [h('br'), h('small', h('bdi', m.comment))]] },
  { head: 'Type', cell: m => `${m.type}${m.secure ? ' over TLS' : ''}` }, { head: 'Every', num: true, cell: m => span(seconds(m.interval)) }, { head: 'Within', num: true, cell: m => span(seconds(m.response_timeout)) },
  { head: 'Probes', wide: true, cell: users }, { head: 'Failing', num: true, cell: fails },
], rows, { none, row: m => ({ key: m.name, class: failing(m).length ? 'row-bad' : '' }) });

function one(m) {
  const bad = failing(m).length;
  const rows = [...m.bindings].sort((a, c) => ['down', 'unknown', 'up'].indexOf(a.monitor.state) - ['down', 'unknown', 'up'].indexOf(c.monitor.state));
  return [crumb(link(at('services'), 'Services'), link(at('monitors'), 'Monitors'), nm(m.name)),
    h('div.title', h('h1', nm(m.name)), off(m), bad ? b('bad', 'bad', `${num(bad)} of ${num(m.bindings.length)} fail`) : m.bindings.length ? b('up', 'up', `${num(m.bindings.length)} probed`) : null),
    h('p.ink2', `${m.type}${m.secure ? ' over TLS' : ''}${m.builtin ? ', built in' : ''}, every ${span(seconds(m.interval))}, answered within ${span(seconds(m.response_timeout))}. DOWN after ${many(m.failure_retries || m.retries, 'failed probe')}${m.failure_retries ? ` of ${num(m.retries)}` : ' in a row'}, then probed every ${span(seconds(m.down_time))}; UP after ${many(m.success_retries, 'good one')}.`,
      m.reverse && ' What answers counts as failed.', m.dest_ip && [' It asks ', h('code', m.dest_port ? `${m.dest_ip}:${m.dest_port}` : m.dest_ip), ', not the service.']), m.comment && h('p.ink2', h('bdi', m.comment)),
    h('div.cols', card('on', `Where it probes, ${num(rows.length)}`, 'failing first', table('Services that it probes', [
      { head: 'Service', wide: true, cell: x => obj('service', x.service) }, { head: 'State', cell: x => (x.monitor.admin === 'DISABLED' ? b('', 'ofs', 'Disabled') : link(at('checks', x.monitor.check), checkBadge(x.monitor))) }, { head: 'Since', cell: x => since(x.monitor.since) },
      { head: 'Said', wide: true, cls: 'words', cell: x => h('bdi', x.monitor.last_error || x.monitor.last_response || '–') }, { head: 'Took', num: true, cell: x => (x.monitor.latency ? span(seconds(x.monitor.latency)) : '–') }, { head: 'Failed', num: true, cell: x => `${num(x.monitor.failed_total)} of ${num(x.monitor.samples_total)}` },
    ], rows.slice(0, 500), { none: 'No service is probed by it.', row: x => ({ key: x.monitor.check, class: x.monitor.state === 'down' ? 'row-bad' : '' }), foot: rows.length > 500 ? h('p.pad.small', `The first 500 of ${num(rows.length)} are shown.`) : null })))];
}

export function view([name], params) {
  if (name) return shows('monitor', one);
  const q = (params.q || '').toLowerCase();
  const all = need('monitors').items.filter(m => !q || m.name.toLowerCase().includes(q)).sort((a, c) => failing(c).length - failing(a).length || c.bindings.length - a.bindings.length);
  const idle = all.filter(m => m.builtin && !m.bindings.length);
  const rows = all.filter(m => !idle.includes(m));
  return [crumb(link(at('services'), 'Services'), 'Monitors'), h('div.title', h('h1', 'Monitors'), h('div.btns', h('a.btn', { href: at('checks') }, 'Checks'))), filters(params, 'monitor'),
    card('list', 'Monitors', 'failing first', shows('monitors', () => [list('Monitors', rows, q ? `No monitor matches “${params.q}”.` : 'No monitors are in use.'), idle.length ? h('details', h('summary', `${many(idle.length, 'built-in monitor')} that nothing uses`), list('Built-in monitors that nothing uses', idle)) : null]))];
}
