/** Pictures that owners send: good ones, and those that somebody made to do harm. */
import { Buffer } from 'node:buffer';
import { crc32, deflateSync } from 'node:zlib';

export const svg = (inside: string, facts = 'viewBox="0 0 10 10"'): string =>
	`<svg xmlns="http://www.w3.org/2000/svg" ${facts}>${inside}</svg>`;

/** As Inkscape writes it. */
export const GOOD_SVG = `<?xml version="1.0" encoding="UTF-8"?>
<!-- Made by hand -->
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
	xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" version="1.1" width="1200" height="400" viewBox="0 0 120 40">
	<metadata>anything</metadata>
	<defs><linearGradient id="a"><stop offset="0" style="stop-color:#ff0000;-inkscape-stop:1"/></linearGradient>
	<linearGradient id="b" xlink:href="#a"/></defs>
	<g inkscape:label="Layer 1" transform="translate(1 2)"><path style="fill:url('#b');stroke:none" d="M0 0h10v-1.5e-1z"/></g>
</svg>`;

const laughs = Array.from(
	{ length: 9 },
	(_one, index) => `<!ENTITY l${index + 1} "${`&l${index};`.repeat(10)}">`
).join('');

/** Each must be refused as a whole. */
export const HOSTILE_SVGS: Readonly<Record<string, string>> = {
	'a script': svg('<script>alert(1)</script>'),
	'a script of another case': svg('<SCRIPT>alert(1)</SCRIPT>'),
	'a script with a prefix': svg('<svg:script xmlns:svg="http://www.w3.org/2000/svg">1</svg:script>'),
	'a linked script': svg('<script href="https://evil.example/x.js"/>'),
	foreignObject: svg('<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="x"/></foreignObject>'),
	'use of another file': svg('<use href="https://evil.example/a.svg#x"/>'),
	'use of itself': svg('<g id="a"><use xlink:href="#a"/></g>'),
	'a picture by data:': svg('<image href="data:image/png;base64,AAAA"/>'),
	'a gradient by data:': svg('<linearGradient xlink:href="data:text/html,1"/>'),
	'a gradient of another file': svg('<linearGradient href="https://evil.example/a.svg#x"/>'),
	'an event': svg('<path d="M0 0" onload="alert(1)"/>'),
	'an event at the root': svg('', 'viewBox="0 0 1 1" onload="alert(1)"'),
	'a link': svg('<a href="javascript:alert(1)"><path d="M0 0"/></a>'),
	'an animation of a link': svg('<set attributeName="href" to="javascript:alert(1)"/>'),
	'a style sheet': svg('<style>@import "https://evil.example/x.css"</style>'),
	'a fill from elsewhere': svg('<path d="M0 0" fill="url(https://evil.example/a.svg#x)"/>'),
	'a fill from a relative place': svg('<path d="M0 0" fill="url(other.svg#x)"/>'),
	'a style that loads': svg('<path d="M0 0" style="background:url(https://evil.example/x)"/>'),
	'a style that loads by an escape': svg('<path d="M0 0" style="fill:\\75rl(//evil.example)"/>'),
	'a filter': svg('<filter id="f"><feImage href="https://evil.example/x"/></filter>'),
	'billion laughs': `<!DOCTYPE svg [<!ENTITY l0 "lol">${laughs}]>${svg('<path d="M0 0" fill="&l9;"/>')}`,
	'an outer entity': `<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>${svg('<title>&x;</title>')}`,
	'an entity in a value': svg('<path d="M0 0" fill="&#106;avascript"/>'),
	CDATA: svg('<![CDATA[<script>alert(1)</script>]]>'),
	'a style sheet by instruction': `<?xml version="1.0"?><?xml-stylesheet href="https://evil.example/x.css"?>${svg('')}`,
	'a drawing in a drawing': svg('<svg viewBox="0 0 1 1"/>'),
	'clips of clips': svg('<clipPath id="a"><path d="M0 0" clip-path="url(#a)"/></clipPath>'),
	'dashes without number': svg('<path d="M0 0h999" stroke-dasharray="0.00001"/>'),
	'a thousand and more elements': svg('<g/>'.repeat(1_001)),
	'elements without end in depth': svg('<g>'.repeat(40) + '</g>'.repeat(40)),
	'an element that is not closed': '<svg viewBox="0 0 1 1"><g></svg>',
	'an attribute given twice': svg('<path d="M0 0" d="M1 1"/>'),
	'something behind its end': `${svg('')}<script>alert(1)</script>`,
	'HTML in its place': '<html><script>alert(1)</script></html>',
	'markup that breaks out': svg('<path d="M0 0" fill="red"><script>"/>'),
	'a NUL': svg('<pa\0th d="M0 0"/>'),
	'an attribute without quotes': svg('<path d=M0 onload=alert(1)/>')
};

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function chunk(type: string, data: Buffer): Buffer {
	const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
	const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
	length.writeUInt32BE(data.length);
	sum.writeUInt32BE(crc32(named));
	return Buffer.concat([length, named, sum]);
}

function header(width: number, height: number, depth = 8, colour = 6, interlace = 0): Buffer {
	const data = Buffer.alloc(13);
	data.writeUInt32BE(width, 0);
	data.writeUInt32BE(height, 4);
	data.set([depth, colour, 0, 0, interlace], 8);
	return chunk('IHDR', data);
}

const END = chunk('IEND', Buffer.alloc(0));
const picture = (raw: Buffer) => chunk('IDAT', deflateSync(raw));
const file = (...chunks: Buffer[]) => Buffer.concat([SIGNATURE, ...chunks]);

/** A picture of one colour. */
export function pngOf(width: number, height: number): Buffer {
	const row = Buffer.concat([Buffer.alloc(1), Buffer.alloc(width * 4, 0x7f)]);
	return file(header(width, height), picture(Buffer.concat(Array.from({ length: height }, () => row))), END);
}

/** Pictures that are sound though unusual, and those that must be refused. */
export function strangePngs() {
	const raw = Buffer.alloc(4 * 17);
	const text = chunk('tEXt', Buffer.from('Comment\0secret place'));
	const broken = pngOf(4, 4);
	broken[40] = (broken[40] ?? 0) ^ 0xff;
	const sound = {
		withText: file(header(4, 4), text, picture(raw), END),
		withTail: Buffer.concat([pngOf(4, 4), Buffer.from('<script>secret place</script>')]),
		// 3 x 3 pixels of one byte (ISO/IEC 15948, 8.2): rows of 1, 1, 2, 1, 1 and 3 pixels, each with its filter.
		interlaced: file(header(3, 3, 8, 0, 1), picture(Buffer.alloc(15)), END),
		palette: file(header(9, 2, 1, 3), chunk('PLTE', Buffer.alloc(6)), picture(Buffer.alloc(6)), END)
	};
	const refused = {
		'huge dimensions': file(header(30_000, 30_000), picture(raw), END),
		'dimensions beyond numbers': file(header(0xffffffff, 0xffffffff), picture(raw), END),
		'a bomb: more picture than its size': file(header(4, 4), picture(Buffer.alloc(1_000_000)), END),
		'less picture than its size': file(header(40, 40), picture(raw), END),
		'no size': file(header(0, 4), picture(raw), END),
		'two sizes': file(header(4, 4), header(4, 4), picture(raw), END),
		'a kind that is unknown': file(header(4, 4, 3, 6), picture(raw), END),
		'no end': file(header(4, 4), picture(raw)),
		'cut in the middle': pngOf(4, 4).subarray(0, 50),
		'a wrong checksum': broken,
		'a picture that cannot be unpacked': file(header(4, 4), chunk('IDAT', Buffer.from('nonsense')), END),
		'a palette that is missing': file(header(9, 2, 1, 3), picture(Buffer.alloc(6)), END),
		'nothing but its signature': file()
	};
	return { sound, refused };
}
