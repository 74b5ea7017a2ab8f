/** What is delivered to webhooks (wire format 5): to whom, with what body, signature and headers, exactly once. */
import { describe, expect, it } from 'vitest';
import { DATABASES, useWorld } from '../support/world.ts';
import { arrived, INSECURE, newPath, register, useWebhooks, verified } from '../support/webhooks.ts';

describe.each(DATABASES)('on %s', (database) => {
	const world = useWorld({ database, env: INSECURE });
	const hooks = useWebhooks(world);

	it('a payment’s success comes with the payment as it is, and verifies with the reference library', async () => {
		const { receiver } = hooks();
		const path = newPath();
		const { secret } = await register(world().api, receiver.url + path, ['payment.success']);
		const { session, payment } = await world().buy();
		const [received] = await arrived(receiver, path);
		const body = verified(received, secret);
		expect(body).toMatchObject({ type: 'payment.success', data: { id: payment.id, session_id: session.id } });
		expect(body.data).toEqual({ ...payment, router_id: session.router_id });
	});
});
