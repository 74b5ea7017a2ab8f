import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { currencyName, formatReadings, readAmount, toMajor, type AmountFault } from '#lib/domain/money.ts';
import { hiddenCharacter, readLine } from '#lib/domain/plain-text.ts';
import { hoursText, WEEKDAYS } from '#lib/domain/time/opening-hours.ts';
import { money } from '#lib/format/text.ts';
import { link } from '#lib/i18n/current.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { attempt, InputError } from '#lib/server/platform/errors.ts';
import {
	MAX_ADDRESS_CHARACTERS,
	MAX_NAME_CHARACTERS,
	MAX_SSID_BYTES,
	visible,
	type PriceRules
} from '#lib/server/routers/router-fields.ts';
import type { OwnedRouter } from '#lib/server/routers/routers.ts';
import { readFields, type Fields } from '../../form.ts';
import { authorOf, type OwnerVisitor } from '../owner.ts';
import { changeRouterFields } from '../../../routers/edit-router.ts';

const FIELDS = ['name', 'address', 'ssid', 'hidden', 'lat', 'lon', 'opening_hours'] as const;
const MAY_BE_EMPTY: readonly string[] = ['address', 'opening_hours'];
type Field = (typeof FIELDS)[number];

/** The fields of the form, as typed. */
export type RouterEntry = Record<Field, string>;

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
	const refused = await attempt(InputError, () =>
		changeRouterFields(event.locals.app.routers, id, changedFields(entry, was), authorOf(owner))
	);
	if (refused instanceof InputError) return fail(400, { entry, was, errors: routerErrors(refused, entry) });
	redirect(303, link(`/owner/routers/${id}?done=edit`));
}

/** Reads the fields, and what they were when the page was loaded. */
export function readEntry(field: Fields): { entry: RouterEntry; was: RouterEntry } {
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

export function routerErrors({ problems }: InputError, entry: RouterEntry): Partial<RouterEntry> {
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

/** Says why a text is no price. */
export function amountProblem(fault: AmountFault, text: string, currency: string): string {
	switch (fault) {
		case 'too_fine':
			return m.owner_price_too_fine({ currency: currencyName(currency) });
		case 'other_currency':
			return m.owner_price_other_currency({ currency: currencyName(currency) });
		case 'ambiguous': {
			const [first = '', second = ''] = formatReadings(text, currency).map(apart);
			return m.owner_price_two_readings({ text: apart(text.trim()), first, second });
		}
		case 'not_a_number':
		case 'too_large':
			return m.owner_price_not_number();
	}
}
