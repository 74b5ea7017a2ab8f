/**
 * The way of one buyer through the kiosk. All that is known of the buyer is in this object's memory, and `wipe` is
 * the one place where it is forgotten. A purchase that was sent is never given up while nobody knows whether it
 * arrived: until then the kiosk asks, and the screen stays.
 */
import * as m from '#lib/i18n/messages.js';
import type { Handover } from './handover.ts';
import { allowedSeconds, idleCount, WARN_SECONDS, type IdleKind } from './idle.ts';
import { asForm, tillClient, type KioskPurchase, type Till } from './api.ts';
import { offeredMethods } from '../domain/payment-methods.ts';
import { timeValue, type FormErrors } from '../checkout/pay-form.ts';
import { backoffMs, watchPurchase } from '../checkout/purchase/poller.ts';
import { quote } from '../checkout/quote.ts';

export type Screen = 'attract' | 'time' | 'method' | 'number' | 'confirm' | 'purchase';
const SCREENS: readonly string[] = ['time', 'method', 'number', 'confirm', 'purchase'];

export interface KioskSettings {
	/** Address of the kiosk, without a slash at the end. */
	base: string;
	idleSeconds: number;
	/** The screen shows another language than the kiosk begins with: that is wiped, too. */
	foreign: boolean;
	/** All is forgotten; the first screen is there again. */
	onWiped: () => void;
	/** The kiosk rests and the till has answered. */
	onRest: () => void;
}

/** How often a resting kiosk looks whether its router is there and what it costs. */
const LOOK_MS = 20_000;
/** And one that cannot sell, whether that is over. */
const CLOSED_LOOK_MS = 10_000;
const TICK_MS = 250;
/** A screen whose order nobody has answered stays this long; nothing can be sold here meanwhile anyway. */
const LOST_SECONDS = 15 * 60;
/** How long the first screen speaks of a purchase that was open when it was wiped. */
const SAID_MS = 60_000;
/** States in which the money may still move without the buyer. */
const OPEN_KINDS: readonly string[] = ['waiting', 'unknown', 'getting-ready', 'unknown-late'];

const BLANK = { duration: '', paymentMethod: '', phone: '', order: '' };

export class KioskFlow {
	till = $state.raw<Till>({ state: 'away', router: null });
	link = $state(true);
	screen = $state<Screen>('attract');
	entries = $state({ ...BLANK });
	errors = $state.raw<FormErrors>({});
	/** An order is on its way. */
	sending = $state(false);
	/** What became of an order, or of a purchase, is being asked. */
	asking = $state(false);
	purchase = $state.raw<KioskPurchase | null>(null);
	busySeconds = $state<number | null>(null);
	/** The last screen was wiped while its payment was open. */
	wipedOpen = $state(false);
	/** Whole seconds until this screen is wiped. */
	left = $state(0);

	readonly #settings: KioskSettings;
	readonly #client: ReturnType<typeof tillClient>;
	readonly #idle = idleCount();
	/** Grows with each wipe: what was asked before is of no interest any more. */
	#round = 0;
	/** A token for the next order. */
	#fresh = '';
	#failures = 0;
	#looks = 0;
	#lookTimer: ReturnType<typeof setTimeout> | undefined;
	#saidTimer: ReturnType<typeof setTimeout> | undefined;
	#stopWatch: (() => void) | undefined;
	#wake: (() => void) | undefined;

	constructor(settings: KioskSettings, till: Till) {
		this.#settings = settings;
		this.#client = tillClient(settings.base);
		this.till = till;
	}

	/** Begins to look at the till and at the clock. @returns the function that ends it */
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

	/** The chosen time with its price. */
	get choice() {
		return this.till.router && quote(this.till.router, this.entries.duration);
	}

	get methods(): string[] {
		return offeredMethods(this.till.router?.payment_methods ?? []);
	}

	/** What the button to pay costs: of a purchase that is paid again, its own price. */
	get money(): string {
		return this.purchase?.again?.money ?? this.choice?.money ?? '';
	}

	get kind(): IdleKind {
		if (this.screen !== 'purchase') return 'choosing';
		return OPEN_KINDS.includes(this.purchase?.kind ?? 'waiting') ? 'waiting' : 'reading';
	}

	/** The screen says that it will be wiped. */
	get warns(): boolean {
		return this.screen !== 'attract' && (this.left <= WARN_SECONDS || this.purchase?.pass != null);
	}

	/** Somebody is there. */
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
		if (this.screen !== 'attract' || this.#settings.foreign) this.wipe({ idle: true });
	}

	/** Forgets the buyer. What was bought or is being paid goes on at the service. */
	wipe({ idle = false } = {}): void {
		const open = this.sending || this.asking || OPEN_KINDS.includes(this.purchase?.kind ?? '');
		this.forget();
		this.wipedOpen = idle && open;
		clearTimeout(this.#saidTimer);
		this.#saidTimer = setTimeout(() => (this.wipedOpen = false), SAID_MS);
		this.here();
		void this.look();
		this.#settings.onWiped();
	}

	/** All that is known of the buyer, and nothing more: for a page that goes away. */
	forget(): void {
		this.#round += 1;
		this.#leavePurchase();
		this.#wake?.();
		this.entries = { ...BLANK };
		this.errors = {};
		this.sending = false;
		this.asking = false;
		this.screen = 'attract';
	}

	#leavePurchase() {
		this.#stopWatch?.();
		this.#stopWatch = undefined;
		this.purchase = null;
		this.busySeconds = null;
	}

	/** Looks at the till; while a buyer is choosing, the prices that were shown stay. */
	async look(): Promise<void> {
		clearTimeout(this.#lookTimer);
		const look = ++this.#looks;
		const seen = await this.#client.look();
		// Asked again meanwhile: what that says is newer.
		if (look !== this.#looks) return;
		this.link = seen !== null;
		this.#failures = seen ? 0 : this.#failures + 1;
		if (seen) {
			this.#fresh = seen.purchase;
			if (this.screen === 'attract') {
				this.till = seen.till;
				this.#settings.onRest();
			}
		}
		this.#lookTimer = setTimeout(() => void this.look(), this.#lookAgainMs(seen?.till ?? null));
	}

	#lookAgainMs(till: Till | null): number {
		if (till === null) return Math.min(LOOK_MS, backoffMs(this.#failures - 1));
		return till.state === 'open' ? LOOK_MS : CLOSED_LOOK_MS;
	}

	begin(): void {
		this.wipedOpen = false;
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

	/** To what is missing; when all is there, to the question whether it is right. */
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
		if (this.screen === 'time') this.wipe();
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

	/** Another number for the same purchase. */
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

	/** The same purchase again, with the same number. */
	async tryAgain(): Promise<void> {
		const again = this.purchase?.again;
		if (!again) return;
		this.entries = { ...this.entries, duration: again.duration, paymentMethod: again.paymentMethod };
		if (this.entries.phone === '') this.#go('number');
		else await this.pay();
	}

	/** A purchase of its own, where the one before came to nothing; network and number stay. */
	buyAnew(): void {
		this.#leavePurchase();
		this.entries = { ...this.entries, duration: '', order: '' };
		this.#go('time');
	}

	/** Sends the order, once: however often it is pressed or sent, the same token makes one purchase. */
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
		// Asked for again, lost on the way, and nothing has changed: it did not arrive.
		if (round !== this.#round || sent.as !== 'lost' || !before) return;
		if (this.purchase?.kind === before.kind) this.#go('confirm', { form: m.kiosk_not_arrived() });
	}

	async #refuse(errors: FormErrors): Promise<void> {
		if (errors.phone !== undefined) return this.#go('number', errors);
		if (errors.paymentMethod !== undefined) return this.#go('method', errors);
		if (errors.time !== undefined && !this.purchase) return this.#go('time', errors);
		this.#go('confirm', { form: errors.form ?? errors.time ?? m.kiosk_not_sent() });
		// The price may be another one now: the button says what is true.
		const round = this.#round;
		if (this.purchase) {
			const found = await this.#client.find(this.purchase.token);
			if (round === this.#round && found.as === 'found') this.purchase = found.purchase;
			return;
		}
		const seen = await this.#client.look();
		if (round === this.#round && seen?.till.state === 'open') this.till = seen.till;
	}

	/** Asks for a purchase until the service has answered, and shows it. */
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

	/** Until it is time, or the connection is back, or all is wiped. */
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

	/** Something changed. Somebody who is typing another number meanwhile is not disturbed before it matters. */
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

	/** What another language's page goes on with. */
	handover(): Handover {
		return { ...this.entries, screen: this.screen, token: this.purchase?.token ?? '' };
	}

	/** Goes on where the page in another language was left. */
	resume({ screen, token, ...entries }: Handover): void {
		if (!SCREENS.includes(screen)) return;
		this.entries = entries;
		if (token === '') return this.#go(screen === 'purchase' ? 'time' : (screen as Screen));
		this.screen = 'purchase';
		void this.#follow(token, () => this.wipe());
	}
}
