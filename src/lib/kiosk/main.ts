/**
 * The script of a kiosk. It shows the pages of a buyer in one document: it fetches what a link or a form asks for, and puts
 * it in the place of the screen. So a lost connection never leaves the tablet on the browser's error page, and the browser
 * keeps no address, history or form of a buyer. A lost answer to an order is asked for until the service responds.
 */
import { codeText } from '../domain/codes.ts';
import { countDown } from '../enhance/countdown.ts';
import { all, fill, settingsOf } from '../enhance/dom.ts';
import { enter } from '../enhance/entries.ts';
import { payForm } from '../enhance/pay-form.ts';
import { phoneNumber } from '../enhance/phone.ts';
import { sendOnce } from '../enhance/send-once.ts';
import { stopwatch } from '../format/time-left.ts';
import { backoffMs, followPurchase } from '../purchase/poll.ts';
import { allowedSeconds, idleCount, WARN_SECONDS, type KioskScreen } from './idle.ts';

/** Longer than for reads: an order may take long, and a read can simply be repeated. */
const ORDER_LIMIT_MS = 45_000;
const READ_LIMIT_MS = 12_000;
const TICK_MS = 250;
const UNDO_SECONDS = 10;
/** A screen stays this long while an order is sent, or its answer is lost. */
const LOST_SECONDS = 15 * 60;
const LATE_PAUSE_MS = 2_000;
/** Between two reads of an idle start screen; shorter while the kiosk cannot sell. */
const OPEN_MS = 20_000;
const CLOSED_MS = 5_000;

interface Page {
	/** Path after redirects. */
	address: string;
	/** null if the answer is not a screen of a kiosk, but of a proxy or of a broken service. */
	document: Document | null;
	isMissing: boolean;
}

const frame = () => document.querySelector<HTMLElement>('.kiosk') ?? document.body;
const screen = () => settingsOf<KioskScreen>(frame(), 'kiosk');
const part = (name: string) => frame().querySelector<HTMLElement>(`[data-${name}]`);
/** The field that the pad types into: a number, or the code of a voucher. */
const numberField = () => frame().querySelector<HTMLInputElement>('#phone, #code');
const orderField = () => frame().querySelector<HTMLInputElement>('[name=purchase]');
const show = (name: string, isShown: boolean) => {
	const element = part(name);
	if (element) element.hidden = !isShown;
};
const pathOf = (url: string) => url.replace(/^\w+:\/\/[^/]+/, '');
const textOf = (page: Document) => page.querySelector('main')?.textContent;
const scriptOf = (page: Document) => page.querySelector('script[type=module]')?.getAttribute('src');

/** Without the styles, which this document has: their nonces are of other answers. */
const parse = (html: string): Document =>
	new DOMParser().parseFromString(html.replace(/<style[^]*?<\/style>/g, ''), 'text/html');

const { start, idleSeconds = 60 } = screen();
const home = location.pathname + location.search;
/** The start screen as the service sent it, to be shown also without a connection. */
let startPage = parse(document.documentElement.outerHTML);
/** Path of the page on the screen. */
let address = home;
/** Increases with each screen and request: older answers are dropped. */
let round = 0;
/** Somebody has touched this screen. */
let isTouched = false;
let isSending = false;
/** The answer to an order is lost. */
let isLost = false;
let isLinked = true;
let timesLost = 0;
/** The purchase that a buyer left, until this time. */
let undo: { address: string; until: number } | null = null;
let stopFollowing = () => {};
let wake = () => {};
let restTimer: ReturnType<typeof setTimeout> | undefined;
const idle = idleCount();

const pause = (milliseconds: number) =>
	new Promise<void>((resolve) => {
		const timer = setTimeout(resolve, milliseconds);
		wake = () => {
			clearTimeout(timer);
			resolve();
		};
	});

/** Returns null without an answer. Old tablets lack AbortSignal.timeout. */
async function read(path: string, body?: FormData): Promise<Page | null> {
	const request = new AbortController();
	const limit = setTimeout(() => request.abort(), body ? ORDER_LIMIT_MS : READ_LIMIT_MS);
	try {
		const response = await fetch(path, {
			cache: 'no-store',
			signal: request.signal,
			...(body && { method: 'POST', body })
		});
		const page = parse(await response.text());
		const isScreen = page.querySelector('.kiosk') !== null;
		return {
			address: pathOf(response.url),
			document: isScreen ? page : null,
			isMissing: response.status === 404
		};
	} catch {
		return null;
	} finally {
		clearTimeout(limit);
	}
}

/** Reads a page until the service answers. Returns null if another screen was asked for meanwhile, or after `until`. */
async function readUntilAnswered(path: string, until = Infinity): Promise<Page | null> {
	const asked = round;
	for (let tries = 0; ; tries += 1) {
		const page = await read(path);
		if (asked !== round || Date.now() > until) return null;
		setLink(page !== null);
		if (page?.document || page?.isMissing) return page;
		setLink(false);
		await pause(backoffMs(tries));
		if (asked !== round) return null;
	}
}

function setLink(works: boolean): void {
	isLinked = works;
	show('no-link', !works && !isLost);
}

/** Puts a page on the screen. */
function put(page: Document, at: string): void {
	round += 1;
	stopFollowing();
	const fresh = page.querySelector('.kiosk');
	if (fresh) frame().replaceWith(document.importNode(fresh, true));
	const { lang, dir } = page.documentElement;
	Object.assign(document.documentElement, { lang, dir });
	document.title = page.title;
	address = at;
	[isSending, isLost] = [false, false];
	begin();
	idle.here();
	tick();
	scrollTo(0, 0);
	const number = numberField();
	const isReturned = number?.getAttribute('aria-invalid') === 'true' || Boolean(number?.defaultValue);
	if (number && isReturned) number.select();
	else frame().querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
}

/** Makes the page on the screen work. */
function begin(): void {
	for (const heading of all('.kiosk h1')) heading.tabIndex = -1;
	// The tablet's own keyboard would learn the number and lead out of the kiosk.
	numberField()?.setAttribute('inputmode', 'none');
	sendOnce(ORDER_LIMIT_MS);
	phoneNumber();
	payForm();
	countDown();
	setLink(isLinked);
	stopFollowing = followPurchase(purchasePath(), '', false, (to) => void open(to));
}

/** Opens a page as soon as there is a connection, at the latest at `until`. The screen stays until then. */
async function open(path: string, entries: FormData | null = null, until?: number): Promise<void> {
	round += 1;
	const page = await readUntilAnswered(path, until);
	if (!page) return;
	if (!page.document) return clear();
	put(page.document, page.address);
	if (!entries) return;
	enter(entries);
	numberField()?.dispatchEvent(new Event('input', { bubbles: true }));
}

/** Path of the purchase on the screen, or of the one that its form orders. */
function purchasePath(): string {
	const order = orderField()?.value;
	return order
		? (part('purchase')?.dataset['purchase'] ?? '').replace('{}', order)
		: address.replace(/\?.*/, '');
}

/** Sends a form. Nothing is sent twice: without an answer, the page of the purchase says whether it arrived. */
async function send(form: HTMLFormElement): Promise<void> {
	if (isSending) return;
	const asked = (round += 1);
	const body = new FormData(form);
	const order = String(body.get('purchase'));
	const place = purchasePath();
	isSending = true;
	undo = null;
	show('resend', false);
	const sent = await read(new URL(form.getAttribute('action') ?? '', location.origin + address).href, body);
	if (asked !== round) return;
	setLink(sent !== null);
	if (sent?.document) return put(sent.document, sent.address);
	showLost(true);
	const page = await readUntilAnswered(place);
	if (!page) return;
	if (page.document) return put(page.document, page.address);
	showLost(false);
	isSending = false;
	// As after going back: the form can be sent again (enhance/send-once.ts).
	dispatchEvent(new Event('pageshow'));
	write('resend', form.querySelector('button:not([type=button])')?.textContent ?? '');
	show('resend', true);
	void awaitLate(place, order);
}

function showLost(isShown: boolean): void {
	isLost = isShown;
	show('lost', isShown);
	const main = frame().querySelector('main');
	if (main) main.hidden = isShown;
	setLink(isLinked);
}

/** Shows the purchase of an order that a proxy held back, while its form is on the screen. */
async function awaitLate(place: string, order: string): Promise<void> {
	const isOver = () => orderField()?.value !== order;
	for (;;) {
		await new Promise((resolve) => setTimeout(resolve, LATE_PAUSE_MS));
		if (isOver()) return;
		const page = isSending ? null : await read(place);
		if (isOver()) return;
		if (page?.document && !isSending) return put(page.document, page.address);
	}
}

/** Clears the screen for the next buyer. Purchases and open payments continue in the service. */
function clear(): void {
	const isOpen = isSending || screen().kind === 'waiting';
	isTouched = false;
	undo = null;
	put(startPage, home);
	// Two buyers with one token would share a purchase.
	const order = orderField();
	if (order) order.value = newToken();
	show('cleared-open', isOpen);
	performance.clearResourceTimings();
	void rest();
}

/** Makes the token of a purchase (platform/secrets.ts has its form): 144 random bits. */
const newToken = (): string =>
	btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(18))))
		.replace(/\+/g, '-')
		.replace(/\//g, '_');

const isOfPurchase = () => isSending || !address.startsWith(screen().start);

/** Clears the screen when a buyer says so. A purchase can be shown again for a moment: a touch may be a mistake. */
function leave(): void {
	const until = Date.now() + UNDO_SECONDS * 1000;
	const left = isOfPurchase() ? { address: purchasePath(), until } : undo;
	clear();
	undo = left;
	tick();
}

/** Reads the start screen again and again: prices change, routers close, and connections come back. */
async function rest(): Promise<void> {
	clearTimeout(restTimer);
	const isResting = () => address === home && !isTouched && !undo;
	if (isResting() || !isLinked) {
		const asked = timesLost;
		const page = await read(home);
		// An answer to a question from before the connection was lost does not say that it is back.
		if (!isSending && asked === timesLost) setLink(page !== null);
		if (page?.document && isResting()) renew(page.document);
	}
	clearTimeout(restTimer);
	restTimer = setTimeout(() => void rest(), screen().isClosed || !isLinked ? CLOSED_MS : OPEN_MS);
}

function renew(page: Document): void {
	// A new version of the kiosk.
	if (scriptOf(page) !== scriptOf(startPage)) return location.replace(home);
	const isNews = textOf(page) !== textOf(startPage);
	startPage = page;
	// A screen that is the same keeps its focus.
	if (isNews) put(page, home);
}

function tick(): void {
	const { kind, isPaid = false } = screen();
	if (undo && Date.now() >= undo.until) undo = null;
	const undoSeconds = undo ? Math.min(UNDO_SECONDS, Math.ceil((undo.until - Date.now()) / 1000)) : 0;
	show('undo', undoSeconds > 0);
	write('undo', String(undoSeconds));
	const isStart = address === home && !isTouched;
	const left = idle.left(isSending ? LOST_SECONDS : allowedSeconds(idleSeconds, kind));
	const isSoon = !isStart && left <= WARN_SECONDS;
	frame().classList.toggle('kiosk-soon', isSoon);
	show('leave', !isStart && !isSending);
	show('left', !isSending && (isSoon || isPaid));
	write('timer', stopwatch(left));
	const alert = part('soon');
	const text = isSoon ? (alert?.dataset['soon'] ?? '') : '';
	if (alert && alert.textContent !== text) alert.textContent = text;
	if (left > 0) return;
	if (isStart) show('cleared-open', false);
	else clear();
}

/** Fills the text that an element keeps in its attribute. */
function write(name: string, value: string): void {
	const element = part(name);
	if (element) element.textContent = fill(element.dataset[name] ?? '', value);
}

function here(): void {
	idle.here();
	if (!isTouched && address === home) {
		isTouched = true;
		// An entry of the history that keeps Back in the kiosk. Browsers count it only after a touch.
		if (history.state !== 'kiosk') history.pushState('kiosk', '');
	}
	tick();
}

/** Full screen and always on, as far as the browser allows it. */
function fillScreen(): void {
	const { documentElement: root, fullscreenElement } = document;
	if (!fullscreenElement && 'requestFullscreen' in root) root.requestFullscreen().catch(() => {});
}

function keepAwake(): void {
	// Missing on plain http and in old WebViews.
	const { wakeLock }: Partial<Navigator> = navigator;
	if (!document.hidden) wakeLock?.request('screen').catch(() => {});
}

/** A key of the number pad. */
function pressKey(field: HTMLInputElement, key: string): void {
	const { value } = field;
	const isMarked = value !== '' && field.selectionStart === 0 && field.selectionEnd === value.length;
	const typed = key === '' ? value.replace(/[\w+][^\w+]*$/, '') : (isMarked ? '' : value) + key;
	field.value = field.id === 'code' ? codeText(typed.replace(/-/g, '')) : typed;
	field.dispatchEvent(new Event('input', { bubbles: true }));
	field.setSelectionRange(field.value.length, field.value.length);
}

function press(event: MouseEvent): void {
	fillScreen();
	const target = (event.target as Element).closest<HTMLElement>('a, button');
	if (!target) return;
	const field = numberField();
	if (target.dataset['key'] !== undefined && field) return pressKey(field, target.dataset['key']);
	if ('leave' in target.dataset) return leave();
	if ('undo' in target.dataset && undo) {
		const { address: left } = undo;
		undo = null;
		// Later, somebody else may stand there.
		return void open(left, null, Date.now() + UNDO_SECONDS * 1000);
	}
	const href = target.getAttribute('href');
	if (href === null) return;
	event.preventDefault();
	if (isSending) return;
	if (href.startsWith('#')) return numberField()?.focus();
	const path = pathOf(new URL(href, location.origin + address).href);
	if (path === screen().start && isOfPurchase()) return leave();
	const form = frame().querySelector('form');
	// Links to other languages keep what was typed.
	void open(path, form && target.lang ? new FormData(form) : null);
}

if (location.pathname !== start) location.replace(start);
performance.setResourceTimingBufferSize(0);
document.addEventListener('click', press);
document.addEventListener('submit', (event) => {
	if (event.defaultPrevented) return;
	event.preventDefault();
	void send(event.target as HTMLFormElement);
});
for (const name of ['pointerdown', 'touchstart', 'keydown']) document.addEventListener(name, here);
for (const name of ['contextmenu', 'dragstart'])
	document.addEventListener(name, (event) => event.preventDefault());
document.addEventListener('visibilitychange', keepAwake);
addEventListener('popstate', leave);
// Keeps a buyer's data out of the back/forward cache.
addEventListener('pagehide', clear);
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
addEventListener('online', () => {
	wake();
	void rest();
});
addEventListener('offline', () => {
	timesLost += 1;
	setLink(false);
});
document.documentElement.classList.add('enhanced');
begin();
keepAwake();
setInterval(tick, TICK_MS);
void rest();
