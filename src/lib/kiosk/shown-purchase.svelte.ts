/** The purchase on the kiosk's screen: reads it, and follows its state while it is shown. */
import { backoffMs, watchPurchase } from '../purchase/poll.ts';
import { asForm, type Found, type KioskClient, type KioskPurchase } from './client.ts';

const LATE_PAUSE_MS = 2000;

interface Listeners {
	onLink: (works: boolean) => void;
	onNews: (purchase: KioskPurchase) => void;
}

export class ShownPurchase {
	current = $state.raw<KioskPurchase | null>(null);
	/** The service refuses requests for this many seconds. */
	busySeconds = $state<number | null>(null);

	readonly #client: KioskClient;
	readonly #listeners: Listeners;
	/** Increases when the purchase leaves the screen: older responses are dropped. */
	#round = 0;
	/** Increases with each `awaitLate`, which ends the earlier one. */
	#late = 0;
	#stopWatch: (() => void) | undefined;
	#wake: (() => void) | undefined;

	constructor(client: KioskClient, listeners: Listeners) {
		this.#client = client;
		this.#listeners = listeners;
	}

	show(purchase: KioskPurchase): void {
		this.#stopWatch?.();
		this.busySeconds = null;
		this.current = purchase;
		const { token, kind, polls, watch } = purchase;
		if (!polls) return;
		this.#stopWatch = watchPurchase({
			url: this.#client.statusUrl,
			body: () => asForm({ token }),
			state: watch,
			holds: kind === 'waiting',
			onNews: () => void this.#readNews(token),
			onLink: (works) => {
				this.#listeners.onLink(works);
				this.busySeconds = null;
			},
			onBusy: (seconds) => (this.busySeconds = seconds)
		});
	}

	async #readNews(token: string): Promise<void> {
		const found = await this.read(token);
		if (found !== null && found !== 'gone') this.#listeners.onNews(found);
	}

	/** Reads a purchase until the service responds. Returns null if `leave` was called meanwhile. */
	async read(token: string): Promise<Exclude<Found, 'away'> | null> {
		const round = this.#round;
		for (let tries = 0; ; tries += 1) {
			const found = await this.#client.find(token);
			if (round !== this.#round) return null;
			this.#listeners.onLink(found !== 'away');
			if (found !== 'away') return found;
			await this.#pause(backoffMs(tries));
			if (round !== this.#round) return null;
		}
	}

	/**
	 * Shows the purchase of an order that a proxy held back, once it exists or, if it was paid again, changes. Ends when
	 * another purchase is shown.
	 */
	async awaitLate(token: string): Promise<void> {
		const [round, before, late] = [this.#round, this.current, (this.#late += 1)];
		for (;;) {
			// Not by `#pause`, whose only `wake` belongs to the read that somebody waits for.
			await new Promise((resolve) => setTimeout(resolve, LATE_PAUSE_MS));
			const isOver = () => round !== this.#round || late !== this.#late || this.current !== before;
			if (isOver()) return;
			const found = await this.#client.find(token);
			if (isOver()) return;
			// While the buyer sends another order, this is not shown: then the next look shows it.
			if (typeof found === 'object' && found.kind !== before?.kind) this.#listeners.onNews(found);
		}
	}

	/** Sends the code by SMS, and follows the result while the purchase is shown. */
	async sendCode(): Promise<void> {
		const round = this.#round;
		const token = this.current?.token ?? '';
		let found = await this.#client.sendCode(token);
		if (round === this.#round) this.#listeners.onLink(found !== 'away');
		while (round === this.#round && typeof found === 'object') {
			this.current = found;
			if (found.sms?.refreshSeconds == null) return;
			await this.#pause(found.sms.refreshSeconds * 1000);
			if (round === this.#round) found = await this.#client.find(token);
		}
	}

	#pause(milliseconds: number): Promise<void> {
		return new Promise((resolve) => {
			const timer = setTimeout(resolve, milliseconds);
			this.#wake = () => {
				clearTimeout(timer);
				resolve();
			};
		});
	}

	/** Retries now: the connection is restored. */
	wake(): void {
		this.#wake?.();
	}

	leave(): void {
		this.#round += 1;
		this.#stopWatch?.();
		this.wake();
		this.current = null;
		this.busySeconds = null;
	}
}
