// Words for numbers and times. A no-break space stands between a number and its unit.
const NB = '\u00a0';
const UNITS = { us: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600, d: 86400 };

/** Seconds of a duration of the API (`28s`, `1h30m`, `1.427ms`); null where there is none. */
export function seconds(text) {
  if (text == null || text === '') return null;
  if (typeof text === 'number') return text;
  let sum = 0;
  for (const [, n, unit] of String(text).matchAll(/([\d.]+)(us|ms|s|m|h|d)/g)) sum += n * UNITS[unit];
  return sum;
}

export const ms = iso => (iso ? Date.parse(iso) : NaN);
export const two = n => String(Math.floor(n)).padStart(2, '0');

/** How long: `38 s`, `5 min 38 s`, `1 h 21 min`, `2 d 4 h`. */
export function span(secs) {
  if (secs == null || Number.isNaN(secs)) return '–';
  const s = Math.max(0, Math.floor(secs));
  if (secs > 0 && secs < 1) return secs < 0.0995 ? `${+(secs * 1000).toFixed(1)}${NB}ms` : `${secs.toFixed(2)}${NB}s`;
  if (s < 60) return `${s}${NB}s`;
  if (s < 3600) return `${Math.floor(s / 60)}${NB}min${s % 60 ? NB + (s % 60) + NB + 's' : ''}`;
  if (s < 86400) {
    const min = Math.floor(s / 60) % 60;
    return `${Math.floor(s / 3600)}${NB}h${min ? NB + min + NB + 'min' : ''}`;
  }
  const hours = Math.floor(s / 3600) % 24;
  return `${Math.floor(s / 86400)}${NB}d${hours ? NB + hours + NB + 'h' : ''}`;
}

/** A countdown: `2:47`, `1:02:03`. */
export function clock(secs) {
  const s = Math.max(0, Math.ceil(secs));
  return s >= 3600 ? `${Math.floor(s / 3600)}:${two((s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** Wall time in UTC: `03:10:14`, with the day where it is not that of `now`; `digits` of a second. */
export function wall(iso, now, digits = 0) {
  const t = new Date(typeof iso === 'number' ? iso : ms(iso));
  if (Number.isNaN(+t)) return '–';
  let text = `${two(t.getUTCHours())}:${two(t.getUTCMinutes())}:${two(t.getUTCSeconds())}`;
  if (digits) text += '.' + String(t.getUTCMilliseconds()).padStart(3, '0').slice(0, digits);
  const n = new Date(now);
  const same = t.getUTCDate() === n.getUTCDate() && Math.abs(t - n) < 86400e3;
  const year = Math.abs(t - n) > 300 * 86400e3 ? ' ' + t.getUTCFullYear() : '';
  return same ? text : `${t.getUTCDate()}${NB}${MONTHS[t.getUTCMonth()]}${year} ${text}`;
}

/** `1 240`; below ten one digit after the point, where there is one. */
export function num(n) {
  if (n == null || Number.isNaN(n)) return '–';
  const rounded = Math.abs(n) < 10 ? Math.round(n * 10) / 10 : Math.round(n);
  return String(rounded).replace(/\B(?=(\d{3})+(?!\d))/g, NB);
}

export function bytes(n) {
  if (n == null) return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let at = 0;
  while (n >= 1024 && at < 4) { n /= 1024; at += 1; }
  return `${num(n)}${NB}${units[at]}`;
}

export const millis = n => (n == null ? '–' : `${n < 10 ? Math.round(n * 10) / 10 : Math.round(n)}${NB}ms`);
export const many = (n, one, more = one + 's') => `${num(n)}${NB}${n === 1 ? one : more}`;
/** `admin:a.brandt` as people say it. */
export const who = actor => (actor || '').replace(/^admin:/, '');
export const enc = encodeURIComponent;
/** The path of an object inside the page. */
export const at = (...parts) => '#/' + parts.map(enc).join('/');
