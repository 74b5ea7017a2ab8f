/** The portal's own key follows the secret: whoever serves now can sell, whatever was started in between. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { startServer } from '../../support/server/server.ts';

const SECRETS = ['the first secret of this test, long enough', 'the other secret of this test, long enough'];

it('the portal sells again after a start with another secret', async () => {
	const dataDir = mkdtempSync(path.join(tmpdir(), 'airtill-portal-key-'));
	try {
		for (const secret of [SECRETS[0], SECRETS[1], SECRETS[0]]) {
			const server = await startServer({ dataDir, env: { AIRTILL_SECRET: secret ?? '' } });
			const page = await fetch(`${server.url}/r/3`);
			expect(page.status).toBe(200);
			expect(await page.text()).toContain('Kisementi Corner');
			await server.stop();
		}
	} finally {
		rmSync(dataDir, { recursive: true, force: true });
	}
});
