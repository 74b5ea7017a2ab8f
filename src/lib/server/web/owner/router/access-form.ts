import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { hasNetworkPassword, type AccessKind } from '#lib/domain/access-kind.ts';
import type { WifiSecurity } from '#lib/domain/wifi/wifi-qr.ts';
import { MAX_WIFI_PASSWORD, MIN_WIFI_PASSWORD, wifiPasswordProblem } from '#lib/domain/wifi/wifi-password.ts';
import { link } from '#lib/i18n/current.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { attempt, InputError } from '#lib/server/platform/errors.ts';
import type { OwnedRouter } from '#lib/server/routers/routers.ts';
import { readFields } from '../../form.ts';
import { authorOf, type OwnerVisitor } from '../owner.ts';
import { kindWords } from './access-words.ts';

/** Value of a choice in the form. */
const valueOf = (kind: AccessKind, security: WifiSecurity) => `${kind} ${security}`;

/** The hotspot's sign-in page works on an open network too, and most hotspots are one. */
export const choicesOf = (kinds: readonly AccessKind[], ssid: string) =>
	kinds.flatMap((kind) => {
		const securities = kind === 'portal_login' ? (['nopass', 'wpa'] as const) : (['wpa'] as const);
		return securities.map((security) => ({
			...{ kind, security, value: valueOf(kind, security) },
			...kindWords(kind, security, apart(ssid))
		}));
	});

const choicesAt = async ({ locals: { app } }: RequestEvent, { id, ssid }: OwnedRouter) =>
	choicesOf(await app.accessKinds.choices(id), ssid);

export async function accessForm(event: RequestEvent, router: OwnedRouter) {
	const choices = await choicesAt(event, router);
	return {
		id: router.id,
		name: router.name,
		chosen: valueOf(router.access_kind, router.security),
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
	const wrong = await attempt(InputError, () =>
		event.locals.app.accessKinds.set(router.id, change, authorOf(owner))
	);
	if (wrong instanceof InputError) {
		const lacksPassword = wrong.problems.every((one) => one.field === 'network-password');
		return refused(
			lacksPassword ? { password: m.owner_access_no_password() } : { access: m.owner_access_refused() }
		);
	}
	redirect(303, link(`/owner/routers/${router.id}?done=access`));
}

/** Returns why a text cannot be the password, or null. passes/access-kinds.ts checks the same rules again. */
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
