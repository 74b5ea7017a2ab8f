import { expect, it } from 'vitest';
import { scriptLinks } from '../../src/lib/server/http/script-links.ts';

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
