import { expect, it } from 'vitest';
import { scriptLinks } from '../../src/lib/server/web/script-links.ts';

it('a page names its scripts at its end, and no header does', () => {
	const scripts = scriptLinks();
	expect(scripts.preload({ type: 'js', path: '../_app/a.js' })).toBe(false);
	expect(scripts.preload({ type: 'js', path: '../_app/b".js' })).toBe(false);
	expect(scripts.preload({ type: 'css', path: '../_app/c.css' })).toBe(true);
	expect(scripts.addTo('<body><p>said: &lt;/body></p></body></html>')).toBe(
		'<body><p>said: &lt;/body></p>' +
			'<link rel="modulepreload" href="../_app/a.js"><link rel="modulepreload" href="../_app/b%22.js">' +
			'</body></html>'
	);
});

it('a page without script stays as it is, and so does a part of a page', () => {
	const scripts = scriptLinks();
	expect(scripts.addTo('<body></body>')).toBe('<body></body>');
	scripts.preload({ type: 'js', path: 'a.js' });
	expect(scripts.addTo('half a page')).toBe('half a page');
	expect(scripts.addTo(' and the rest</body>')).toContain('a.js');
});

it('the scripts of a page run when it has been painted, at once where nobody sees it', async () => {
	const page = (start: string) => `<body><script>${start}</script></body>`;
	const kits = page('{\n\tPromise.all([\n\t\timport("a.js"),\n\t\timport("b.js")\n\t]).then(begin);\n}');
	const frames: (() => void)[] = [];
	const run = (hidden: boolean) =>
		new Promise((begin) => {
			const [, script = ''] = /<script>([^]*)<\/script>/.exec(scriptLinks().addTo(kits)) ?? [];
			const told = script.replace(/import\(("[^"]+")\)/g, '$1');
			new Function('document', 'requestAnimationFrame', 'begin', told)(
				{ hidden },
				(frame: () => void) => frames.push(frame),
				begin
			);
		});
	const seen = run(false);
	expect(await Promise.race([seen, run(true).then(() => 'not yet')])).toBe('not yet');
	expect(frames).toHaveLength(1);
	frames[0]?.();
	expect(await seen).toEqual(['a.js', 'b.js']);
});
