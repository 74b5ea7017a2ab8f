import { readIdleSeconds } from '#lib/kiosk/idle.ts';
import type { RequestHandler } from './$types';

/** Opens the kiosk without the browser's controls (https://www.w3.org/TR/appmanifest/). */
export const GET: RequestHandler = ({ url }) => {
	const screen = url.pathname.replace(/\/manifest\.webmanifest$/, '');
	const start = `${screen}?idle=${readIdleSeconds(url.searchParams)}`;
	const manifest = {
		id: screen,
		name: 'Airtill kiosk',
		short_name: 'Airtill',
		start_url: start,
		// Each language of the kiosk has its own address.
		scope: '/',
		display: 'fullscreen',
		display_override: ['fullscreen', 'standalone'],
		orientation: 'any',
		background_color: '#fbfaf6',
		theme_color: '#0a6b4b',
		icons: [{ src: '/favicon.svg', sizes: 'any', type: 'image/svg+xml' }]
	};
	return new Response(JSON.stringify(manifest), { headers: { 'content-type': 'application/manifest+json' } });
};
