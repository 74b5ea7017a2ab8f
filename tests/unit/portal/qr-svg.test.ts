/** The Wi-Fi code as a phone reads it: our SVG is drawn pixel by pixel and decoded by another library. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type WifiSecurity, wifiPasswordProblem, wifiQrText } from '#lib/domain/wifi.ts';
import { qrSvg } from '#lib/server/portal/qr-svg.ts';
import { drawQr, pixelsPerModule, readQr } from '../../support/pages/qr.ts';

const decoded = (text: string): string | undefined => readQr(qrSvg(text));

/** Reads the text as a phone does: fields of a Wi-Fi code after ZXing's rules. */
function read(text: string): Record<string, string> {
	expect(text).toMatch(/^WIFI:.*;;$/s);
	const fields = [...text.slice('WIFI:'.length, -1).matchAll(/([A-Z]):((?:\\.|[^\\;])*);/gs)];
	expect(fields.map(([whole]) => whole).join('')).toBe(text.slice('WIFI:'.length, -1));
	return Object.fromEntries(
		fields.map(([, name = '', value = '']) => [name, value.replace(/\\(.)/gs, '$1')])
	);
}

describe('the text of a Wi-Fi code', () => {
	it('names kind, network and password, in this order', () => {
		const network = { ssid: 'Kisementi-WiFi', security: 'wpa', password: 'k7mq-x2vd-9hta' } as const;
		expect(wifiQrText(network)).toBe('WIFI:T:WPA;S:Kisementi-WiFi;P:k7mq-x2vd-9hta;;');
		expect(wifiQrText({ ...network, security: 'nopass' })).toBe('WIFI:T:nopass;S:Kisementi-WiFi;;');
		expect(wifiQrText({ ...network, password: null })).toBe('WIFI:T:nopass;S:Kisementi-WiFi;;');
	});

	it('says that a network is hidden before the password, as the grammar of WPA3 has it', () => {
		const network = { ssid: ' Cafe ', security: 'wpa', password: 'a;b', hidden: true } as const;
		expect(wifiQrText(network)).toBe('WIFI:T:WPA;S: Cafe ;H:true;P:a\\;b;;');
		expect(wifiQrText({ ...network, security: 'nopass' })).toBe('WIFI:T:nopass;S: Cafe ;H:true;;');
		expect(wifiQrText({ ...network, hidden: false })).toBe('WIFI:T:WPA;S: Cafe ;P:a\\;b;;');
	});

	it.each(['12345678', 'CAFE', 'deadBEEF', '0'])('quotes %s, which readers take for bytes', (ssid) => {
		expect(wifiQrText({ ssid, security: 'nopass', password: null })).toBe(`WIFI:T:nopass;S:"${ssid}";;`);
	});

	it('escapes the five characters that mean something, and no other', () => {
		const text = wifiQrText({ ssid: '\\;,:"\'&<%', security: 'wpa', password: 'a;b' });
		expect(text).toBe('WIFI:T:WPA;S:\\\\\\;\\,\\:\\"\'&<%;P:a\\;b;;');
	});
});

describe('the code itself', () => {
	it.each([
		['plain', 'Kisementi-WiFi'],
		['with blanks at its ends', ' Cafe Guest '],
		['of blanks', '   '],
		['with a no-break space at its end', 'Cafe\u00a0'],
		['with quotes', '"Best" Cafe\'s'],
		['with everything that is escaped', 'a;b,c:d"e\\f'],
		['that looks like fields', 'x;P:secret;;'],
		['in Arabic', 'مقهى الإنترنت'],
		['with an emoji', 'Café ☕ 😀'],
		['of 32 bytes', '界'.repeat(10) + 'ab'],
		['that ends in a backslash', 'cafe\\']
	])('is decoded back for a network %s', (_what, ssid) => {
		for (const security of ['wpa', 'nopass'] satisfies WifiSecurity[]) {
			const text = wifiQrText({ ssid, security, password: 'k7mq-x2vd-9hta' });
			expect(decoded(text)).toBe(text);
			expect(read(text)).toEqual(
				security === 'wpa' ? { T: 'WPA', S: ssid, P: 'k7mq-x2vd-9hta' } : { T: 'nopass', S: ssid }
			);
		}
	});

	it('has a quiet zone of four modules', () => {
		const { data, size } = drawQr(qrSvg('WIFI:T:nopass;S:x;;'));
		const edge = 4 * pixelsPerModule;
		for (let index = 0; index < size * size; index += 1) {
			const [x, y] = [index % size, Math.floor(index / size)];
			if (Math.min(x, y, size - 1 - x, size - 1 - y) < edge) expect(data[index * 4]).toBe(255);
		}
	});
});

describe('an owner’s password', () => {
	it.each([
		['1234567', 'short'],
		['12345678', null],
		['x'.repeat(63), null],
		['x'.repeat(64), 'long'],
		['0aF9'.repeat(16), 'hex'],
		['a; "b", \\ c:', null],
		['motdepassé', 'characters'],
		['tab\there', 'characters']
	])('%j is %s', (text, problem) => {
		expect(wifiPasswordProblem(text)).toBe(problem);
	});

	it('of any printable signs comes out of the code as it went in', () => {
		const printable = fc
			.array(fc.integer({ min: 0x20, max: 0x7e }), { minLength: 8, maxLength: 63 })
			.map((codes) => String.fromCharCode(...codes));
		fc.assert(
			fc.property(printable, (password) => {
				const text = wifiQrText({ ssid: 'مقهى "1"; 2', security: 'wpa', password });
				expect(decoded(text)).toBe(text);
				expect(read(text)).toEqual({ T: 'WPA', S: 'مقهى "1"; 2', P: password });
			}),
			{ numRuns: 50 }
		);
	});
});
