import { changeAccess, listAccessChoices } from '#lib/server/access-kinds.ts';
import { type RequestEvent, fail, redirect } from '@sveltejs/kit';
import {
	type AccessKind,
	MAX_WIFI_PASSWORD,
	MIN_WIFI_PASSWORD,
	type WifiSecurity,
	hasNetworkPassword,
	wifiPasswordProblem
} from '#lib/domain/wifi.ts';
import { link } from '#lib/i18n/current.ts';
import { apart, numberText } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { attempt, Refused } from '#lib/server/platform/errors.ts';
import type { OwnedRouter } from '#lib/server/routers/routers.ts';
import { type Fields, readFields } from '../form.ts';
import { type OwnerVisitor, authorOf } from './owner.ts';
import { findRouterOutages } from '#lib/server/access/outages.ts';
import { MINUTE_MS, NEW_HOURLY_MAX, formatDuration } from '#lib/domain/time.ts';
import { currencyName, readAmount, toMajor } from '#lib/domain/money.ts';
import { PURCHASE_TOKEN_PATTERN, purchaseToken } from '#lib/server/platform/secrets.ts';
import {
	MAX_UNCONNECTED_ROUTERS,
	changeRouterFields,
	createOwnedRouter,
	markRouter,
	pauseRouter,
	setGivesTimeBack
} from '#lib/server/routers/edit-router.ts';
import { newRouterOffers, setNewRouterOffers } from './offer-form.ts';
import { amountProblem, moment, money, pastMoment } from '#lib/format/text.ts';
import { type FoundEntry, accountIdOf } from '../../audit.ts';
import { findAccount } from '../../accounts/accounts.ts';
import { hiddenCharacter, readLine } from '#lib/domain/text.ts';
import { WEEKDAYS, endOfDay, hoursText, nextOpen } from '#lib/domain/opening-hours.ts';
import {
	MAX_ADDRESS_CHARACTERS,
	MAX_NAME_CHARACTERS,
	MAX_SSID_BYTES,
	type PriceRules,
	visible
} from '#lib/server/routers/router-fields.ts';
import { momentText } from '#lib/format/words.ts';

/** The owner's pages of a router: its access, its fields, what it still lacks before it sells, and its sales. */

/** Value of a choice in the form. */
const valueOf = (kind: AccessKind, security: WifiSecurity) => `${kind} ${security}`;

/** The hotspot's sign-in page works on an open network too, and most hotspots are one. */
const choicesOf = (kinds: readonly AccessKind[], ssid: string) =>
	kinds.flatMap((kind) => {
		const securities = kind === 'portal_login' ? (['nopass', 'wpa'] as const) : (['wpa'] as const);
		return securities.map((security) => ({
			...{ kind, security, value: valueOf(kind, security) },
			...kindWords(kind, security, apart(ssid))
		}));
	});

const choicesAt = async ({ locals: { app } }: RequestEvent, { id, ssid }: OwnedRouter) =>
	choicesOf(await listAccessChoices(app, id), ssid);

export async function accessForm(event: RequestEvent, router: OwnedRouter) {
	const choices = await choicesAt(event, router);
	return {
		saved: valueOf(router.access_kind, router.security),
		choices,
		asksPassword: choices.some(({ kind, security }) => hasNetworkPassword(kind, security)),
		maxPassword: MAX_WIFI_PASSWORD
	};
}

export async function saveAccess(event: RequestEvent, router: OwnedRouter, owner: OwnerVisitor) {
	const { field } = await readFields(event.request);
	const [chosen, typed] = [field('access'), field('password')];
	const saved = valueOf(router.access_kind, router.security);
	// The choice is saved already if the form was sent twice.
	if (field('from') !== saved && chosen !== saved) {
		return fail(409, { chosen, typed, access: m.owner_access_moved() });
	}
	const refused = (problems: { access?: string; password?: string }) =>
		fail(400, { chosen, typed, ...problems });
	const choice = (await choicesAt(event, router)).find(({ value }) => value === chosen);
	if (!choice) return refused({ access: m.owner_access_refused() });
	const { kind, security } = choice;
	const isGiven = typed !== '' && hasNetworkPassword(kind, security);
	const password = isGiven ? wifiPasswordText(typed) : null;
	if (password !== null) return refused({ password });
	const change = { kind, security, networkPassword: isGiven ? typed : undefined };
	const wrong = await attempt(() => changeAccess(event.locals.app, router.id, change, authorOf(owner)));
	if (wrong instanceof Refused) {
		const lacksPassword = wrong.fields.every((one) => one.field === 'network-password');
		return refused(
			lacksPassword ? { password: m.owner_access_no_password() } : { access: m.owner_access_refused() }
		);
	}
	redirect(303, link(`/owner/routers/${router.id}?done=access`));
}

/** Returns why a text cannot be the password, or null. access-kinds.ts checks the same rules again. */
function wifiPasswordText(text: string): string | null {
	switch (wifiPasswordProblem(text)) {
		case null:
			return null;
		case 'hex':
			return m.owner_wifi_hex();
		case 'characters':
			return m.owner_wifi_characters();
		default:
			return m.owner_wifi_length({ min: String(MIN_WIFI_PASSWORD), max: String(MAX_WIFI_PASSWORD) });
	}
}

interface Shown {
	access_kind: AccessKind;
	security: WifiSecurity;
	ssid: string;
	networkPasswordKnown: boolean;
}

export function accessWords(router: Shown) {
	const { access_kind: kind, security } = router;
	return {
		...kindWords(kind, security, apart(router.ssid)),
		/** True if Airtill cannot enforce the end. The text is highlighted. */
		open: kind === 'shared_password',
		/** null if the access kind has no shared Wi-Fi password. */
		network: hasNetworkPassword(kind, security) ? networkText(router) : null
	};
}

export function kindWords(kind: AccessKind, security: Shown['security'], ssid: string) {
	switch (kind) {
		case 'wpa_personal_per_client':
			return { title: m.owner_access_own_title(), text: m.owner_access_own_text({ ssid }) };
		case 'wpa_enterprise':
			return { title: m.owner_access_user_title(), text: m.owner_access_user_text({ ssid }) };
		case 'portal_login':
			if (security === 'nopass') {
				return { title: m.owner_access_open_title(), text: m.owner_access_open_text({ ssid }) };
			}
			return { title: m.owner_access_login_title(), text: m.owner_access_login_text({ ssid }) };
		case 'shared_password':
			return { title: m.owner_access_shared_title(), text: m.owner_access_shared_text({ ssid }) };
	}
}

function networkText({ access_kind: kind, networkPasswordKnown }: Shown): string {
	if (networkPasswordKnown) return m.owner_wifi_known();
	return kind === 'shared_password' ? m.owner_wifi_missing() : m.owner_wifi_ask();
}

/** Owners can set these up alone: the other kinds need a RADIUS server. */
const choices = () => choicesOf(['portal_login', 'shared_password'], 'Wi‑Fi');

export function newRouterForm({ locals: { app } }: RequestEvent) {
	return {
		/** The same form adds one router, however often it is sent. */
		key: purchaseToken(),
		currency: currencyName(app.config.currency),
		centre: app.config.centre,
		entry: { name: '', address: '', ssid: '', hidden: 'no', lat: '', lon: '', opening_hours: '' },
		choices: choices(),
		/** Ticked. */
		offers: newRouterOffers(),
		limit: formatDuration(NEW_HOURLY_MAX)
	};
}

type Errors = Partial<RouterEntry & { price: string }>;

export async function addRouter(event: RequestEvent, owner: OwnerVisitor) {
	const { app } = event.locals;
	const { field, all } = await readFields(event.request);
	const { entry } = readEntry(field);
	const key = PURCHASE_TOKEN_PATTERN.test(field('key')) ? field('key') : purchaseToken();
	const [price, chosen, offers] = [field('price'), field('access'), all('offer')];
	const refused = (errors: Errors, problem = m.owner_check_fields()) =>
		fail(400, { key, entry, price, chosen, offers, errors, problem });
	const choice = choices().find(({ value }) => value === chosen);
	if (!choice) return refused({}, m.owner_access_choose());
	const { kind: access_kind, security } = choice;
	const typed = readTypedPrice(price, app.config);
	const texts = { ...entry, price: 'price' in typed ? String(typed.price) : '', access_kind, security };
	const added = await attempt(() =>
		createOwnedRouter(app.routers, owner.actor.accountId, texts, authorOf(owner), key)
	);
	if (!(added instanceof Refused)) {
		await setNewRouterOffers(app, owner, added, offers);
		redirect(303, link(`/owner/routers/${added.id}?done=new`));
	}
	const fields = added.fields.map((one) => one.field);
	if (fields.includes('limit')) {
		return refused({}, m.owner_new_full({ count: numberText(MAX_UNCONNECTED_ROUTERS) }));
	}
	const isPrice = fields.includes('price');
	return refused({
		...routerErrors(added, entry),
		...(isPrice && { price: 'problem' in typed ? typed.problem : m.owner_price_not_number() })
	});
}

const SHOWN = 10;

const WORDS: Readonly<Record<string, () => string>> = {
	'router.disabled': m.owner_changed_disabled,
	'router.enabled': m.owner_changed_enabled,
	'router.access_confirmed': m.owner_changed_confirmed,
	'router.access_withdrawn': m.owner_changed_withdrawn,
	'router.access_changed': m.owner_access,
	'router.offers_changed': m.owner_offers,
	'router.changed': m.owner_changed_details
};

const wordsOf = (action: string): string =>
	(WORDS[action] ?? (action.startsWith('gateway.') ? m.usage_gateways : m.owner_changed_details))();

/** What administrators have changed at a router, newest first: who, what, when and why. */
export async function changesOfAdministrators(
	{ locals: { app } }: RequestEvent,
	{ id, currency }: OwnedRouter,
	{ owner }: OwnerVisitor
) {
	const [now, timeZone] = [app.clock.now(), app.config.reportTimezone];
	const filter = { actor: null, action: null, paymentId: null, routerId: id, from: 0, to: now + 1 };
	const { entries } = await app.audit.search(
		app.database.db,
		{ ...filter, who: 'people', notOfOwner: owner.id },
		{ after: null, limit: SHOWN }
	);
	return Promise.all(
		entries.map(async (entry) => {
			const account = await findAccount(app, accountIdOf(entry.actor) ?? 0);
			return {
				id: entry.id,
				when: pastMoment(entry.at, { now, timeZone }),
				who: account?.email ?? entry.actor,
				reason: entry.reason,
				...whatOf(entry, currency)
			};
		})
	);
}

/** Name of the change, and "old → new" of each text or price that has changed. */
function whatOf({ action, before, after }: FoundEntry, currency: string): { what: string; values: string[] } {
	const [old, now] = [before, after].map((text) => JSON.parse(text) as Record<string, unknown>);
	const valueOf = (name: string, value: unknown) =>
		name === 'price_minor' && typeof value === 'number' ? money(toMajor(value, currency), currency) : value;
	const values = Object.keys(now ?? {}).flatMap((name) => {
		const [from, to] = [valueOf(name, old?.[name]), valueOf(name, now?.[name])];
		const isShown = typeof from === 'string' && typeof to === 'string' && from !== to;
		return isShown ? [`${from || '–'} → ${to || '–'}`] : [];
	});
	const isPrice = action === 'router.changed' && now !== undefined && 'price_minor' in now;
	return { what: isPrice ? m.owner_price() : wordsOf(action), values };
}

const FIELDS = ['name', 'address', 'ssid', 'hidden', 'lat', 'lon', 'opening_hours'] as const;
const MAY_BE_EMPTY: readonly string[] = ['address', 'opening_hours'];
type Field = (typeof FIELDS)[number];

/** The fields of the form, as typed. */
type RouterEntry = Record<Field, string>;

const yesNo = (isTrue: boolean) => (isTrue ? 'yes' : 'no');

const entryOf = ({ name, address, ssid, hidden, lat, lon, openingHours }: OwnedRouter): RouterEntry => ({
	...{ name, address: address ?? '', ssid, hidden: yesNo(hidden), lat: String(lat), lon: String(lon) },
	opening_hours: openingHours ?? ''
});

export const editForm = ({ locals: { app } }: RequestEvent, router: OwnedRouter) => ({
	...{ id: router.id, name: router.name, entry: entryOf(router), centre: app.config.centre }
});

export async function changeRouter(event: RequestEvent, { id }: OwnedRouter, owner: OwnerVisitor) {
	const { entry, was } = readEntry((await readFields(event.request)).field);
	const refused = await attempt(() =>
		changeRouterFields(event.locals.app.routers, id, changedFields(entry, was), authorOf(owner))
	);
	if (refused instanceof Refused) return fail(400, { entry, was, errors: routerErrors(refused, entry) });
	redirect(303, link(`/owner/routers/${id}?done=edit`));
}

/** Reads the fields, and what they were when the page was loaded. */
function readEntry(field: Fields): { entry: RouterEntry; was: RouterEntry } {
	const read = (prefix: string) =>
		({
			...Object.fromEntries(FIELDS.map((name) => [name, field(prefix + name)])),
			// Browsers send no empty box.
			hidden: yesNo(field(`${prefix}hidden`) === 'yes')
		}) as RouterEntry;
	return { entry: { ...read(''), opening_hours: readHours(field) }, was: read('was-') };
}

/** Days without own times get those of every day. */
function readHours(field: Fields): string {
	const hours = WEEKDAYS.map((day) => ({
		...{ day, from: field(`from-${day}`), until: field(`until-${day}`) }
	}));
	const everyDay = { from: field('from-all'), until: field('until-all') };
	const isEmpty = ({ from, until }: typeof everyDay) => from === '' && until === '';
	return hoursText(
		hours.map((own) => (isEmpty(own) ? { ...own, ...everyDay } : own)).filter((own) => !isEmpty(own))
	);
}

/** Only these are judged and stored: an old page must not undo the changes of a newer one. */
const changedFields = (entry: RouterEntry, was: RouterEntry): Partial<RouterEntry> =>
	Object.fromEntries(
		FIELDS.filter(
			(name) => entry[name] !== was[name] || (entry[name] === '' && !MAY_BE_EMPTY.includes(name))
		).map((name) => [name, entry[name]])
	);

function routerErrors({ fields: problems }: Refused<string>, entry: RouterEntry): Partial<RouterEntry> {
	const wrong = FIELDS.filter((name) => problems.some(({ field }) => field === name));
	return Object.fromEntries(wrong.map((field) => [field, errorText(field, entry[field])]));
}

function errorText(field: Field, text: string): string {
	const isEmpty = visible(text) === '';
	const isHidden = hiddenCharacter(readLine(text)) !== null;
	switch (field) {
		case 'name':
			if (isHidden) return m.owner_text_hidden();
			return isEmpty ? m.owner_router_no_name() : tooLong(MAX_NAME_CHARACTERS);
		case 'address':
			return isHidden ? m.owner_text_hidden() : tooLong(MAX_ADDRESS_CHARACTERS);
		case 'ssid':
			if (isEmpty) return m.owner_router_no_ssid();
			return Buffer.byteLength(text) <= MAX_SSID_BYTES
				? m.owner_text_hidden()
				: m.owner_router_long_ssid({ count: String(MAX_SSID_BYTES) });
		case 'hidden':
			return m.owner_check_fields();
		case 'lat':
			return m.owner_router_bad_degrees({ limit: '90', example: apart('0.3476') });
		case 'lon':
			return m.owner_router_bad_degrees({ limit: '180', example: apart('32.5825') });
		case 'opening_hours':
			return m.owner_hours_bad();
	}
}

const tooLong = (count: number) => m.owner_password_long({ count: String(count) });

/** Reads a price that was typed on a page. @returns major units, or what is wrong with it */
export function readTypedPrice(
	text: string,
	{ currency, maxPrice }: PriceRules
): { price: number } | { problem: string } {
	const minor = readAmount(text, currency);
	if (typeof minor === 'string') {
		const isTooHigh = minor === 'too_large';
		return { problem: isTooHigh ? tooHigh({ currency, maxPrice }) : amountProblem(minor, text, currency) };
	}
	if (minor <= 0) return { problem: m.owner_price_not_number() };
	const price = toMajor(minor, currency);
	return price > maxPrice ? { problem: tooHigh({ currency, maxPrice }) } : { price };
}

const tooHigh = ({ currency, maxPrice }: PriceRules) =>
	m.owner_price_too_high({ money: money(maxPrice, currency) });

interface RouterState {
	/** `notice`: a person closed it; `bad`: something is broken or missing. */
	tone: 'good' | 'notice' | 'bad';
	/** A few words beside the name. */
	label: string;
	/** Why the router does not sell, and what to do; null while it sells. */
	text: string | null;
}

export function routerState(
	router: OwnedRouter,
	{ now, timeZone }: { now: number; timeZone: string }
): RouterState {
	const { status, status_reason: reason, opensAt, unresponsiveSince } = router;
	if (router.disabled) {
		const text = router.canEnable ? m.owner_disabled_text() : m.owner_disabled_by_administrator();
		return { tone: 'notice', label: m.owner_disabled(), text };
	}
	if (status === 'online') return { tone: 'good', label: m.owner_online(), text: null };
	const fault = (label: string, text: string): RouterState => ({ tone: 'bad', label, text });
	if (opensAt !== null) {
		const time = momentText(new Date(opensAt), new Date(now), timeZone);
		return { tone: 'notice', label: m.owner_paused({ time }), text: m.owner_pause_text() };
	}
	switch (reason) {
		case 'access_unverified':
			return fault(m.usage_new(), m.usage_unverified());
		case 'network_password_missing':
			return fault(m.owner_no_password(), m.owner_wifi_missing());
		case 'gateway_unresponsive': {
			const time = moment(unresponsiveSince ?? 0, timeZone);
			return fault(m.usage_unresponsive({ time }), m.usage_not_sold({ time }));
		}
		default:
			return { tone: 'notice', label: m.owner_closed(), text: m.owner_closed_text() };
	}
}

/** Lists what a router needs before it sells, from its data. Returns null if nothing is missing. */
export function routerSteps(router: OwnedRouter) {
	const { id, disabled, canEnable, givesAccess, hourly, offers, access_kind: kind } = router;
	if (givesAccess && !(disabled && canEnable)) return null;
	const here = `/owner/routers/${id}`;
	const isShared = kind === 'shared_password';
	const step = (title: string, isDone: boolean, missing: string, page: string, action: string) => ({
		...{ title, isDone, text: isDone ? null : missing, href: `${here}${page}`, action }
	});
	const offersStep = step(
		m.owner_step_offers(),
		hourly || offers.length > 0,
		m.owner_offers_nothing(),
		'/offers',
		m.owner_offers_edit()
	);
	return [
		step(m.owner_step_place(), true, '', '/edit', m.owner_router_edit()),
		{ ...offersStep, ...(hourly && offers.length === 0 && { text: m.owner_step_offers_hourly() }) },
		step(
			m.owner_step_connect(),
			givesAccess,
			isShared ? m.owner_wifi_missing() : connectText(router),
			isShared ? '/edit#access' : '/gateway',
			isShared ? m.owner_wifi_change() : m.owner_step_connect()
		),
		step(m.owner_step_open(), !disabled, m.owner_disabled_text(), '#sales', m.owner_enable())
	];
}

/** Returns the next step of an owner whose routers all lack one before they sell; null if one sells. */
export function startOf(routers: readonly OwnedRouter[]) {
	const [first] = routers;
	if (!first) {
		const action = m.owner_new_title();
		return { name: null, text: m.owner_no_routers(), href: '/owner/routers/new', action };
	}
	if (routers.some(({ disabled, status }) => !disabled && status === 'online')) return null;
	const missing = routers.map((router) => routerSteps(router)?.find(({ isDone }) => !isDone) ?? null);
	const [next] = missing;
	if (!next || missing.includes(null)) return null;
	return { name: first.name, text: next.text, href: next.href, action: next.action };
}

const connectText = ({ status }: OwnedRouter): string =>
	status === 'online' ? m.owner_step_connect_test() : m.usage_unverified();

const SHOWN_OUTAGES = 5;

/** The last outages of a router, and whether its customers get the time back. */
export async function describeOutages({ locals: { app } }: RequestEvent, { id, givesTimeBack }: OwnedRouter) {
	const [now, timeZone] = [app.clock.now(), app.config.reportTimezone];
	const found = await findRouterOutages(app.database.db, id, SHOWN_OUTAGES);
	const lines = found.map(({ began_at: from, ended_at: until, passes }) => {
		const duration = formatDuration(`${Math.max(1, Math.round(((until ?? now) - from) / MINUTE_MS))}m`);
		const words = { duration, count: numberText(passes) };
		return [
			pastMoment(from, { now, timeZone }),
			until === null ? m.owner_outage_open({ duration }) : m.owner_outage(words)
		] as const;
	});
	return { givesTimeBack, lines };
}

/** What the owner can do about the sales of a router. */
export function describeSales({ locals: { app } }: RequestEvent, router: OwnedRouter) {
	const { disabled, canEnable, openingHours, pausedUntil } = router;
	const [now, timeZone] = [app.clock.now(), app.config.reportTimezone];
	const until = endOfDay(openingHours, now, timeZone);
	const opens = openingHours === null ? until : nextOpen(openingHours, until, timeZone);
	return {
		...{ disabled, canEnable, isPaused: pausedUntil !== null },
		/** null if the router is already closed until then. */
		pauseUntil: pausedUntil === until ? null : momentText(new Date(opens), new Date(now), timeZone)
	};
}

/** `do` names the change. */
export async function changeSales(event: RequestEvent, { id }: OwnedRouter, owner: OwnerVisitor) {
	const { routers } = event.locals.app;
	const wanted = (await readFields(event.request)).field('do');
	const author = authorOf(owner);
	switch (wanted) {
		case 'pause':
		case 'reopen':
			await pauseRouter(routers, id, { isPaused: wanted === 'pause', ...author });
			break;
		case 'give-time':
		case 'keep-time':
			await setGivesTimeBack(routers, id, { isGiven: wanted === 'give-time', ...author });
			break;
		case 'disable':
		case 'enable': {
			const mark = { isSet: wanted === 'disable', isOwner: true, ...author };
			if (!(await markRouter(routers, id, 'disabled_at', mark)))
				return fail(409, { problem: m.owner_disabled_by_administrator() });
			break;
		}
		default:
			return fail(400, { problem: m.owner_problem() });
	}
	redirect(303, link(`/owner/routers/${id}?done=${wanted.endsWith('-time') ? 'edit' : 'sales'}`));
}
