import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import { apart, numberText } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import type { RegisteredGateway } from '../../../gateways/gateways.ts';
import { MAX_OWN_GATEWAYS, OWN_KINDS, type OwnInput, type OwnKind } from '#lib/server/gateway-setup.ts';
import { attempt, InputError } from '../../../platform/errors.ts';
import { randomCharacters } from '../../../platform/ids.ts';
import type { OwnedRouter } from '../../../routers/routers.ts';
import { readFields, type Fields } from '../../form.ts';
import { authorOf, type OwnerVisitor } from '../owner.ts';
import { mayDo } from '../roles.ts';

const EMPTY: OwnInput = {
	...{ loginHost: '', api: '', apiKey: '', apiCertificate: '', site: 'default', accessPoints: '' }
};
const FIELDS = Object.keys(EMPTY) as (keyof OwnInput)[];

/** The name of a gateway ends with the key of its form: the same form adds one gateway, however often it is sent. */
const FORM_KEY = /^[a-z]{8}$/;
const newKey = () => randomCharacters('abcdefghijkmnpqrstuvwxyz', 8);

/** Installation address as the gateway must use it. */
export const originOf = ({ locals }: RequestEvent) => locals.app.config.origin ?? locals.origin;

export const gatewayPath = (routerId: number, id?: number) =>
	`/owner/routers/${routerId}/gateway${id === undefined ? '' : `/${id}`}`;

export const ownKindOf = (text: string | null): OwnKind | null =>
	OWN_KINDS.find((kind) => kind === text) ?? null;

function kindText(kind: OwnKind): { title: string; text: string } {
	switch (kind) {
		case 'opennds':
			return { title: 'OpenWrt · openNDS', text: m.owner_gateway_opennds() };
		case 'mikrotik':
			return { title: 'MikroTik', text: m.owner_gateway_mikrotik() };
		case 'unifi':
			return { title: 'UniFi', text: m.owner_gateway_unifi() };
	}
}

export const connectForm = async (
	{ url, locals }: RequestEvent,
	router: OwnedRouter,
	{ role }: OwnerVisitor
) => ({
	id: router.id,
	name: router.name,
	mayConnect: mayDo(role, 'routers/[router]/gateway', 'default'),
	gateways: (await locals.app.gateways.ofRouters([router.id])).map(({ id, name, title }) => ({
		...{ name, title, href: gatewayPath(router.id, id) }
	})),
	/** Gateways of the other kinds of access belong to the administrator. */
	hasSignInPage: router.access_kind === 'portal_login',
	kinds: OWN_KINDS.map((kind) => ({ kind, ...kindText(kind) })),
	kind: ownKindOf(url.searchParams.get('kind')),
	key: newKey(),
	entry: EMPTY
});

export const readOwnInput = (field: Fields): OwnInput =>
	Object.fromEntries(FIELDS.map((name) => [name, field(name).trim()])) as Record<keyof OwnInput, string>;

const example = (text: string) => ({ example: apart(text) });

/** By the field of the service, see settings/gateway-input.ts. Its reasons may name gateways of others. */
const ERRORS: Record<string, [field: keyof OwnInput, text: () => string]> = {
	'login-host': ['loginHost', () => m.owner_gateway_bad_host(example('192.168.1.1'))],
	api: ['api', () => `${m.owner_gateway_bad_api()} ${m.owner_gateway_bad_port()}`],
	'api-key': ['apiKey', m.owner_gateway_bad_key],
	'api-certificate': ['apiCertificate', m.owner_gateway_bad_certificate],
	site: ['site', () => m.owner_gateway_bad_site(example('default'))],
	'access-point': ['accessPoints', () => m.owner_gateway_bad_points(example('02:00:5e:10:00:01'))]
};

export function gatewayErrors({ problems }: InputError) {
	const fields = problems.map(({ field }) => field);
	const errors = Object.fromEntries(
		fields.flatMap((field) => {
			const [name, text] = ERRORS[field] ?? [];
			return name && text ? [[name, text()] as const] : [];
		})
	) as Partial<OwnInput>;
	const general: Record<string, () => string> = {
		shared: m.owner_gateway_shared,
		limit: () => m.owner_gateway_full({ count: numberText(MAX_OWN_GATEWAYS) }),
		access: m.owner_gateway_access,
		moved: m.owner_moved
	};
	const other = fields.find((field) => !(field in ERRORS));
	const problem = other === undefined ? m.owner_check_fields() : (general[other] ?? m.owner_access_refused)();
	return { errors, problem };
}

export async function addGateway(event: RequestEvent, router: OwnedRouter, owner: OwnerVisitor) {
	const { app } = event.locals;
	const { field } = await readFields(event.request);
	const kind = ownKindOf(field('kind'));
	const entry = readOwnInput(field);
	const key = FORM_KEY.test(field('key')) ? field('key') : newKey();
	if (!kind) return fail(400, { kind, key, entry, errors: {}, problem: m.owner_gateway_choose() });
	const service = app.gatewaySetup.owner;
	const author = authorOf(owner);
	const save = async (formKey: string): Promise<RegisteredGateway> => {
		const name = `router-${router.id}-${formKey}`;
		const named = { name, routerId: router.id, kind };
		const result = await attempt(InputError, () =>
			service.add(named, entry, { origin: originOf(event), author })
		);
		if (!(result instanceof InputError)) return result;
		const added = await app.gateways.byName(name);
		if (added?.routerId !== router.id || !service.isOwn(added)) throw result;
		// The form came again, perhaps with other values.
		if (added.kind !== kind) return save(newKey());
		const changed = await service.change(added, entry, author);
		const hasKey = kind !== 'unifi' || changed.credentials.apiKey === entry.apiKey;
		return hasKey ? changed : service.rotate(changed, entry.apiKey, author);
	};
	const saved = await attempt(InputError, () => save(key));
	if (saved instanceof InputError)
		return fail(400, { kind, key, entry: { ...entry, apiKey: '' }, ...gatewayErrors(saved) });
	redirect(303, link(`${gatewayPath(router.id, saved.id)}?done=added`));
}
