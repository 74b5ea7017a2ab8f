/** Every page on the way to Pay says when the time starts, so that nobody buys it for later or for another place. */
import { expect, it } from 'vitest';
import { registerGateway } from '../../support/gateways/gateways.ts';
import { ndsEntry, newDevice } from '../../support/gateways/opennds.ts';
import { browse } from '../../support/pages/browsing.ts';
import { useFixture } from '../../support/server/fixture.ts';

const LOGIN_HOST = '192.168.8.1';
const fixture = useFixture({ database: 'sqlite' });

it.each(['router', 'splash'])('the %s page, between the choices of time and Pay', async (which) => {
	const { server } = fixture();
	const entry = async () =>
		ndsEntry(await registerGateway(server, 'opennds', { loginHost: LOGIN_HOST }), newDevice(), LOGIN_HOST);
	const { html } = await browse(server.url).get(which === 'router' ? '/r/3' : await entry());
	const places = ['name="time"', 'Your time starts when you have paid.', '<button'].map((part) =>
		html.indexOf(part, html.indexOf('<form method="post"'))
	);
	expect(places).not.toContain(-1);
	expect(places).toEqual(places.toSorted((one, other) => one - other));
});

it.each(['/', '/?lat=0.3377&lon=32.5878'])('the list at %s, above the places', async (path) => {
	const { text } = await browse(fixture().server.url).get(path);
	const [before = ''] = text.split('UGX');
	expect(before).toContain('Buy when you are there: your time starts when you have paid.');
});
