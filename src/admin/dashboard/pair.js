// The picture of a pair of data centres.
import { h, s } from './dom.js';
import { ms } from './fmt.js';
import { need, now } from './net.js';
import { nm } from './parts.js';

const signal = (pair, name) => (pair.signals || []).find(x => x.name === name);
const STROKE = { true: 'ok', false: 'no', unknown: 'hold' };

/** Two sites, the Internet and the private link, as seen from here. */
export function picture(pair, large) {
  const wan = (signal(pair, 'A.wan') || {}).value ?? 'unknown';
  const lan = (signal(pair, 'A.lan') || {}).value ?? 'unknown';
  const inet = (signal(pair, 'B.internet') || {}).value ?? 'unknown';
  const onA = pair.serving === pair.active;
  const word = v => ({ true: 'works', false: 'fails', unknown: 'not known' }[v]);
  const maint = place => (signal(pair, `${place}.maintenance`) || {}).value === 'true';
  const box = (x, name, on, out, lines) => [s('rect', { class: `box ${on ? 'on' : ''} ${out ? 'out' : ''}`, x, y: 150, width: 138, height: 92, rx: 8 }),
    s('text', { x: x + 12, y: 173, 'font-weight': 650 }, short(name, 17)), lines.map((line, i) => s('text.d', { x: x + 12, y: 193 + 18 * i }, line))];
  const says = `${pair.serving} answers. Access to ${pair.active} ${word(wan)}; the private link ${word(lan)}; the Internet at ${pair.backup} ${word(inet)}.`;
  const lines = (place, on, site) => [on ? (pair.fail_open ? 'answers: fail-open' : 'answers') : 'does not answer', maint(place) ? 'in maintenance' : 'maintenance off', heard(site)];
  return [s('svg', { class: `pic ${large ? 'large' : ''}`, viewBox: '0 0 372 250', role: 'img', 'aria-label': says },
    s('path', { class: onA && wan === 'true' ? 'flow' : STROKE[wan], d: 'M160 44C118 62 86 92 82 150' }),
    s('path', { class: !onA && inet === 'true' ? 'flow' : STROKE[inet], d: 'M212 44c42 18 74 48 78 104' }),
    s('path', { class: STROKE[lan], d: 'M146 196h80' }),
    s('rect.box', { x: 122, y: 8, width: 128, height: 36, rx: 18 }), s('text', { x: 186, y: 31, 'text-anchor': 'middle' }, 'Internet'),
    box(8, pair.active, onA, !onA, lines('A', onA, pair.active)), box(226, pair.backup, !onA, onA, lines('B', !onA, pair.backup)),
    s('rect.lb', { x: 30, y: 84, width: 98, height: 22 }), s('text', { x: 79, y: 100, 'text-anchor': 'middle' }, `access ${word(wan)}`),
    s('rect.lb', { x: 244, y: 84, width: 118, height: 22 }), s('text', { x: 303, y: 100, 'text-anchor': 'middle' }, `Internet ${word(inet)}`),
    s('text.d', { x: 186, y: 190, 'text-anchor': 'middle' }, `LAN ${word(lan) === 'not known' ? '?' : word(lan)}`)),
  h('p.small.gap', 'Situation: ', h('b', pair.row), '. ',
    pair.expected ? (pair.expected === pair.serving ? [nm(pair.serving), ' should answer, and does.'] : [nm(pair.expected), ' should answer once all holds are over.']) : 'No row of the table says who should answer.',
    pair.fail_open ? ' It answers because nothing else is left.' : '')];
}

const short = (text, most) => (text.length > most ? text.slice(0, most - 1) + '…' : text);

function heard(site) {
  const status = need('status').data;
  if (!status) return '';
  if (status.site === site) return 'this box';
  const peer = (status.peers || []).find(p => p.site === site);
  if (!peer) return 'no box asked there';
  return peer.state === 'heard' && peer.heard_at ? `heard ${Math.max(0, (now() - ms(peer.heard_at)) / 1000).toFixed(1)} s ago` : 'not heard';
}
