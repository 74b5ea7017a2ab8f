/** What strangers send as a logo: what is refused, and what is left of what is taken. */
import { deflateSync } from 'node:zlib';
import { PNG } from 'pngjs';
import { describe, expect, it } from 'vitest';
import { readLogo } from '#lib/server/owner/branding/read-logo.ts';
import { GOOD_SVG, HOSTILE_SVGS, pngOf, strangePngs, svg } from '../support/logos.ts';

const read = (file: string | Buffer) => readLogo(Buffer.from(file as string));
const textOf = async (file: string) => (await read(file)).bytes.toString();

describe('an SVG logo', () => {
	it('is written anew from what was understood', async () => {
		const { bytes, ...facts } = await read(GOOD_SVG);
		expect(facts).toEqual({ type: 'image/svg+xml', extension: 'svg', width: 120, height: 40 });
		expect(bytes.toString()).toBe(
			'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"' +
				' viewBox="0 0 120 40" width="120" height="40"><defs><linearGradient id="a">' +
				'<stop offset="0" stop-color="#ff0000"></stop></linearGradient><linearGradient id="b" xlink:href="#a">' +
				'</linearGradient></defs><g transform="translate(1 2)"><path fill="url(#b)" stroke="none"' +
				' d="M0 0h10v-1.5e-1z"></path></g></svg>'
		);
	});

	it('says its size in a viewBox or by its sides', async () => {
		expect(await read(svg('<path d="M0 0"/>', 'width="30px" height="20"'))).toMatchObject({
			width: 30,
			height: 20
		});
		await expect(read(svg('<path d="M0 0"/>', ''))).rejects.toThrow('how large');
		await expect(read(svg('<path d="M0 0"/>', 'viewBox="0 0 0 10"'))).rejects.toThrow('how large');
		await expect(read(svg('<path d="M0 0"/>', 'viewBox="0 0 1e9 1e9"'))).rejects.toThrow('units');
		await expect(read(svg('<path d="M0 0"/>', 'viewBox="0 0 900 10"'))).rejects.toThrow('narrow');
	});

	it('that was taken is taken again, and does not change any more', async () => {
		const once = await textOf(GOOD_SVG);
		expect(await textOf(once)).toBe(once);
	});

	it.each(Object.entries(HOSTILE_SVGS))('is refused with %s', async (_what, file) => {
		await expect(read(file)).rejects.toMatchObject({ name: 'LogoRefused' });
	});

	it('is read or refused at once, whatever its values are made of', async () => {
		for (const piece of ['a', '-', ' ', 'a ', 'a(', '(', ' (', '&', ';', 'a:', '#']) {
			const value = piece.repeat(47_000 / piece.length);
			for (const one of [
				`<path d="${value}"/>`,
				`<path style="fill:${value}"/>`,
				`<g ${value}/>`,
				`<!--${value}`
			]) {
				const before = performance.now();
				await read(svg(one)).catch(() => null);
				expect(performance.now() - before, `${piece} in ${one.slice(0, 12)}`).toBeLessThan(2_000);
			}
		}
	});

	it('knows its functions by their whole names', async () => {
		const known = '<g transform="rotate (1) translate(2)"/>';
		expect(await textOf(svg(known))).toContain('rotate (1) translate(2)');
		for (const unknown of ['xrotate(1)', '(1)', `${'x'.repeat(40)}rotate(1)`, 'x rotate(1)(2)']) {
			await expect(read(svg(`<g transform="${unknown}"/>`))).rejects.toThrow('value');
		}
	});

	it('leaves behind what editors add', async () => {
		const text = await textOf(
			svg(
				'<title>Us</title><metadata><rdf:RDF><script>1</script></rdf:RDF></metadata><g class="x" data-name="y" sodipodi:role="z"/>'
			)
		);
		expect(text).toMatch(/height="10"><g><\/g><\/svg>$/);
	});
});

describe('a PNG logo', () => {
	it('keeps its picture and nothing else', async () => {
		const plain = pngOf(30, 20);
		const { bytes, ...facts } = await read(plain);
		expect(facts).toEqual({ type: 'image/png', extension: 'png', width: 30, height: 20 });
		expect(PNG.sync.read(bytes).data.equals(PNG.sync.read(plain).data)).toBe(true);
	});

	it('loses texts and what stands behind its end', async () => {
		const { withText, withTail } = strangePngs().sound;
		for (const file of [withText, withTail]) {
			const { bytes } = await read(file);
			expect(bytes.includes('secret place')).toBe(false);
			expect(PNG.sync.read(bytes).width).toBe(4);
		}
	});

	it('may be interlaced, and have a palette', async () => {
		const { interlaced, palette } = strangePngs().sound;
		expect(await read(interlaced)).toMatchObject({ width: 3, height: 3 });
		expect(await read(palette)).toMatchObject({ width: 9, height: 2 });
	});

	it.each(Object.entries(strangePngs().refused))('is refused: %s', async (_what, file) => {
		await expect(read(file)).rejects.toMatchObject({ name: 'LogoRefused' });
	});
});

it('other files are refused by what they are, not by their name', async () => {
	for (const file of ['', 'GIF89a', '{"a":1}', '\xff\xd8\xff', deflateSync(Buffer.from('x'))]) {
		await expect(read(file)).rejects.toThrow('neither an SVG nor a PNG');
	}
	await expect(read(Buffer.alloc(49 * 1024, '<'))).rejects.toThrow('Use one of at most 48 KB');
});
