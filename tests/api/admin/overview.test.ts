/** The administrator's overview shows what `airtill doctor` finds in stored data, and what to do. */
import { describe, expect, it } from 'vitest';
import { registerRadius } from '../../support/gateways/gateways.ts';
import { signInAs } from '../../support/pages/browsing.ts';
import { cli } from '../../support/server/cli.ts';
import { DATABASES, useFixture } from '../../support/server/fixture.ts';

describe('the checks of the overview', () => {
	const fixture = useFixture({ database: DATABASES[0] });

	it('are those of doctor, with what to do', async () => {
		const { server, sql } = fixture();
		const admin = await signInAs(server, 'admin');
		const kind = { kind: 'hostapd', access: 'wpa_personal_per_client', router: 3 } as const;
		const { name } = await registerRadius(fixture(), kind);
		await sql.run(`update gateways set trouble = 'It refused our key.' where name = ?`, name);
		const finding = `${name}, last attempt: It refused our key`;
		const advice = 'Airtill tries again automatically';
		expect((await cli(['doctor'], server)).stdout).toContain(`warn gateways: ${finding} - ${advice}`);
		const { text } = await admin.get('/admin');
		expect(text).toContain(`gateways ${finding} What to do: ${advice}`);
		expect(text).toMatch(/\d+ checks passed/);
		expect(text).toContain('GiB free for');
	});
});
