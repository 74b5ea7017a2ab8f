/**
 * The steps of one buyer at the kiosk. A buyer's data exists only in this object, and `clear` deletes it.
 * After a lost response the screen stays until the kiosk knows whether the order arrived.
 */
import * as m from '#lib/i18n/messages.js';
import type { Handover } from './handover.ts';
import { allowedSeconds, idleCount, WARN_SECONDS, type IdleKind } from './idle.ts';
import { asForm, createKioskClient, type KioskPurchase, type Availability } from './client.ts';
import { offeredMethods } from '../domain/payment-methods.ts';
import { timeValue, type FormErrors } from '../checkout/pay-form.ts';
import { backoffMs, watchPurchase } from '../checkout/purchase/poller.ts';
import { quote } from '../checkout/quote.ts';

export type Screen = 'start' | 'time' | 'method' | 'number' | 'confirm' | 'purchase';
const SCREENS: readonly string[] = ['time', 'method', 'number', 'confirm', 'purchase'];

export interface KioskSettings {
	base: string;
	idleSeconds: number;
	/** The screen is not in the kiosk's own language: clearing returns to it. */
	foreign: boolean;
	onCleared: () => void;
	/** Called when an idle kiosk has read its router. */
	onRest: () => void;
}

const LOOK_MS = 20_000;
/** How often a kiosk that cannot sell reads its router. */
const CLOSED_LOOK_MS = 10_000;
const TICK_MS = 250;
/** A screen with an unknown order result stays this long. */
const LOST_SECONDS = 15 * 60;
/** How long the first screen mentions an open purchase of the cleared screen. */
const SAID_MS = 60_000;
const OPEN_KINDS: readonly string[] = ['waiting', 'unknown', 'getting-ready', 'unknown-late'];

const BLANK = { duration: '', paymentMethod: '', phone: '', order: '' };

export class KioskFlow {
	availability = $state.raw<Availability>({ state: 'away', router: null });
	link = $state(true);
	screen = $state<Screen>('start');
	entries = $state({ ...BLANK });
	errors = $state.raw<FormErrors>({});
	sending = $state(false);
	asking = $state(false);
	purchase = $state.raw<KioskPurchase | null>(null);
	busySeconds = $state<number | null>(null);
	/** The last screen was cleared during an open payment. */
	clearedOpen = $state(false);
	/** Whole seconds until this screen is cleared. */
	left = $state(0);

	readonly #settings: KioskSettings;
	readonly #client: ReturnType<typeof createKioskClient>;
	readonly #idle = idleCount();
	/** Increases with each clearing: older responses are dropped. */
	#round = 0;
	#fresh = '';
	#failures = 0;
	#looks = 0;
	#lookTimer: ReturnType<typeof setTimeout> | undefined;
	#saidTimer: ReturnType<typeof setTimeout> | undefined;
	#stopWatch: (() => void) | undefined;
	#wake: (() => void) | undefined;

	constructor(settings: KioskSettings, availability: Availability) {
		this.#settings = settings;
		this.#client = createKioskClient(settings.base);
		this.availability = availability;
	}

	/** Starts reading the router and counting the idle time. Returns the function that stops both. */
	start(): () => void {
		const ticks = setInterval(() => this.#tick(), TICK_MS);
		const online = () => {
			this.#wake?.();
			void this.look();
		};
		const offline = () => {
			this.link = false;
			void this.look();
		};
		addEventListener('online', online);
		addEventListener('offline', offline);
		void this.look();
		return () => {
			this.forget();
			clearInterval(ticks);
			clearTimeout(this.#lookTimer);
			clearTimeout(this.#saidTimer);
			removeEventListener('online', online);
			removeEventListener('offline', offline);
		};
	}

	get choice() {
		return this.availability.router && quote(this.availability.router, this.entries.duration);
	}

	get methods(): string[] {
		return offeredMethods(this.availability.router?.payment_methods ?? []);
	}

	/** The price on the pay button; a purchase that is paid again keeps its own. */
	get money(): string {
		return this.purchase?.again?.money ?? this.choice?.money ?? '';
	}

	get kind(): IdleKind {
		if (this.screen !== 'purchase') return 'choosing';
		return OPEN_KINDS.includes(this.purchase?.kind ?? 'waiting') ? 'waiting' : 'reading';
	}

	get warns(): boolean {
		return this.screen !== 'start' && (this.left <= WARN_SECONDS || this.purchase?.pass != null);
	}

	here(): void {
		this.#idle.here();
		this.#count();
	}

	#count() {
		const unknown = this.sending || this.asking;
		this.left = this.#idle.left(
			unknown ? LOST_SECONDS : allowedSeconds(this.#settings.idleSeconds, this.kind)
		);
	}

	#tick() {
		this.#count();
		if (this.left > 0) return;
		if (this.screen !== 'start' || this.#settings.foreign) this.clear({ idle: true });
	}

	/** Deletes the buyer's data. Purchases and open payments continue in the service. */
	clear({ idle = false } = {}): void {
		const open = this.sending || this.asking || OPEN_KINDS.includes(this.purchase?.kind ?? '');
		this.forget();
		this.clearedOpen = idle && open;
		clearTimeout(this.#saidTimer);
		this.#saidTimer = setTimeout(() => (this.clearedOpen = false), SAID_MS);
		this.here();
		void this.look();
		this.#settings.onCleared();
	}

	/** Deletes the buyer's data when the page closes. */
	forget(): void {
		this.#round += 1;
		this.#leavePurchase();
		this.#wake?.();
		this.entries = { ...BLANK };
		this.errors = {};
		this.sending = false;
		this.asking = false;
		this.screen = 'start';
	}

	#leavePurchase() {
		this.#stopWatch?.();
		this.#stopWatch = undefined;
		this.purchase = null;
		this.busySeconds = null;
	}

	/** Reads the router. Prices on the screen stay while a buyer chooses. */
	async look(): Promise<void> {
		clearTimeout(this.#lookTimer);
		const look = ++this.#looks;
		const seen = await this.#client.look();
		// A newer request is running.
		if (look !== this.#looks) return;
		this.link = seen !== null;
		this.#failures = seen ? 0 : this.#failures + 1;
		if (seen) {
			this.#fresh = seen.purchase;
			if (this.screen === 'start') {
				this.availability = seen.availability;
				this.#settings.onRest();
			}
		}
		this.#lookTimer = setTimeout(() => void this.look(), this.#lookAgainMs(seen?.availability ?? null));
	}

	#lookAgainMs(availability: Availability | null): number {
		if (availability === null) return Math.min(LOOK_MS, backoffMs(this.#failures - 1));
		return availability.state === 'open' ? LOOK_MS : CLOSED_LOOK_MS;
	}

	begin(): void {
		this.clearedOpen = false;
		this.entries = { ...BLANK, paymentMethod: this.methods.length === 1 ? (this.methods[0] ?? '') : '' };
		this.#go('time');
	}

	chooseTime(duration: string): void {
		this.entries.duration = duration;
		this.#onwards();
	}

	chooseMethod(paymentMethod: string): void {
		this.entries.paymentMethod = paymentMethod;
		this.#onwards();
	}

	enterNumber(): void {
		if (this.entries.phone.replace(/\D/g, '').length < 6) {
			this.errors = { phone: m.kiosk_number_short() };
			return;
		}
		this.#onwards();
	}

	#onwards() {
		const { duration, paymentMethod, phone } = this.entries;
		if (duration === '') this.#go('time');
		else if (paymentMethod === '') this.#go('method');
		else this.#go(phone === '' ? 'number' : 'confirm');
	}

	change(screen: 'time' | 'method' | 'number'): void {
		this.#go(screen);
	}

	back(): void {
		if (this.screen === 'time') this.clear();
		else if (this.purchase) this.#go('purchase');
		else if (this.screen === 'confirm') this.#go('number');
		else if (this.screen === 'number' && this.methods.length > 1) this.#go('method');
		else this.#go('time');
	}

	#go(screen: Screen, errors: FormErrors = {}) {
		this.errors = errors;
		this.screen = screen;
		this.here();
	}

	otherNumber(): void {
		const again = this.purchase?.again;
		if (!again) return;
		this.entries = {
			...this.entries,
			duration: again.duration,
			paymentMethod: again.paymentMethod,
			phone: ''
		};
		this.#go('number');
	}

	async tryAgain(): Promise<void> {
		const again = this.purchase?.again;
		if (!again) return;
		this.entries = { ...this.entries, duration: again.duration, paymentMethod: again.paymentMethod };
		if (this.entries.phone === '') this.#go('number');
		else await this.pay();
	}

	/** Starts another purchase with the same payment method and number. */
	buyMore(): void {
		this.#leavePurchase();
		this.entries = { ...this.entries, duration: '', order: '' };
		this.#go('time');
	}

	/** Sends the order. A repeated order is the same purchase, because its token is the same. */
	async pay(): Promise<void> {
		if (this.sending || this.asking) return;
		const round = this.#round;
		this.sending = true;
		this.errors = {};
		if (this.entries.order === '') {
			if (this.#fresh === '') await this.look();
			if (round !== this.#round) return;
			this.entries.order = this.#fresh;
			this.#fresh = '';
		}
		const { phone, paymentMethod, order } = this.entries;
		const before = this.purchase;
		if (order === '' || (before ? !before.again : !this.choice)) {
			this.sending = false;
			this.#go('confirm', { form: m.kiosk_not_sent() });
			return;
		}
		const sent =
			before?.again != null
				? await this.#client.payAgain({
						token: before.token,
						paymentMethod,
						phone,
						quoted: String(before.again.amount)
					})
				: await this.#client.buy({
						time: this.choice ? timeValue(this.choice) : '',
						paymentMethod,
						phone,
						purchase: order
					});
		if (round !== this.#round) return;
		this.sending = false;
		if (sent.as === 'refused') return this.#refuse(sent.errors);
		if (sent.as === 'lost') this.link = false;
		this.screen = 'purchase';
		await this.#follow(sent.as === 'taken' ? sent.token : (before?.token ?? order), () =>
			this.#go('confirm', { form: m.kiosk_not_arrived() })
		);
		// The response was lost and the purchase is unchanged: the order did not arrive.
		if (round !== this.#round || sent.as !== 'lost' || !before) return;
		if (this.purchase?.kind === before.kind) this.#go('confirm', { form: m.kiosk_not_arrived() });
	}

	async #refuse(errors: FormErrors): Promise<void> {
		if (errors.phone !== undefined) return this.#go('number', errors);
		if (errors.paymentMethod !== undefined) return this.#go('method', errors);
		if (errors.time !== undefined && !this.purchase) return this.#go('time', errors);
		this.#go('confirm', { form: errors.form ?? errors.time ?? m.kiosk_not_sent() });
		// The price may have changed: the button must show the current one.
		const round = this.#round;
		if (this.purchase) {
			const found = await this.#client.find(this.purchase.token);
			if (round === this.#round && found.as === 'found') this.purchase = found.purchase;
			return;
		}
		const seen = await this.#client.look();
		if (round === this.#round && seen?.availability.state === 'open') this.availability = seen.availability;
	}

	/** Reads a purchase until the service responds, and shows it. */
	async #follow(token: string, onGone: () => void): Promise<void> {
		const round = this.#round;
		this.asking = true;
		for (let tries = 0; round === this.#round; tries += 1) {
			const found = await this.#client.find(token);
			if (round !== this.#round) return;
			this.link = found.as !== 'away';
			if (found.as === 'away') {
				await this.#pause(backoffMs(tries));
				continue;
			}
			this.asking = false;
			this.here();
			if (found.as === 'gone') onGone();
			else this.#show(found.purchase);
			return;
		}
	}

	/** Waits until the time is over, the connection is restored, or the screen is cleared. */
	#pause(milliseconds: number): Promise<void> {
		return new Promise((resolve) => {
			const timer = setTimeout(resolve, milliseconds);
			this.#wake = () => {
				clearTimeout(timer);
				resolve();
			};
		});
	}

	#show(purchase: KioskPurchase) {
		this.#stopWatch?.();
		this.busySeconds = null;
		this.purchase = purchase;
		this.#go('purchase');
		const { token, kind, polls, watch } = purchase;
		if (!polls) return;
		this.#stopWatch = watchPurchase({
			url: `${this.#settings.base}/status`,
			body: () => asForm({ token }),
			state: watch,
			holds: kind === 'waiting',
			onNews: () => void this.#news(token),
			onLink: (works) => {
				this.link = works;
				this.busySeconds = null;
			},
			onBusy: (seconds) => (this.busySeconds = seconds)
		});
	}

	async #news(token: string): Promise<void> {
		const round = this.#round;
		for (let tries = 0; round === this.#round; tries += 1) {
			const found = await this.#client.find(token);
			if (round !== this.#round || this.sending || this.asking) return;
			if (found.as === 'found') return this.#show(found.purchase);
			if (found.as === 'gone') return;
			this.link = false;
			await this.#pause(backoffMs(tries));
		}
	}

	handover(): Handover {
		return { ...this.entries, screen: this.screen, token: this.purchase?.token ?? '' };
	}

	resume({ screen, token, ...entries }: Handover): void {
		if (!SCREENS.includes(screen)) return;
		this.entries = entries;
		if (token === '') return this.#go(screen === 'purchase' ? 'time' : (screen as Screen));
		this.screen = 'purchase';
		void this.#follow(token, () => this.clear());
	}
}
