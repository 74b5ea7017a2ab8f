/** Changes of one gateway at the same time: none restores what another has replaced. */
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../../src/lib/server/db/database.ts';
import { createGateways } from '../../../../src/lib/server/gateways/gateways.ts';
import { systemClock } from '../../../../src/lib/server/platform/clock.ts';
import { createSecrets } from '../../../../src/lib/server/platform/secrets.ts';
import { registerGateway } from '../../../support/gateways/gateways.ts';
import { BOTH_DATABASES, SECRET, useFixture } from '../../../support/server/fixture.ts';

const NOTHING = { key: false, secret: null, radiusSecret: null, token: null, apiKey: null, apiUser: null };

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });

	it('keep new secrets beside changed settings, and each new secret beside another', async () => {
		const { name } = await registerGateway(fixture().server, 'coova', { loginHost: '10.1.0.1', router: 5 });
		const opened = await openDatabase(fixture().server.databaseUrl, { poolSize: 4 });
		try {
			const gateways = createGateways(opened, systemClock, createSecrets(SECRET));
			const id = (await gateways.byName(name))?.id ?? 0;
			for (let round = 1; round <= 10; round += 1) {
				const [, token, radiusSecret] = await Promise.all([
					opened.transact((trx) => gateways.set(trx, id, { loginHosts: [`10.1.0.${round}`] })),
					gateways.rotate(id, { ...NOTHING, token: 'new' }),
					gateways.rotate(id, { ...NOTHING, radiusSecret: 'new' })
				]);
				expect(await gateways.byId(id)).toMatchObject({
					loginHosts: [`10.1.0.${round}`],
					credentials: {
						token: token.credentials.token,
						radiusSecret: radiusSecret.credentials.radiusSecret
					}
				});
			}
		} finally {
			await opened.close();
		}
	});
});
