import { test as base, type Page } from '@playwright/test';
import type { TestServer } from '../../support/server/server.ts';
import { startArea, type Area } from './area.ts';
import { startCrowd } from './map.ts';
import { startPortal, type Portal, type SetUp } from './portal.ts';
import { startPurchaseFixtures, type PurchaseFixtures } from './purchase-fixtures.ts';

interface Shared {
	setUp: SetUp;
	portal: Portal;
	/** The developer area. */
	area: Area;
	/** An installation with a purchase in each state; nothing moves its clock after that. */
	fixtures: PurchaseFixtures;
	/** A server with thousands of places. */
	crowd: TestServer;
}

const SLOW = { scope: 'worker', timeout: 300_000 } as const;

/**
 * Installations for each worker and set-up, started when a test needs them; tests share them and never share a phone
 * number. All in one: a worker ends when its next test has other ones, and starting another takes seconds.
 */
export const test = base.extend<{ buyer: Buyer }, Shared>({
	setUp: ['sqlite', { option: true, scope: 'worker' }],
	portal: [async ({ setUp }, use) => during(startPortal(setUp), use), SLOW],
	area: [async ({ setUp }, use) => during(startArea(setUp), use), SLOW],
	fixtures: [
		async ({ setUp: _setUp }, use) => {
			const fixtures = await startPurchaseFixtures();
			await use(fixtures);
			await fixtures.server.stop();
		},
		SLOW
	],
	crowd: [async ({ setUp: _setUp }, use) => during(startCrowd(), use), SLOW],
	buyer: async ({ page, portal }, use) => {
		await use(new Buyer(page, portal));
	}
});

async function during<T extends { stop(): Promise<void> }>(
	starting: Promise<T>,
	use: (started: T) => Promise<void>
): Promise<void> {
	const started = await starting;
	await use(started);
	await started.stop();
}

export { expect } from '@playwright/test';
export { ROUTER } from './portal.ts';

let lastNumber = 0;

/** A Ugandan mobile number that nobody used before in this worker, with the given last three digits. */
export function freshNumber(lastDigits = '456'): string {
	lastNumber += 1;
	return `0772${String(lastNumber).padStart(3, '0')}${lastDigits}`;
}

/** The field groups a number while one types: "0772 123456". */
export const grouped = (phone: string): string => `${phone.slice(0, 4)} ${phone.slice(4)}`;

/** Opens the folded parts of a form: other times, payment methods. */
export async function unfold(page: Page): Promise<void> {
	const folds = await page.locator('form details:not([open]) > summary').all();
	// The last first: an opened one leaves the list.
	for (const fold of folds.reverse()) await fold.click();
}

/** For tests that change the size of the window: one that fills the screen keeps its own. */
export const withoutFullScreen = (page: Page): Promise<unknown> =>
	page.addInitScript(() => Reflect.deleteProperty(Element.prototype, 'requestFullscreen'));

/** Walks the way of a buyer by what a buyer reads. */
export class Buyer {
	readonly page: Page;
	readonly portal: Portal;

	constructor(page: Page, portal: Portal) {
		this.page = page;
		this.portal = portal;
	}

	/** Opens a router's page and fills the form: one hour, the first network, the number. */
	async fill(routerId: number, phone: string): Promise<void> {
		await this.page.goto(`${this.portal.url}/r/${routerId}`);
		await this.page.getByRole('radio', { name: /^1 hour/ }).check();
		// A router that takes one network only has nothing to choose.
		await unfold(this.page);
		const network = this.page.getByRole('radio', { name: 'MTN MoMo' });
		if ((await network.count()) > 0) await network.check();
		await this.page.getByLabel('Your mobile-money number').fill(phone);
	}

	async pay(): Promise<void> {
		await this.page.getByRole('button', { name: /^Pay/ }).click();
		await this.page.waitForURL(/\/s\/[\w-]{24}$/);
	}

	async buy(routerId: number, phone: string): Promise<void> {
		await this.fill(routerId, phone);
		await this.pay();
	}

	/** The page's one big sentence. */
	get title() {
		return this.page.getByRole('heading', { level: 1 });
	}
}
