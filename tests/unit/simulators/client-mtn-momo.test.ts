import { existsSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isInstalled, run } from '../../../src/cli/bootstrap.js';
import { startSimulator, type Simulator } from '../../simulators/frame/simulator.ts';
import { mtn } from '../../simulators/mtn/mtn.ts';
import { startReceiver, type Receiver } from '../../support/api/receiver.ts';

/**
 * The npm package `mtn-momo` 2.0.0, which others wrote against MTN's own sandbox, works against the simulated one. It
 * is old (its axios has known holes), so it lives in a folder of its own, with its own lock file, and is installed
 * when this test first runs.
 */
const folder = fileURLToPath(new URL('../../clients/mtn-momo', import.meta.url));
const INSTALL_LIMIT_MS = 4 * 60_000;
const RUN_LIMIT_MS = 30_000;

let simulator: Simulator;
let receiver: Receiver;
beforeAll(async () => {
	if (!isInstalled(folder)) {
		const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
		const { code, output } = await run('npm', args, {
			cwd: folder,
			timeout: INSTALL_LIMIT_MS,
			endsThisProcess: false
		});
		if (code !== 0) throw new Error(`npm ci in ${folder} failed (code ${code}):\n${output}`);
	}
	[simulator, receiver] = await Promise.all([startSimulator(mtn()), startReceiver()]);
}, INSTALL_LIMIT_MS + 30_000);
afterAll(() => Promise.all([simulator?.stop(), receiver?.stop()]));

it(
	'the package mtn-momo creates a user, takes payments and receives callbacks and refusals',
	async () => {
		expect(existsSync(path.join(folder, 'node_modules/mtn-momo/package.json'))).toBe(true);
		const { collection_subscription_key = '', disbursement_subscription_key = '' } = simulator.credentials;
		// A host name: MTN registers no address.
		const callbackUrl = `${receiver.url.replace('127.0.0.1', 'localhost')}/momo`;
		const { code, output } = await run(
			process.execPath,
			['client.js', simulator.url, collection_subscription_key, disbursement_subscription_key, callbackUrl],
			{ cwd: folder, timeout: RUN_LIMIT_MS, endsThisProcess: false, env: { PATH: process.env['PATH'] } }
		);
		expect(code, output).toBe(0);
		const said = JSON.parse(output);

		const order = {
			amount: '50',
			currency: 'EUR',
			externalId: '123456',
			payer: { partyIdType: 'MSISDN', partyId: '256774290781' },
			payerMessage: 'testing',
			payeeNote: 'hello'
		};
		expect(said.first).toEqual({ ...order, status: 'PENDING' });
		const paid = { ...order, status: 'SUCCESSFUL', financialTransactionId: expect.stringMatching(/^\d+$/) };
		expect(said.paid).toEqual(paid);
		expect(said.rejected).toMatchObject({
			name: 'ApprovalRejectedError',
			transaction: { status: 'FAILED', reason: 'APPROVAL_REJECTED' }
		});
		expect(said.wrongCurrency.name).toBe('InvalidCurrencyError');
		expect(said.foreignCallback.name).toBe('InvalidCallbackUrlHostError');
		expect(said.unknown.name).toBe('ResourceNotFoundError');
		expect(said.wrongKey.message).toContain('invalid subscription key');
		expect([said.active, said.inactive]).toEqual([{ result: true }, { result: false }]);
		expect(said.balance).toEqual({ availableBalance: '50', currency: 'EUR' });
		expect(said.disbursementBalance).toEqual(said.balance);

		expect(receiver.at('/momo').map(({ method, raw }) => [method, JSON.parse(raw)])).toEqual([
			['POST', paid]
		]);
		expect(simulator.ledger()).toEqual({ debited: 50, payments: 1, refunded: 0, refunds: 0 });
		expect(simulator.requests.filter((request) => request.path === '/collection/token/')).toHaveLength(2);
	},
	RUN_LIMIT_MS + 10_000
);
