import type { Page } from '@playwright/test';
import { OPERATORS, PROTOCOLS } from '../../simulators/protocols.ts';
import { type Simulator, startSimulator } from '../../simulators/simulator.ts';
import type { Script } from '../../simulators/script.ts';
import { isAll } from '../../support/all.ts';
import { portalAddress } from '../../support/billing/portal-address.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { expect, ROUTER, test, unfold } from '../support/test.ts';

const NAMES: Readonly<Record<string, string>> = {
	mtn_momo: 'MTN MoMo',
	mpesa: 'M-Pesa',
	airtel_money: 'Airtel Money'
};

/**
 * As somebody who has never seen it: one router, the settings that the simulator prints, and a phone number. The page
 * shows the same for each operator; tests/api has the ends of payments at each.
 */
for (const facts of isAll ? OPERATORS : OPERATORS.slice(0, 1)) {
	test.describe(`through ${facts.name}`, () => {
		let simulator: Simulator;
		let server: TestServer;
		let numbers = 0;

		test.beforeAll(async () => {
			const protocol = PROTOCOLS[facts.name]?.(facts.options);
			if (!protocol) throw new Error(`There is no simulated ${facts.name}`);
			simulator = await startSimulator(protocol);
			const env = { ...simulator.environment, PAYMENT_METHODS: facts.method, OPERATOR_TIMEOUT_SECONDS: '2' };
			server = await startServer({ env });
			if (facts.hasPortal) simulator.portal({ callback_url: await portalAddress(server, facts.id) });
		});
		test.afterAll(async () => {
			await server.stop();
			await simulator.stop();
		});

		async function buy(page: Page, script: Partial<Script>): Promise<void> {
			const phone = `${facts.phone}${String(200_000 + (numbers += 1)).slice(-6)}`;
			simulator.script({ phone: phone.slice(1) }, { guards: false, ...script });
			await page.goto(`${server.url}/r/${ROUTER}`);
			await page.getByRole('radio', { name: /^1 hour/ }).check();
			await page.getByLabel('Your mobile-money number').fill(phone);
			await unfold(page);
			const network = page.getByRole('radio', { name: NAMES[facts.method] ?? '' });
			if ((await network.count()) > 0) await expect(network).toBeChecked();
			await page.getByRole('button', { name: /^Pay/ }).click();
			await page.waitForURL(/\/s\/[\w-]{24}$/);
		}

		test('a buyer whose network the number tells pays and reads the password', async ({ page }) => {
			await buy(page, { afterMs: 1_000 });
			await expect(title(page)).toHaveText(/^Your Wi‑Fi is paid until/);
			await expect(page.locator('.password')).toBeVisible();
			expect(taken(simulator)).toBe(1);
		});

		test('while the operator has not decided nothing is called failed, and its yes still counts', async ({
			page
		}) => {
			await buy(page, { outcome: 'pending', submit: 'drop_after' });
			await expect(title(page)).toHaveText('Check your phone.');
			simulator.advance(11 * 60_000);
			await server.advance(11 * 60_000);
			await expect(title(page)).toHaveText(/^We are still waiting for \S/);
			await expect(
				page.getByText('If you pay twice by mistake, we refund one payment automatically.')
			).toBeVisible();
			await expect(page.locator('main')).not.toContainText(/failed|nothing was taken/i);
			const held = simulator.books.payments.at(-1);
			if (!held) throw new Error('The operator has no payment');
			await simulator.settle(held, 'success');
			simulator.advance(6 * 60_000);
			await server.advance(6 * 60_000);
			await expect(async () => {
				await page.reload();
				await expect(title(page)).toHaveText(/^Your Wi‑Fi is paid until/, { timeout: 500 });
			}).toPass({ timeout: 60_000 });
		});
	});
}

const title = (page: Page) => page.getByRole('heading', { level: 1 });

/** Payments that took money. */
const taken = ({ books }: Simulator): number =>
	books.payments.filter((payment) => books.takenOf(payment) > 0).length;
