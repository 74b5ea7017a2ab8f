import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ThemeColours, accentOf, accentRules, contrast, parseColour } from '#lib/domain/brand.ts';

const GROUNDS = { light: ['#fbfaf6', '#ffffff'], dark: ['#141613', '#1d201c'] } as const;
const INK = { light: '#1a1c19', dark: '#f2f1eb' } as const;

function expectReadable(theme: 'light' | 'dark', { accent, onAccent, goodPaper }: ThemeColours) {
	for (const ground of [...GROUNDS[theme], goodPaper]) {
		expect(contrast(accent, ground)).toBeGreaterThanOrEqual(4.5);
	}
	expect(contrast(onAccent, accent)).toBeGreaterThanOrEqual(4.5);
	expect(contrast(INK[theme], goodPaper)).toBeGreaterThanOrEqual(7);
}

describe('an owner’s colour', () => {
	it('holds 4.5:1 with everything that it meets, in both themes, whichever it is', () => {
		fc.assert(
			fc.property(fc.integer({ min: 0, max: 0xffffff }), (value) => {
				const accent = accentOf(`#${value.toString(16).padStart(6, '0')}`);
				if (!accent) return;
				expectReadable('light', accent.light);
				expectReadable('dark', accent.dark);
			}),
			{ numRuns: 2_000 }
		);
	});

	it('stays as it is where it can be read', () => {
		expect(accentOf('#0a6b4b')?.light.accent).toBe('#0a6b4b');
		expect(accentOf('#63d3a0')?.dark.accent).toBe('#63d3a0');
	});

	it.each(['#ffcc00', '#ff0000', '#e60012', '#0033cc', '#00ffff', '#ff69b4', '#7fff00', '#000080'])(
		'%s serves, however pale or dark',
		(colour) => {
			expect(accentOf(colour)).not.toBeNull();
		}
	);

	it.each(['#000000', '#ffffff', '#808080', '#1a1c19', '#fdfdfe', '#888780'])(
		'%s is refused: it is a grey',
		(colour) => {
			expect(accentOf(colour)).toBeNull();
		}
	);

	it('is written in two ways, and comes out in one', () => {
		expect(['#0A6B4B', '#abc', '0a6b4b', '#0a6b4', 'red', '#0a6b4b;}', ''].map(parseColour)).toEqual([
			'#0a6b4b',
			'#aabbcc',
			null,
			null,
			null,
			null,
			null
		]);
	});

	it('becomes rules that hold nothing but colours, or none', () => {
		expect(accentRules('#0a6b4b')).toMatch(
			/^:root\{(--[a-z-]+:#[0-9a-f]{6};?){3}\}@media \(prefers-color-scheme:dark\)\{:root\{(--[a-z-]+:#[0-9a-f]{6};?){3}\}\}$/
		);
		expect([null, '', '}</style><script>', '#808080'].map(accentRules)).toEqual([null, null, null, null]);
	});
});
