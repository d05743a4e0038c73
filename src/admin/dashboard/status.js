// What the status of the appliance comes to: what is wrong, what people set, what leaves.
import { many, ms, seconds, span } from './fmt.js';
import { now } from './net.js';

/** What counts as wrong; what is only worth knowing does not. */
export const wrong = status => status.problems.filter(p => p.severity !== 'info' && !p.hidden_by_force);

/** What people set, by object; what drains stands in its own column. */
export function forced(status) {
  const leaving = new Set(status.draining.map(d => d.service));
  const seen = new Map();
  for (const o of status.overrides) {
    if (o.kind === 'service' && o.slot === 'admin' && leaving.has(o.object)) continue;
    const key = `${o.kind}/${o.object}`;
    if (!seen.has(key)) seen.set(key, []);
    seen.get(key).push(o);
  }
  const list = [...seen.values()].map(slots => ({ ...slots[0], slots, disagrees: slots.some(s => s.probe_disagrees) }));
  return list.sort((a, c) => Number(c.disagrees) - Number(a.disagrees) || ms(a.since) - ms(c.since));
}

/** The sentence of the page; computed here only where the appliance does not tell it. */
export function verdict(status) {
  if (status.verdict) return status.verdict;
  const n = wrong(status).length;
  if (!status.ready) return { text: 'Waiting for the first probe round.', because: '' };
  return { text: n ? `${n === 1 ? '1 thing is' : `${n} things are`} wrong.` : 'Nothing is known to be wrong.', because: '' };
}

export const sentence = text => (text ? text[0].toUpperCase() + text.slice(1).replace(/[^.!?]$/, '$&.') : '');

/** How much of a drain is over; null where it has no known end. */
export function drained(d) {
  const ends = d.deadline || d.ends_at;
  if (!ends || d.kind === 'monitor') return null;
  const all = ms(ends) - ms(d.started_at);
  return all > 0 ? (now() - ms(d.started_at)) / all : null;
}

export function waitsFor(d, active) {
  const w = d.waits_for || {};
  const clients = w.persistent_clients ?? d.persistent_clients;
  const parts = [`${many(w.requests ?? active ?? 0, 'request or connection', 'requests or connections')} still on it.`];
  if (clients) parts.push(`${many(clients, 'client')} may come back by persistence${d.persistent_left ? `, the last entry ends in ${span(seconds(d.persistent_left))}` : ''}.`);
  if (d.persistent_note) parts.push(`${sentence(d.persistent_note)}`);
  if (d.kind === 'monitor' || d.by === 'monitor') parts.push('Its monitor asks for it: it will not end by itself.');
  return parts.join(' ');
}
