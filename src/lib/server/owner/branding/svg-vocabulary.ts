/** What a logo may be drawn with (SVG 1.1 and 2): shapes, groups, gradients, simple clips. */
export const ELEMENTS: ReadonlySet<string> = new Set([
	...['svg', 'g', 'defs', 'path', 'rect', 'circle', 'ellipse', 'line', 'polyline', 'polygon'],
	...['linearGradient', 'radialGradient', 'stop', 'clipPath']
]);

/** Properties that an attribute or a style may set. Dashes are not among them: tiny ones take for ever to draw. */
export const STYLES: ReadonlySet<string> = new Set([
	...['fill', 'fill-opacity', 'fill-rule', 'clip-rule', 'clip-path', 'color', 'display', 'opacity'],
	...['stroke', 'stroke-linecap', 'stroke-linejoin', 'stroke-miterlimit', 'stroke-opacity', 'stroke-width'],
	...['stop-color', 'stop-opacity', 'visibility']
]);

export const ATTRIBUTES: ReadonlySet<string> = new Set([
	...STYLES,
	...['d', 'points', 'transform', 'x', 'y', 'x1', 'y1', 'x2', 'y2', 'cx', 'cy', 'r', 'rx', 'ry', 'fx', 'fy'],
	...['width', 'height', 'viewBox', 'preserveAspectRatio', 'offset'],
	...['gradientUnits', 'gradientTransform', 'spreadMethod', 'clipPathUnits']
]);

/** What editors write for themselves, and what only names or describes: it draws nothing. */
export const DROPPED_ELEMENT = /^(title|desc|metadata|(sodipodi|inkscape|sketch|serif|rdf|cc|dc):[\w.-]+)$/;
export const DROPPED_ATTRIBUTE =
	/^(xmlns(:[\w.-]+)?|version|baseProfile|class|role|focusable|enable-background|xml:(space|lang)|(aria|data)-[\w-]+|(sodipodi|inkscape|sketch|serif):[\w.-]+)$/;
