// Checks: what is probed for scenarios, data centres and services.
import { h } from './dom.js';
import { at, enc, num, span, wall } from './fmt.js';
import { now, query } from './net.js';
import { act, b, card, checkBadge, crumb, link, nm, note, obj, shows, since, table, time } from './parts.js';
import { ask, force, release } from './acts.js';
import { filters, pager } from './lists.js';

const PAGE = 100;
export const title = args => args[0] || 'Checks';
export const needs = ([name], params) => (name ? { check: { path: `/checks/${enc(name)}`, kind: 'check', one: true, every: 5, keep: true }, samples: { path: `/checks/${enc(name)}/history`, refetch: ['check'], every: 5, keep: true } }
    : { checks: { path: `/checks${query({ limit: PAGE, q: params.q, cursor: params.cursor })}`, kind: 'check', every: 10, keep: true } });
export function view([name], params) {
    if (name) return shows('check', oneCheck);
    return [crumb(link(at('services'), 'Services'), 'Checks'), h('div.title', h('h1', 'Checks')), filters(params, 'check'), card('list', 'Checks', null, shows('checks', d => {
      const rows = d.items.filter(c => !params.q || c.name.toLowerCase().includes(params.q.toLowerCase())).sort((a, c) => ['down', 'unknown', 'up'].indexOf(a.state) - ['down', 'unknown', 'up'].indexOf(c.state));
      return [table('Checks', [
        { head: 'Check', wide: true, cell: c => [h('a.obj', { href: at('checks', c.name) }, nm(c.name)), h('br'), h('small', `${c.type} `, nm(c.target || ''))] }, { head: 'State', cell: checkBadge }, { head: 'Since', cell: c => since(c.since) }, { head: 'Said', wide: true, cell: c => h('bdi', c.last_error || c.last_response || '–') },
        { head: 'p99', num: true, cell: c => (c.percentiles ? c.percentiles.p99 : '–') },
        { head: 'Acts', hide: true, wide: true, cell: c => (c.forced ? act('Release…', o => ask(release('checks', c.name), o)) : act('Force…', o => ask(force('checks', c.name), o))) },
      ], rows, { none: params.q ? `No check matches “${params.q}”.` : 'No checks are defined.', row: c => ({ kind: 'check', name: c.name, class: c.forced ? 'row-hand' : c.state === 'down' ? 'row-bad' : '' }) }), pager(d, params)];
    }))];
}

function oneCheck(c) {
  const f = c.forced_by;
  return [crumb(link(at('services'), 'Services'), link(at('checks'), 'Checks'), nm(c.name)),
    h('div.title', h('h1', nm(c.name)), checkBadge(c), h('span.ink2', since(c.since)), h('div.btns', c.forced ? act('Release…', o => ask(release('checks', c.name), o)) : act('Force…', o => ask(force('checks', c.name), o)))),
    h('p.ink2', `${c.type} `, h('code', nm(c.target || '')), `, every ${c.interval}, within ${c.timeout}; up after ${c.rise}, down after ${c.fall}.`, c.service && [' Watches ', obj('service', c.service), '.']),
    f && note('hand', 'hand', h('bdi', `Forced ${c.forced} by ${f.actor}${f.reason ? `, “${f.reason}”` : ''}; ${f.expires ? `until ${wall(f.expires, now())}` : 'no expiry'}. Its probe says ${c.real}.`)), c.last_error && note(c.forced ? '' : 'warn', 'info', 'The last sample failed: ', h('bdi', c.last_error)),
    h('div.cols', card('samples', 'The last samples', c.percentiles && `p50 ${c.percentiles.p50}, p95 ${c.percentiles.p95}, p99 ${c.percentiles.p99}`, shows('samples', x => table('Samples, newest first', [
      { head: 'At', cell: i => time(i.at, 3) }, { head: 'Result', cell: i => (i.result === 'fail' ? h('b.bad', 'fail') : i.result) }, { head: 'Took', num: true, cell: i => i.latency }, { head: 'Said', wide: true, cell: i => h('bdi', i.response) },
    ], [...x.items].reverse(), { none: 'No sample yet.', row: i => ({ key: i.at }) }))))];
}
