// The acts, each as the sentence that its button says. See dialog.js for what is done with them.
import { ask, lasting, orNever } from './dialog.js';
import { enc, seconds, span } from './fmt.js';
import { need } from './net.js';
import { modeOf } from './parts.js';

const of = (kind, name) => `/${kind}/${enc(name)}`;
const DELAYS = [['5m', '5 min'], ['1m', '1 min'], ['15m', '15 min'], ['1h', '1 h'], ['', 'no time limit'], ['0s', 'at once']];

export const enable = (kind, name) => ({
  title: `Enable ${name}`, intro: 'It takes new clients again as soon as its monitors say that it is up.', method: 'POST',
  path: `${of(kind, name)}/enable`, body: () => ({}), verb: `Enable ${name}`, short: 'Enable', keep: 'Leave it out', level: 1,
  done: o => ({ text: `${name} is enabled; ${o.state}.`, back: kind === 'services' ? drain(name) : null }),
});

export const drain = name => ({
  title: `Drain ${name}`, method: 'POST', path: `${of('services', name)}/disable`,
  intro: 'No new clients at once; clients that its vserver’s persistence leads here may come back until it leaves.',
  fields: [
    { id: 'delay', label: 'Leaves after', options: DELAYS, value: '5m' },
    { id: 'graceful', check: true, label: 'Earlier, as soon as nobody is on it', value: true },
  ],
  body: v => ({
    delay: v.delay && v.delay !== '0s' ? v.delay : undefined,
    graceful: v.delay === '' ? true : v.delay === '0s' ? undefined : v.graceful,
  }),
  verb: `Drain ${name}`, short: 'Drain', keep: `Keep ${name}`, level: 2,
  done: (o, v) => ({
    text: o.drain
      ? `${name} drains${v.delay ? `, out in ${span(seconds(v.delay))} at the latest` : ' until nobody is on it'}.`
      : `${name} is out of service.`,
    back: enable('services', name),
  }),
});

export const takeOut = (kind, name, noun) => ({
  title: `Disable ${noun} ${name}`, method: 'POST', path: `${of(kind, name)}/disable`, body: () => ({}),
  verb: `Disable ${name}`, short: 'Disable', keep: `Keep ${name}`, level: 2,
  done: () => ({ text: `${name} is out of service.`, back: enable(kind, name) }),
});

export const release = (kind, name) => ({
  title: `Release ${name}`, intro: 'From then on its probe alone says how it is.', method: 'PUT',
  path: `${of(kind, name)}/force`, body: () => ({ state: 'none' }), verb: `Release ${name}`, short: 'Release',
  keep: 'Keep the force', level: 1, done: o => ({ text: `${name} is released; ${o.state}.`, back: force(kind, name) }),
});

export const force = (kind, name, state = 'down') => ({
  title: `Force ${name}`, method: 'PUT', path: `${of(kind, name)}/force`,
  intro: 'Names and scenarios that depend on it believe the force, not the probe.',
  fields: [{ id: 'state', label: 'It counts as', options: [['down', 'down'], ['up', 'up']], value: state }],
  body: v => ({ state: v.state }), expires: lasting, verb: `Force ${name}`, short: 'Force', keep: 'Leave it to its probe',
  level: 2, done: (o, v) => ({ text: `${name} is forced ${v.state}.`, back: release(kind, name) }),
});

export const kick = (name, active) => ({
  title: `End what runs on ${name}`, method: 'POST', path: `${of('services', name)}/kick`,
  intro: `Ends ${active == null ? 'all' : active} ${active === 1 ? 'request' : 'requests'} now; their clients see a reset. New clients may come: drain it first to keep them away.`,
  body: () => ({}), verb: `End what runs on ${name}`, short: 'Kick', keep: 'Let them finish', danger: true, level: 2,
  done: o => ({ text: `${o.kicked ?? 0} ended on ${name}.` }),
});

export const endConnection = c => ({
  title: `End the connection of ${c.client}`, method: 'DELETE', path: `/connections/${c.id}`, body: () => ({}),
  intro: 'Its client sees a reset.', verb: 'End it', keep: 'Let it go on', level: 2, danger: true,
  preview: false, reason: false, done: () => ({ text: `The connection of ${c.client} is ended.` }),
});

// === scenarios ===

const modesOf = (sc, extra) => ({ method: 'PUT', path: `${of('scenarios', sc.name)}/modes`, level: 2, word: sc.name, ...extra });
const backTo = sc => modesOf(sc, {
  title: `Set the modes of ${sc.name} back`, intro: `To what they were: activate ${modeOf(sc, 'activate').mode}, deactivate ${modeOf(sc, 'deactivate').mode}.`,
  body: () => ({ activate: modeOf(sc, 'activate').mode, deactivate: modeOf(sc, 'deactivate').mode }),
  verb: 'Set them back', keep: 'Leave them',
  done: o => ({ text: `${sc.name}: activate ${o.modes.activate}, deactivate ${o.modes.deactivate}.` }),
});
/** Where a guard would run, or nobody knows. */
const guarded = (sc, ...ways) => (!sc.guard || ways.some(way => sc.guard[way]) ? [GUARD] : []);
const GUARD = { id: 'override', check: true, label: 'Do not ask the guard', hint: 'may lose what it guards; recorded with your name', value: false };
const overridden = v => (v.override ? { override: true } : {});
const moved = sc => o => ({ text: `${sc.name} is ${o.state}, seq ${o.seq}.`, back: backTo(sc) });

export const returns = (sc, to) => modesOf(sc, {
  title: `Return ${sc.name}${to ? ` to ${to}` : ''}`,
  intro: modeOf(sc, 'activate').mode === 'on'
    ? 'Activate is already on. To return, set activate to auto and deactivate to on: that is what this button sends.'
    : 'One call sets deactivate to on.',
  fields: guarded(sc, 'deactivate'), expires: orNever, expiresLabel: 'Mark falls',
  body: v => ({ ...(modeOf(sc, 'activate').mode === 'on' ? { activate: 'auto' } : {}), deactivate: 'on', ...overridden(v) }),
  after: `If ${sc.name} is returned now`, verb: `Return ${sc.name}${to ? ` to ${to}` : ''}`, short: 'Return', keep: 'Keep it active',
  to: `send users${to ? ` to ${to}` : ' back'}`, done: moved(sc),
});

export const activates = (sc, to) => modesOf(sc, {
  title: `Activate ${sc.name}${to ? `: ${to} answers` : ''}`, intro: 'One call sets activate to on.',
  fields: guarded(sc, 'activate'), expires: orNever, expiresLabel: 'Mark falls',
  body: v => ({ activate: 'on', ...(modeOf(sc, 'deactivate').mode === 'on' ? { deactivate: 'auto' } : {}), ...overridden(v) }),
  after: `If ${sc.name} is activated now`, verb: `Activate ${sc.name}`, short: 'Activate', keep: 'Keep it inactive',
  to: `send users${to ? ` to ${to}` : ' there'}`, done: moved(sc),
});

const WORDS = [['auto', 'auto: by its condition'], ['on', 'on: now, and once'], ['off', 'off: never by itself']];
export const changeModes = sc => modesOf(sc, {
  title: `Modes of ${sc.name}`,
  fields: [
    { id: 'activate', label: 'Activate', options: WORDS, value: modeOf(sc, 'activate').mode },
    { id: 'deactivate', label: 'Deactivate', options: WORDS, value: modeOf(sc, 'deactivate').mode },
    ...guarded(sc, 'activate', 'deactivate'),
  ],
  expires: orNever, expiresLabel: 'Mark falls',
  body: v => ({ activate: v.activate, deactivate: v.deactivate, ...overridden(v) }),
  after: 'With these modes', verb: `Set the modes of ${sc.name}`, short: 'Modes', keep: 'Leave them', to: 'set them', done: moved(sc),
});

export const decide = (sc, decision) => ({
  title: `${decision === 'approve' ? 'Approve' : 'Refuse'} attempt ${sc.attempt.id} of ${sc.name}`, method: 'POST',
  path: `${of('scenarios', sc.name)}/guard`, body: () => ({ decision, attempt: sc.attempt.id }), preview: false,
  intro: `${sc.name} wants to ${sc.attempt.direction}. ${sc.attempt.detail || ''}`, level: decision === 'approve' ? 2 : 1,
  verb: decision === 'approve' ? `Approve attempt ${sc.attempt.id}` : `Refuse attempt ${sc.attempt.id}`, keep: 'Decide later',
  done: o => ({ text: `Attempt ${sc.attempt.id} of ${sc.name}: ${decision === 'approve' ? 'approved' : 'refused'}; ${o.state}.` }),
});

export const flip = (name, value, what) => ({
  title: what || `Turn ${name} ${value ? 'on' : 'off'}`, method: 'PUT', path: of('switches', name), body: () => ({ value }),
  expires: orNever, verb: what || `Turn ${name} ${value ? 'on' : 'off'}`, short: value ? 'On' : 'Off', keep: 'Leave it', level: 2, word: name,
  done: () => ({ text: `${name} is ${value ? 'on' : 'off'}.`, back: flip(name, !value) }),
});

// === deliveries ===

export const replay = d => ({
  title: `Deliver ${d.trigger} again`, intro: 'With its key, so that a receiver that had it already can tell.', method: 'POST',
  path: `/outbox/${d.id}/replay`, body: () => ({}), preview: false, level: 1, reason: false, verb: 'Deliver again', keep: 'Leave it',
  done: o => ({ text: `${d.trigger}: ${o.status}.` }),
});
export const discard = d => ({
  title: `Forget the delivery of ${d.trigger}`, intro: 'Its receiver is never told.', method: 'DELETE', path: `/outbox/${d.id}`,
  body: () => ({}), preview: false, level: 1, reason: false, verb: 'Forget it', keep: 'Keep it', danger: true,
  done: () => ({ text: `The delivery of ${d.trigger} is forgotten.` }),
});
export const testTrigger = name => ({
  title: `Test ${name}`, intro: 'Sends one delivery that is marked as a test to its receiver, once.', method: 'POST',
  path: `/triggers/${enc(name)}/test`, body: () => ({}), preview: false, level: 1, reason: false, verb: `Test ${name}`, keep: 'Not now',
  done: o => ({ text: `${name}: ${o.status}${o.last_error ? `, ${o.last_error}` : ''}.`, failed: o.status !== 'delivered' }),
});

// === the configuration ===

export const saveConfig = () => ({
  title: 'Save the running configuration', method: 'POST', path: '/config/save', needs: 'configure', level: 1, reason: false, preview: false, body: () => ({}),
  intro: ['It is written to ', ((need('status').data || {}).config || {}).path || 'its file', '; five older versions are kept.'], verb: 'Save', keep: 'Leave it unsaved',
  done: () => ({ text: 'The running configuration is saved.' }),
});

export { ask };
