/**
 * The steps of one buyer at the kiosk. A buyer's data exists only in this object, and `clear` deletes it.
 * After a lost response the screen stays until the kiosk knows whether the order arrived.
 */
import * as m from '#lib/i18n/messages.js';
import type { Entries, Handover, Screen } from './handover.ts';
import { allowedSeconds, idleCount, WARN_SECONDS, type IdleKind } from './idle.ts';
import {
	createKioskClient,
	newToken,
	type Availability,
	type KioskClient,
	type KioskPurchase,
	type Sent
} from './client.ts';
import { RouterWatch } from './router-watch.ts';
import { ShownPurchase } from './shown-purchase.svelte.ts';
import { offeredMethods } from '../domain/payment-methods.ts';
import { chargingMethods, choiceWords } from '../purchase/quote.ts';
import { type FormErrors, namedChoice, timeValue } from '../purchase/pay-form.ts';

interface KioskSettings {
	base: string;
	idleSeconds: number;
	/** The screen is not in the kiosk's own language: clearing returns to it. */
	foreign: boolean;
	onCleared: () => void;
	/** Called when an idle kiosk has read its router. */
	onRest: () => void;
}

const TICK_MS = 250;
/** A screen with an unknown order result stays this long. */
const LOST_SECONDS = 15 * 60;
const UNDO_SECONDS = 10;
const OPEN_KINDS: readonly string[] = ['waiting', 'unknown', 'getting-ready', 'unknown-late'];

const BLANK: Entries = { duration: '', paymentMethod: '', phone: '', order: '' };

export class KioskFlow {
	availability = $state.raw<Availability>({ state: 'away', router: null });
	link = $state(true);
	screen = $state<Screen>('start');
	entries = $state({ ...BLANK });
	errors = $state.raw<FormErrors>({});
	/** Confirms an order beside an earlier one, of which `errors` tells; else empty. */
	another = $state('');
	/** An order is being sent, or its result is being read. */
	busy = $state(false);
	/** The last screen was cleared during an open payment. */
	clearedOpen = $state(false);
	/** Whole seconds for which the purchase that a buyer left can be shown again. */
	undoSeconds = $state(0);
	/** Whole seconds until this screen is cleared. */
	left = $state(0);

	readonly #settings: KioskSettings;
	readonly #client: KioskClient;
	readonly #router: RouterWatch;
	readonly #shown: ShownPurchase;
	readonly #idle = idleCount();
	/** What a buyer left, until this time. */
	#undoable: { handover: Handover; until: number } | null = null;
	/** Increases with each clearing: older responses are dropped. */
	#round = 0;

	constructor(settings: KioskSettings, availability: Availability) {
		this.#settings = settings;
		this.availability = availability;
		this.#client = createKioskClient(settings.base);
		this.#router = new RouterWatch(this.#client, (seen) => {
			this.link = seen !== null;
			// Prices on the screen stay while a buyer chooses.
			if (seen === null || this.screen !== 'start') return;
			this.availability = seen;
			if (!this.#undoable) settings.onRest();
		});
		this.#shown = new ShownPurchase(this.#client, {
			onLink: (works) => (this.link = works),
			onNews: (purchase) => {
				if (!this.busy) this.#show(purchase);
			}
		});
	}

	/** Starts reading the router and counting the idle time. Returns the function that stops both. */
	start(): () => void {
		const ticks = setInterval(() => this.#tick(), TICK_MS);
		void this.#router.read();
		return () => {
			this.forget();
			clearInterval(ticks);
			this.#router.stop();
		};
	}

	/** The browser has lost or restored its connection, which may be wrong. */
	linkChanged(works: boolean): void {
		if (works) this.#shown.wake();
		else this.link = false;
		void this.#router.read();
	}

	get purchase(): KioskPurchase | null {
		return this.#shown.current;
	}

	get busySeconds(): number | null {
		return this.#shown.busySeconds;
	}

	get choice() {
		return this.availability.router && namedChoice(this.availability.router, this.entries.duration);
	}

	get methods(): string[] {
		const { router } = this.availability;
		if (this.purchase?.again) return this.purchase.again.methods;
		if (!router) return [];
		return this.choice ? chargingMethods(router, this.choice.amount) : offeredMethods(router.payment_methods);
	}

	/** Names what is bought; a purchase that is paid again keeps its own words and price. */
	get words(): string {
		return this.purchase?.again?.words ?? (this.choice ? choiceWords(this.choice) : '');
	}

	get money(): string {
		return this.purchase?.again?.money ?? this.choice?.money ?? '';
	}

	get warns(): boolean {
		return this.screen !== 'start' && (this.left <= WARN_SECONDS || this.purchase?.pass != null);
	}

	here(): void {
		this.#idle.here();
		this.#count();
	}

	#count() {
		const isOpen = OPEN_KINDS.includes(this.purchase?.kind ?? 'waiting');
		const kind: IdleKind = this.screen !== 'purchase' ? 'choosing' : isOpen ? 'waiting' : 'reading';
		this.left = this.#idle.left(this.busy ? LOST_SECONDS : allowedSeconds(this.#settings.idleSeconds, kind));
	}

	#tick() {
		this.#count();
		this.#countUndo();
		if (this.left > 0) return;
		if (this.screen !== 'start' || this.#settings.foreign) this.clear({ idle: true });
		else this.clearedOpen = false;
	}

	#countUndo() {
		if (!this.#undoable) return;
		this.undoSeconds = Math.max(0, Math.ceil((this.#undoable.until - Date.now()) / 1000));
		if (this.undoSeconds > 0 && this.undoSeconds <= UNDO_SECONDS) return;
		this.#dropLeft();
		if (this.screen === 'start') this.#settings.onCleared();
	}

	#dropLeft() {
		this.#undoable = null;
		this.undoSeconds = 0;
	}

	/** Clears the screen for the next buyer. A purchase can be shown again for a moment: a tap may be a mistake. */
	leave(): void {
		if (!this.purchase && this.entries.order === '') return this.clear();
		const handover = this.handover();
		this.forget();
		this.#undoable = { handover, until: Date.now() + UNDO_SECONDS * 1000 };
		this.here();
		this.#countUndo();
		void this.#router.read();
	}

	undo(): void {
		const handover = this.#undoable?.handover;
		this.#dropLeft();
		if (handover) void this.resume(handover);
	}

	/** Deletes the buyer's data. Purchases and open payments continue in the service. */
	clear({ idle = false } = {}): void {
		this.clearedOpen = idle && (this.busy || OPEN_KINDS.includes(this.purchase?.kind ?? ''));
		this.forget();
		this.here();
		void this.#router.read();
		this.#settings.onCleared();
	}

	/** Deletes the buyer's data when the page closes. */
	forget(): void {
		this.#round += 1;
		this.#dropLeft();
		this.#shown.leave();
		this.entries = { ...BLANK };
		this.errors = {};
		this.another = '';
		this.busy = false;
		this.screen = 'start';
	}

	go(screen: Screen, errors: FormErrors = {}, another = ''): void {
		this.errors = errors;
		this.another = another;
		this.screen = screen;
		this.here();
	}

	begin(): void {
		this.clearedOpen = false;
		const [only = '', ...others] = this.methods;
		this.entries = { ...BLANK, paymentMethod: others.length === 0 ? only : '' };
		this.go('time');
	}

	/** Enters an answer and goes to the next open question. */
	choose(answer: Partial<Entries>): void {
		Object.assign(this.entries, answer);
		const { duration, paymentMethod, phone } = this.entries;
		if (duration === '') this.go('time');
		else if (paymentMethod === '') this.go('method');
		else this.go(phone === '' ? 'number' : 'confirm');
	}

	enterNumber(): void {
		if (this.entries.phone.replace(/\D/g, '').length >= 6) this.choose({});
		else this.errors = { phone: m.kiosk_number_short() };
	}

	back(): void {
		if (this.screen === 'time') this.clear();
		else if (this.purchase) this.go('purchase');
		else if (this.screen === 'confirm') this.go('number');
		else if (this.screen === 'number' && this.methods.length > 1) this.go('method');
		else this.go('time');
	}

	async payAgain({ otherNumber = false } = {}): Promise<void> {
		const again = this.purchase?.again;
		if (!again) return;
		const { paymentMethod } = again;
		Object.assign(this.entries, { paymentMethod, ...(otherNumber && { phone: '' }) });
		if (this.entries.phone === '') this.go('number');
		else await this.pay();
	}

	sendCode(): Promise<void> {
		return this.#shown.sendCode();
	}

	/** Starts another purchase with the same payment method and number. */
	buyMore(): void {
		this.#shown.leave();
		this.choose({ duration: '', order: '' });
	}

	/** Sends the order. A repeated order is the same purchase, because its token is the same. */
	async pay(): Promise<void> {
		if (this.busy) return;
		const round = this.#round;
		this.busy = true;
		this.errors = {};
		this.#dropLeft();
		this.entries.order ||= newToken();
		const before = this.purchase;
		const sent = await this.#send();
		if (round !== this.#round) return;
		if (sent === null || sent.as === 'refused') return this.#refuse(sent?.errors ?? {}, sent?.another);
		if (sent.as === 'lost') this.link = false;
		this.screen = 'purchase';
		const token = sent.as === 'taken' ? sent.token : (before?.token ?? this.entries.order);
		const exists = await this.#follow(token);
		if (round !== this.#round) return;
		const isUnchanged = sent.as === 'lost' && before !== null && this.purchase?.kind === before.kind;
		if (exists && !isUnchanged) return;
		this.go('confirm', { form: m.kiosk_not_arrived() });
		void this.#shown.awaitLate(token);
	}

	async #send(): Promise<Sent | null> {
		const { phone, paymentMethod, order } = this.entries;
		const { another } = this;
		if (this.purchase) {
			const { token, again } = this.purchase;
			return (
				again && this.#client.payAgain({ token, paymentMethod, phone, quoted: String(again.amount), another })
			);
		}
		if (!this.choice) return null;
		return this.#client.buy({ time: timeValue(this.choice), paymentMethod, phone, purchase: order, another });
	}

	async #refuse(errors: FormErrors, another = ''): Promise<void> {
		this.busy = false;
		if (another !== '') return this.go('confirm', errors, another);
		if (errors.phone !== undefined) return this.go('number', errors);
		if (errors.paymentMethod !== undefined) return this.go('method', errors);
		if (errors.time !== undefined && !this.purchase) return this.go('time', errors);
		this.go('confirm', { form: errors.form ?? errors.time ?? m.router_offer_gone() });
		// The price may have changed: the button must show the current one.
		const round = this.#round;
		if (this.purchase) {
			const found = await this.#client.find(this.purchase.token);
			if (round === this.#round && typeof found === 'object') this.#shown.current = found;
			return;
		}
		const seen = await this.#client.look();
		if (round !== this.#round || seen?.state !== 'open') return;
		this.availability = seen;
		if (this.choice === null) this.go('time', { time: errors.form });
	}

	/** Reads a purchase until the service responds, and shows it. Returns false if it does not exist. */
	async #follow(token: string): Promise<boolean> {
		this.busy = true;
		const found = await this.#shown.read(token);
		// The screen was cleared.
		if (found === null) return true;
		this.busy = false;
		this.here();
		if (found !== 'gone') this.#show(found);
		return found !== 'gone';
	}

	#show(purchase: KioskPurchase) {
		this.#shown.show(purchase);
		this.go('purchase');
	}

	handover(): Handover {
		return { ...this.entries, screen: this.screen, token: this.purchase?.token ?? '' };
	}

	async resume({ screen, token, ...entries }: Handover): Promise<void> {
		this.entries = entries;
		if (token === '' && entries.order !== '') void this.#shown.awaitLate(entries.order);
		if (token === '') return this.go(screen === 'purchase' ? 'time' : screen);
		this.screen = 'purchase';
		if (!(await this.#follow(token))) this.clear();
	}
}
