/** Changes of one gateway at the same time: none restores what another has replaced. */
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../../src/lib/server/db/database.ts';
import { findGatewayByName, findGatewayById } from '../../../../src/lib/server/gateways/gateways.ts';
import { systemClock } from '../../../../src/lib/server/platform/clock.ts';
import { createSecrets } from '../../../../src/lib/server/platform/secrets.ts';
import { registerGateway } from '../../../support/gateways/gateways.ts';
import { BOTH_DATABASES, SECRET, useFixture } from '../../../support/server/fixture.ts';
import { rotateGateway, setGateway } from '#lib/server/gateways/settings.ts';

const NOTHING = { key: false, secret: null, radiusSecret: null, token: null, apiKey: null, apiUser: null };

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });

	it('keep new secrets beside changed settings, and each new secret beside another', async () => {
		const { name } = await registerGateway(fixture().server, 'coova', { loginHost: '10.1.0.1', router: 5 });
		const opened = await openDatabase(fixture().server.databaseUrl, { poolSize: 4 });
		try {
			const gateways = { database: opened, clock: systemClock, secrets: createSecrets(SECRET) };
			const id = (await findGatewayByName(gateways, name))?.id ?? 0;
			for (let round = 1; round <= 10; round += 1) {
				const [, token, radiusSecret] = await Promise.all([
					opened.transact((trx) => setGateway(gateways, trx, id, { loginHosts: [`10.1.0.${round}`] })),
					rotateGateway(gateways, id, { ...NOTHING, token: 'new' }),
					rotateGateway(gateways, id, { ...NOTHING, radiusSecret: 'new' })
				]);
				expect(await findGatewayById(gateways, id)).toMatchObject({
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
