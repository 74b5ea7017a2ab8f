/** Webhooks of several accounts whose receivers all hang: the places for attempts are not theirs alone. */
import { expect, it } from 'vitest';
import { eventually, useFixture } from '../../support/server/fixture.ts';
import { arrived, INSECURE, newPath, register, useWebhooks } from '../../support/api/webhooks.ts';

const times = <T>(count: number, make: (index: number) => T) =>
	Array.from({ length: count }, (_, index) => make(index));

const fixture = useFixture({ database: 'sqlite', env: INSECURE });
const hooks = useWebhooks(fixture);

it('more hanging attempts than places delay no other account', async () => {
	const { receiver } = hooks();
	const { api } = await fixture().newKey();
	const path = newPath();
	await register(api, receiver.url + path, ['session.created']);

	const hanging: string[] = [];
	for (const owner of await Promise.all(times(3, () => fixture().newKey()))) {
		for (const one of times(16, newPath)) {
			hanging.push(one);
			receiver.reply(one, 'hang');
			await register(owner.api, receiver.url + one, ['session.created']);
		}
		await Promise.all(times(8, () => owner.api.createSession()));
	}
	// The limit of endpoints allows 240 at a time. They get half of the 200 places, and of the rest one each at most.
	const underWay = () => hanging.reduce((sum, one) => sum + receiver.at(one).length, 0);
	await eventually('their places are taken', async () => underWay() >= 100);

	const asked = performance.now();
	await Promise.all(times(5, () => api.createSession()));
	await arrived(receiver, path, 5);
	expect(performance.now() - asked).toBeLessThan(10_000);
	expect(underWay()).toBeLessThanOrEqual(100 + hanging.length);
});
