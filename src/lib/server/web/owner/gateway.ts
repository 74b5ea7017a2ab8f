import { type RequestEvent, error, fail, redirect } from '@sveltejs/kit';
import { moment } from '#lib/format/text.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import {
	type RegisteredGateway,
	findClaims,
	findGatewayById,
	findGatewayByName,
	findGatewaysOfRouters
} from '../../gateways/gateways.ts';
import {
	MAX_OWN_GATEWAYS,
	OWN_KINDS,
	type OwnInput,
	type OwnKind,
	type TestResult,
	addOwnGateway,
	changeOwnGateway,
	computeInputVersion,
	computeSecretsVersion,
	isOwnGateway,
	makeOwnLine,
	removeOwnGateway,
	rotateOwnGateway,
	showOwnGatewayConfig,
	showOwnInput,
	testOwnGateway
} from '#lib/server/gateway-setup.ts';
import { parsePortalAddress } from '../../gateways/gateway.ts';
import { classifyGateway } from '../../owner/usage.ts';
import { Refused, attempt } from '../../platform/errors.ts';
import type { OwnedRouter } from '../../routers/routers.ts';
import { type Fields, readFields } from '../form.ts';
import { idOf } from '../page-links.ts';
import { type OwnerVisitor, authorOf, routerForm } from './owner.ts';
import { qrSvg } from '../../portal/qr-svg.ts';
import { mayDo } from './roles.ts';
import { routerSteps } from './router.ts';
import { apart, numberText } from '#lib/i18n/intl.ts';
import { randomCharacters } from '../../platform/secrets.ts';

/** The owner's pages of a gateway: adding, changing and testing it, its configuration file, and new secrets. */

type Event = RequestEvent<{ router: string; gateway: string }>;

/** Throws 404 for an unknown gateway, and for one of another router. */
async function gatewayOf({ params, locals }: Event, routerId: number): Promise<RegisteredGateway> {
	const gateway = await findGatewayById(locals.app.gateways, idOf(params.gateway));
	if (gateway?.routerId !== routerId) error(404, m.owner_no_such_router());
	return gateway;
}

const doneTexts: Record<string, () => string> = {
	added: m.owner_gateway_added,
	changed: m.owner_gateway_changed,
	rotated: m.owner_gateway_rotated,
	unchanged: m.owner_gateway_already_rotated
};

export async function gatewayPage(event: Event, router: OwnedRouter, { role }: OwnerVisitor) {
	const gateway = await gatewayOf(event, router.id);
	const { config } = event.locals.app;
	const { id, name, kind, title, key, settings, seenAt, trouble } = gateway;
	const { origin } = parsePortalAddress({ origin: originOf(event), port: config.port });
	const state = classifyGateway(gateway);
	const claims = await findClaims(event.locals.app.database.db, gateway);
	const pointsOf = (which: string) =>
		claims
			.filter((one) => one.state === which)
			.map((one) => one.accessPoint)
			.join(', ');
	return {
		...{ id, name, title, state, trouble },
		isReadable: gateway.unreadable.length === 0,
		disputed: pointsOf('disputed'),
		lost: pointsOf('lost'),
		secrets: computeSecretsVersion(gateway),
		mayChange: mayDo(role, 'routers/[router]/gateway/[gateway]', 'change'),
		router: { id: router.id, name: router.name },
		hasSteps: routerSteps(router) !== null,
		portal: kind === 'unifi' ? `${origin}/guest/s/${settings.site}/` : `${origin}/splash/${key}`,
		seen: seenAt === null ? null : m.usage_last_response({ time: moment(seenAt, config.reportTimezone) }),
		/** The page then renews itself. */
		isWaiting: state !== 'responding' && gateway.mode !== 'external',
		kind: isOwnGateway(gateway) ? ownKindOf(kind) : null,
		entry: showOwnInput(gateway),
		version: computeInputVersion(gateway),
		done: doneTexts[event.url.searchParams.get('done') ?? '']?.() ?? null
	};
}

/** Throws 403 for a gateway that an administrator manages. */
async function ownGateway(event: Event, router: OwnedRouter, owner: OwnerVisitor) {
	const gateway = await gatewayOf(event, router.id);
	const { gatewaySetup } = event.locals.app;
	if (!isOwnGateway(gateway)) error(403, m.owner_gateway_managed());
	return { gateway, author: authorOf(owner), service: gatewaySetup };
}

type OwnGateway = Awaited<ReturnType<typeof ownGateway>>;

/** Makes a form action about one gateway that its owner manages. */
export const gatewayForm = <Data>(act: (event: Event, own: OwnGateway) => Data | Promise<Data>) =>
	routerForm(async (event: Event, router, owner) => act(event, await ownGateway(event, router, owner)));

const done = (gateway: RegisteredGateway, text: string) =>
	redirect(303, link(`${gatewayPath(gateway.routerId, gateway.id)}?done=${text}`));

/**
 * Not a part of the page: it holds secrets, and the audit log names who saw them. Throws 409 if the secrets cannot be
 * read.
 */
export async function showConfig(event: Event, { gateway, author, service }: OwnGateway) {
	if (gateway.unreadable.length > 0) error(409, m.owner_problem());
	return { parts: await showOwnGatewayConfig(service, gateway, { origin: originOf(event), author }) };
}

/** The line contains the key of the router, of which only the hash is kept: it is shown once. */
export async function showLine(event: Event, { gateway, author, service }: OwnGateway) {
	if (gateway.kind !== 'mikrotik-fetch') error(404, m.owner_no_such_router());
	const { field } = await readFields(event.request);
	// The form was sent twice: another key would stop the router that has this one.
	if (field('secrets') !== computeSecretsVersion(gateway)) return done(gateway, 'unchanged');
	const { line, removal } = await makeOwnLine(service, gateway, { origin: originOf(event), author });
	return { line, removal, qr: qrSvg(line) };
}

export async function changeGateway(event: Event, { gateway, author, service }: OwnGateway) {
	const { field } = await readFields(event.request);
	const [entry, version] = [readOwnInput(field), field('version')];
	const refused = await attempt(() => changeOwnGateway(service, gateway, entry, author, version));
	if (!(refused instanceof Refused)) return done(gateway, 'changed');
	const isMoved = refused.fields.some((one) => one.field === 'moved');
	const shown = { entry, version: isMoved ? null : version };
	return fail(isMoved ? 409 : 400, { ...shown, ...gatewayErrors(refused) });
}

export async function rotateGateway(event: Event, { gateway, author, service }: OwnGateway) {
	const { field } = await readFields(event.request);
	const apiKey = field('newKey').trim();
	const isRotated =
		gateway.kind === 'unifi'
			? gateway.unreadable.length === 0 && apiKey === gateway.credentials.apiKey
			: field('secrets') !== computeSecretsVersion(gateway);
	// The form was sent twice, or is older than the secrets.
	if (isRotated) return done(gateway, 'unchanged');
	const refused = await attempt(() => rotateOwnGateway(service, gateway, apiKey, author));
	if (refused instanceof Refused) return fail(400, { rotate: m.owner_gateway_bad_key() });
	return done(gateway, 'rotated');
}

export async function removeGateway(event: Event, router: OwnedRouter, owner: OwnerVisitor) {
	const done = link(`/owner/routers/${router.id}?done=gateway`);
	// The form was sent twice.
	if (!(await findGatewayById(event.locals.app.gateways, idOf(event.params.gateway)))) redirect(303, done);
	const { gateway, author, service } = await ownGateway(event, router, owner);
	const refused = await attempt(() => removeOwnGateway(service, gateway, author));
	if (refused instanceof Refused) {
		const isInUse = refused.fields.some(({ field }) => field === 'in_use' || field === 'name');
		return fail(409, { problem: isInUse ? m.owner_gateway_in_use() : m.owner_gateway_needed() });
	}
	redirect(303, done);
}

const TEST_TEXTS: Record<TestResult, () => string> = {
	ready: m.owner_gateway_ready,
	unready: m.owner_gateway_unready,
	unreachable: m.owner_gateway_unreachable,
	seen: m.owner_gateway_seen,
	unseen: m.owner_gateway_unseen,
	busy: m.owner_gateway_busy
};

export async function testGateway(_event: Event, { gateway, service }: OwnGateway) {
	const { result, problems } = await testOwnGateway(service, gateway);
	return { test: { isGood: result === 'ready' || result === 'seen', text: TEST_TEXTS[result](), problems } };
}

const EMPTY: OwnInput = {
	...{ loginHost: '', api: '', apiKey: '', apiCertificate: '', site: 'default', accessPoints: '' }
};
const FIELDS = Object.keys(EMPTY) as (keyof OwnInput)[];

/** The name of a gateway ends with the key of its form: the same form adds one gateway, however often it is sent. */
const FORM_KEY = /^[a-z]{8}$/;
const newKey = () => randomCharacters('abcdefghijkmnpqrstuvwxyz', 8);

/** Installation address as the gateway must use it. */
const originOf = ({ locals }: RequestEvent) => locals.app.config.origin ?? locals.origin;

const gatewayPath = (routerId: number, id?: number) =>
	`/owner/routers/${routerId}/gateway${id === undefined ? '' : `/${id}`}`;

const ownKindOf = (text: string | null): OwnKind | null => OWN_KINDS.find((kind) => kind === text) ?? null;

function kindText(kind: OwnKind): { title: string; text: string } {
	switch (kind) {
		case 'opennds':
			return { title: 'OpenWrt · openNDS', text: m.owner_gateway_opennds() };
		case 'mikrotik':
			return { title: 'MikroTik', text: m.owner_gateway_mikrotik() };
		case 'mikrotik-fetch':
			return { title: 'MikroTik · CGNAT, Starlink', text: m.owner_gateway_mikrotik_fetch() };
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
	gateways: (await findGatewaysOfRouters(locals.app.gateways, [router.id])).map(({ id, name, title }) => ({
		...{ name, title, href: gatewayPath(router.id, id) }
	})),
	/** Gateways of the other kinds of access belong to the administrator. */
	hasSignInPage: router.access_kind === 'portal_login',
	kinds: OWN_KINDS.map((kind) => ({ kind, ...kindText(kind) })),
	kind: ownKindOf(url.searchParams.get('kind')),
	key: newKey(),
	entry: EMPTY
});

const readOwnInput = (field: Fields): OwnInput =>
	Object.fromEntries(FIELDS.map((name) => [name, field(name).trim()])) as Record<keyof OwnInput, string>;

const example = (text: string) => ({ example: apart(text) });

/** By the field of the service, see gateways/settings.ts. Its reasons may name gateways of others. */
const ERRORS: Record<string, [field: keyof OwnInput, text: () => string]> = {
	'login-host': ['loginHost', () => m.owner_gateway_bad_host(example('192.168.1.1'))],
	api: ['api', () => `${m.owner_gateway_bad_api()} ${m.owner_gateway_bad_port()}`],
	'api-key': ['apiKey', m.owner_gateway_bad_key],
	'api-certificate': ['apiCertificate', m.owner_gateway_bad_certificate],
	site: ['site', () => m.owner_gateway_bad_site(example('default'))],
	'access-point': ['accessPoints', () => m.owner_gateway_bad_points(example('02:00:5e:10:00:01'))]
};

function gatewayErrors({ fields: problems }: Refused<string>) {
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
	const service = app.gatewaySetup;
	const author = authorOf(owner);
	const save = async (formKey: string): Promise<RegisteredGateway> => {
		const name = `router-${router.id}-${formKey}`;
		const named = { name, routerId: router.id, kind };
		const result = await attempt(() =>
			addOwnGateway(service, named, entry, { origin: originOf(event), author })
		);
		if (!(result instanceof Refused)) return result;
		const added = await findGatewayByName(app.gateways, name);
		if (added?.routerId !== router.id || !isOwnGateway(added)) throw result;
		// The form came again, perhaps with other values.
		if (added.kind !== kind) return save(newKey());
		const changed = await changeOwnGateway(service, added, entry, author);
		const hasKey = kind !== 'unifi' || changed.credentials.apiKey === entry.apiKey;
		return hasKey ? changed : rotateOwnGateway(service, changed, entry.apiKey, author);
	};
	const saved = await attempt(() => save(key));
	if (saved instanceof Refused)
		return fail(400, { kind, key, entry: { ...entry, apiKey: '' }, ...gatewayErrors(saved) });
	redirect(303, link(`${gatewayPath(router.id, saved.id)}?done=added`));
}
