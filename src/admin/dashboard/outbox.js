// Deliveries of triggers: what waits, what was given up, and who is told.
import { h } from './dom.js';
import { clock, ms, num, who } from './fmt.js';
import { now } from './net.js';
import { act, b, card, nm, obj, shows, since, table, time } from './parts.js';
import { ask, discard, replay, testTrigger } from './acts.js';


function status(d) {
  if (d.status === 'dead') return b('bad', 'bad', 'Not delivered');
  return d.status === 'delivered' ? b('up', 'up', 'delivered') : b('line', 'wait', 'waits');
}

function breaker(t) {
  const br = t.breaker && typeof t.breaker === 'object' ? t.breaker : { state: t.breaker, until: t.breaker_until };
  if (!br.state || br.state === 'closed') return 'closed';
  return b('warn', 'wait', [`${br.state}`, br.until && `, next in ${clock((ms(br.until) - now()) / 1000)}`]);
}

function deliveries(items) {
  return table('Deliveries', [
    { head: 'Trigger', wide: true, cell: d => [nm(d.trigger), d.test && ' test'] }, { head: 'State', cell: status },
    { head: 'For', wide: true, cell: d => (d.scenario ? [obj('scenario', d.scenario), ` ${d.direction} ${d.seq}`] : d.alert ? `alert ${d.alert}` : 'a test') },
    { head: 'Attempts', num: true, cell: d => num(d.attempt_count) },
    { head: 'Last', wide: true, cell: d => h('bdi', d.attempts.length ? `${d.attempts.at(-1).outcome}, ${d.attempts.at(-1).took}` : d.last_error || '–') },
    { head: 'Age', cell: d => since(d.since) }, { head: 'Next', cell: d => { const next = d.next_at || d.next_attempt_at; return d.status !== 'pending' ? '–' : d.blocked_behind ? `behind ${d.blocked_behind}` : next ? `in ${clock((ms(next) - now()) / 1000)}` : 'now'; } },
    { head: 'Acts', hide: true, wide: true, cell: d => (d.status === 'dead' ? h('span.btns', act('Deliver again…', o => ask(replay(d), o)), act('Forget…', o => ask(discard(d), o), { quiet: true })) : null) },
  ], items, { none: 'Nothing waits and nothing was given up.', row: d => ({ key: d.id, class: d.status === 'dead' ? 'row-bad' : '' }) });
}

export const title = () => 'Outbox';
export const needs = () => ({ outbox: { path: '/outbox?limit=500', refetch: ['trigger', 'scenario', 'alert'], every: 15, keep: true }, triggers: { path: '/triggers', kind: 'trigger', refetch: ['trigger', 'scenario'], every: 15, keep: true }, queries: { path: '/queries', refetch: ['scenario'], every: 15, keep: true } });
export function view() {
    return [h('div.title', h('h1', 'Outbox')),
      h('div.cols.first', card('waits', 'Deliveries', null, shows('outbox', o => {
        const open = o.items.filter(d => d.status !== 'delivered'), done = o.items.filter(d => d.status === 'delivered').reverse();
        return [deliveries(open), done.length ? h('details', h('summary', `${num(done.length)} delivered`), deliveries(done.slice(0, 100))) : null];
      }))),
      h('div.cols', card('triggers', 'Triggers', null, shows('triggers', t => table('Triggers', [
        { head: 'Trigger', wide: true, cell: x => [nm(x.name), h('br'), h('small', `${x.type} `, nm(x.endpoint))] }, { head: 'Breaker', cell: breaker }, { head: 'Waiting', num: true, cell: x => num(x.pending) }, { head: 'Delivered', num: true, cell: x => num(x.delivered) }, { head: 'Given up', num: true, cell: x => (x.dead ? h('b.bad', num(x.dead)) : '0') },
        { head: 'Used by', wide: true, cell: x => (x.used_by.length ? x.used_by.map((u, i) => [i ? ', ' : '', nm(u)]) : 'nothing') }, { head: 'Acts', hide: true, wide: true, cell: x => act('Test…', o => ask(testTrigger(x.name), o)) },
      ], t.items, { none: 'No triggers are defined.', row: x => ({ kind: 'trigger', name: x.name }) })))),
      h('div.cols', card('queries', 'Queries of guards', null, shows('queries', t => table('Queries', [
        { head: 'Query', wide: true, cell: x => [nm(x.name), h('br'), h('small', `${x.type} `, nm(x.endpoint))] }, { head: 'Passes', cell: x => (x.expect ? h('code', x.expect) : '–') }, { head: 'Last', wide: true, cell: x => (x.last ? [h('bdi', x.last), ', ', time(x.last_at)] : 'never asked') }, { head: 'Passed', num: true, cell: x => num(x.passed) }, { head: 'Refused', num: true, cell: x => num(x.refused) }, { head: 'Could not tell', num: true, cell: x => num(x.undecided) },
      ], t.items, { none: 'No queries are defined.', row: x => ({ key: x.name }) }))))];
}

