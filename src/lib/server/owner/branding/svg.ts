import { isUtf8 } from 'node:buffer';
import { LogoRefused, type LogoPicture } from './logo.ts';
import { ATTRIBUTES, DROPPED_ATTRIBUTE, DROPPED_ELEMENT, ELEMENTS, STYLES } from './svg-vocabulary.ts';

/**
 * Reads an SVG drawing as a stranger's file and writes it anew from what was understood: elements and attributes of
 * a short list, values of a few characters in which no address can be written. What editors leave behind is dropped;
 * what could act (scripts, links, other files, entities, reuse that multiplies) is refused, so that its owner knows.
 */
const MAX_ELEMENTS = 1_000;
const MAX_DEPTH = 32;
const MAX_UNITS = 100_000;

const OPENING = /<([A-Za-z_][\w:.-]*)((?:\s+[A-Za-z_:][\w:.-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;
const CLOSING = /<\/([A-Za-z_][\w:.-]*)\s*>/y;
const ATTRIBUTE = /([A-Za-z_:][\w:.-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g;
const DECLARATION = /^\s*<\?xml\s[^<>]*\?>/;
/** Without an inner part, which is where entities are made. */
const DOCTYPE = /<!DOCTYPE\s+svg[^<>[\]]*>/y;
const COMMENT = /<!--[^]*?-->/y;
const TEXT = /[^<]+/y;

const ID = /^[A-Za-z_][\w.-]{0,63}$/;
const VALUE = /^[\w\s#%.,()+-]*$/;
const OWN_REFERENCE = /^url\(\s*(['"]?)#([A-Za-z_][\w.-]{0,63})\1\s*\)$/;
/** Characters */
const LONGER_THAN_FUNCTIONS = 32;
const FUNCTIONS = ['rgb', 'rgba', 'hsl', 'hsla', 'matrix', 'translate', 'scale', 'rotate', 'skewX', 'skewY'];

/** The first thing in the file that is no comment or declaration is not looked for: a sound file begins so. */
export const isSvg = (bytes: Buffer): boolean =>
	/^\s*</.test(bytes.subarray(0, 64).toString('utf8').replace('\ufeff', ''));

const broken = (what: string) => new LogoRefused(`This SVG file is broken: ${what}.`);
const forbidden = (what: string) =>
	new LogoRefused(`An SVG logo may not contain ${what}. Save it as a plain drawing, or use a PNG.`);

/** @throws LogoRefused */
export function readSvg(bytes: Buffer): LogoPicture {
	if (!isUtf8(bytes)) throw broken('it is not in UTF-8');
	const text = bytes.toString('utf8').replace('\ufeff', '');
	// eslint-disable-next-line no-control-regex -- exactly these are looked for
	if (/[\0-\x08\x0b\x0c\x0e-\x1f]/.test(text)) throw broken('it has control characters');
	const drawing = new Drawing();
	let at = DECLARATION.exec(text)?.[0].length ?? 0;
	const take = (pattern: RegExp) => {
		pattern.lastIndex = at;
		const found = pattern.exec(text);
		if (found) at = pattern.lastIndex;
		return found;
	};
	while (at < text.length) {
		if (take(TEXT) ?? take(COMMENT)) continue;
		const opening = take(OPENING);
		if (opening) {
			drawing.open(opening[1] ?? '', opening[2] ?? '');
			if (opening[3] === '/') drawing.close(opening[1] ?? '');
			continue;
		}
		const closing = take(CLOSING);
		if (closing) drawing.close(closing[1] ?? '');
		else if (!drawing.begun && take(DOCTYPE)) continue;
		else throw unread(text.slice(at, at + 12));
	}
	return drawing.end();
}

function unread(text: string): LogoRefused {
	if (text.startsWith('<!DOCTYPE') || text.startsWith('<!ENTITY')) return forbidden('entities');
	if (text.startsWith('<![CDATA[')) return forbidden('CDATA');
	if (text.startsWith('<?')) return forbidden('processing instructions');
	return broken('its markup cannot be read');
}

/** What has been understood so far. */
class Drawing {
	#output = '';
	#open: { name: string; kept: boolean }[] = [];
	#elements = 0;
	#ended = false;
	#size: { width: number; height: number } | null = null;
	begun = false;

	open(name: string, attributes: string): void {
		this.#elements += 1;
		if (this.#elements > MAX_ELEMENTS) throw forbidden(`more than ${MAX_ELEMENTS} elements`);
		if (this.#open.length === MAX_DEPTH) throw forbidden(`elements more than ${MAX_DEPTH} deep`);
		if (this.#ended) throw broken('something stands behind its end');
		if (!this.begun && name !== 'svg') throw broken('it does not begin with svg');
		const parent = this.#open.at(-1);
		const dropped = parent?.kept === false || DROPPED_ELEMENT.test(name);
		this.#open.push({ name, kept: !dropped });
		if (dropped) return;
		if (!ELEMENTS.has(name)) throw forbidden(reasonOf(name));
		const values = attributesOf(name, attributes);
		if (!this.begun) {
			this.begun = true;
			this.#output += this.#root(values);
			return;
		}
		if (name === 'svg') throw forbidden('a drawing in a drawing');
		// A clip that is clipped by clips can be made to take for ever.
		if (values.has('clip-path') && this.#open.some((one) => one.name === 'clipPath')) {
			throw forbidden('clips of clips');
		}
		this.#output += `<${name}${written(values)}>`;
	}

	close(name: string): void {
		const last = this.#open.pop();
		if (last?.name !== name) throw broken(`${name} is closed where it is not open`);
		if (last.kept) this.#output += `</${name}>`;
		if (this.#open.length === 0) this.#ended = true;
	}

	end(): LogoPicture {
		if (!this.#ended || !this.#size) throw broken('it ends too early');
		return {
			type: 'image/svg+xml',
			extension: 'svg',
			bytes: Buffer.from(this.#output),
			...this.#size
		};
	}

	#root(values: Map<string, string>): string {
		const box = (values.get('viewBox') ?? '')
			.trim()
			.split(/[\s,]+/)
			.map(Number);
		const sides = [values.get('width'), values.get('height')].map((side) =>
			Number((side ?? '').replace(/px$/, ''))
		);
		const [x = 0, y = 0, width = 0, height = 0] = values.has('viewBox') ? box : [0, 0, ...sides];
		const whole = [x, y, width, height];
		if (whole.some((one) => !Number.isFinite(one)) || whole.length !== 4 || width <= 0 || height <= 0) {
			throw broken('it does not say how large it is (viewBox)');
		}
		if (whole.some((one) => Math.abs(one) > MAX_UNITS)) throw forbidden(`more than ${MAX_UNITS} units`);
		this.#size = { width: Math.max(1, Math.round(width)), height: Math.max(1, Math.round(height)) };
		for (const name of ['viewBox', 'width', 'height', 'preserveAspectRatio']) values.delete(name);
		return (
			'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"' +
			` viewBox="${whole.join(' ')}" width="${width}" height="${height}"${written(values)}>`
		);
	}
}

const written = (values: Map<string, string>) =>
	[...values].map(([name, value]) => ` ${name}="${value.replaceAll('"', '')}"`).join('');

function reasonOf(name: string): string {
	if (name === 'text') return 'text (turn it into paths)';
	if (name === 'style') return 'a style sheet (save it with presentation attributes)';
	if (name === 'image') return 'pictures';
	return `“${name.slice(0, 40)}”`;
}

function attributesOf(element: string, text: string): Map<string, string> {
	const values = new Map<string, string>();
	const seen = new Set<string>();
	for (const [, name = '', double, single] of text.matchAll(ATTRIBUTE)) {
		const value = double ?? single ?? '';
		if (seen.has(name)) throw broken(`${name.slice(0, 40)} is given twice`);
		seen.add(name);
		if (DROPPED_ATTRIBUTE.test(name)) continue;
		if (name === 'style') {
			for (const [property, one] of stylesOf(value)) values.set(property, one);
		} else if (name === 'id') {
			if (!ID.test(value)) throw forbidden('ids with such characters');
			values.set(name, value);
		} else if (/^(xlink:)?href$/.test(name) && /^(linear|radial)Gradient$/.test(element)) {
			if (!ID.test(value.replace(/^#/, '')) || !value.startsWith('#'))
				throw forbidden('links to other files');
			values.set('xlink:href', value);
		} else if (ATTRIBUTES.has(name)) {
			values.set(name, valueOf(name, value));
		} else {
			throw forbidden(`the attribute “${name.slice(0, 40)}”`);
		}
	}
	return values;
}

/** The properties of a style attribute that draw something, as attributes. */
function stylesOf(style: string): [string, string][] {
	return style.split(';').flatMap((declaration) => {
		const [name = '', value = '', ...more] = declaration.split(':').map((part) => part.trim());
		if (!STYLES.has(name)) {
			// What editors note is dropped; what would load something is not passed over in silence.
			if (/url|expression|import|\\/i.test(declaration)) throw forbidden('links to other files');
			return [];
		}
		if (more.length > 0) throw forbidden('links to other files');
		return [[name, valueOf(name, value)] as [string, string]];
	});
}

function valueOf(name: string, value: string): string {
	const own = OWN_REFERENCE.exec(value.trim());
	if (own) return `url(#${own[2]})`;
	if (value.includes('&')) throw forbidden('entities');
	// What stands before each bracket, looked for from there: a search from every letter takes seconds in a long path.
	const functions = value
		.split('(')
		.slice(0, -1)
		.map((before) => /[\w-]*$/.exec(before.trimEnd().slice(-LONGER_THAN_FUNCTIONS))?.[0] ?? '');
	if (/url|javascript|data:|\\/i.test(value)) throw forbidden('links to other files');
	if (!VALUE.test(value) || functions.some((called) => !FUNCTIONS.includes(called))) {
		throw forbidden(`such a value of “${name}”`);
	}
	return value.replace(/\s+/g, ' ').trim();
}
