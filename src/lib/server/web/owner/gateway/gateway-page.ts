import { error, fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { moment } from '#lib/format/text.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import type { RegisteredGateway } from '../../../gateways/gateways.ts';
import type { TestResult } from '../../../gateways/setup/setup.ts';
import { portalAddress } from '../../../gateways/config-text.ts';
import { gatewayState } from '../../../owner/usage/usage.ts';
import { InputError } from '../../../platform/errors.ts';
import { readFields } from '../../form.ts';
import { idOf } from '../../page-links.ts';
import { authorOf, ownRouter, requireActiveOwner, requireOwner } from '../owner.ts';
import { mayDo } from '../roles.ts';
import { routerSteps } from '../router/router-steps.ts';
import { gatewayErrors, gatewayPath, originOf, ownKindOf, readOwnInput } from './gateway-form.ts';

type Event = RequestEvent<{ router: string; gateway: string }>;

/** Throws 404 for an unknown gateway, and for one of another router. */
async function gatewayOf({ params, locals }: Event, routerId: number): Promise<RegisteredGateway> {
	const gateway = await locals.app.gateways.byId(idOf(params.gateway));
	if (gateway?.routerId !== routerId) error(404, m.owner_no_such_router());
	return gateway;
}

/** The gateways of a router, without secrets. */
export const gatewaysOf = async ({ locals: { app } }: RequestEvent, routerId: number) =>
	(await app.gateways.ofRouters([routerId])).map((gateway) => ({
		...{ name: gateway.name, title: gateway.title, state: gatewayState(gateway) },
		href: gatewayPath(routerId, gateway.id)
	}));

const doneTexts: Record<string, () => string> = {
	added: m.owner_gateway_added,
	changed: m.owner_gateway_changed,
	rotated: m.owner_gateway_rotated,
	unchanged: m.owner_gateway_already_rotated
};

export async function gatewayPage(event: Event) {
	const owner = await requireOwner(event);
	const router = await ownRouter(event, owner);
	const gateway = await gatewayOf(event, router.id);
	const { gatewaySetup, config } = event.locals.app;
	const { id, name, kind, title, key, settings, seenAt, trouble } = gateway;
	const { origin } = portalAddress({ origin: originOf(event), port: config.port });
	const state = gatewayState(gateway);
	return {
		...{ id, name, title, state, trouble },
		isReadable: gateway.unreadable.length === 0,
		secrets: gatewaySetup.owner.secretsVersion(gateway),
		mayChange: mayDo(owner.role, 'routers/[router]/gateway/[gateway]', 'change'),
		router: { id: router.id, name: router.name },
		hasSteps: routerSteps(router) !== null,
		portal: kind === 'unifi' ? `${origin}/guest/s/${settings.site}/` : `${origin}/splash/${key}`,
		seen: seenAt === null ? null : m.usage_last_response({ time: moment(seenAt, config.reportTimezone) }),
		/** The page then renews itself. */
		isWaiting: state !== 'responding' && gateway.mode !== 'external',
		kind: gatewaySetup.owner.isOwn(gateway) ? ownKindOf(kind) : null,
		entry: gatewaySetup.owner.inputOf(gateway),
		version: gatewaySetup.owner.inputVersion(gateway),
		done: doneTexts[event.url.searchParams.get('done') ?? '']?.() ?? null
	};
}

/** Throws 403 for a gateway that an administrator manages. */
async function ownGateway(event: Event) {
	const owner = await requireActiveOwner(event);
	const router = await ownRouter(event, owner);
	const gateway = await gatewayOf(event, router.id);
	const { gatewaySetup } = event.locals.app;
	if (!gatewaySetup.owner.isOwn(gateway)) error(403, m.owner_gateway_managed());
	return { gateway, author: authorOf(owner), service: gatewaySetup.owner };
}

const done = (event: Event, text: string) =>
	redirect(303, link(`${gatewayPath(idOf(event.params.router), idOf(event.params.gateway))}?done=${text}`));

/** Throws 409 for a gateway whose secrets cannot be read. */
export const configParts = async (event: Event) => {
	const { gateway, author, service } = await ownGateway(event);
	if (gateway.unreadable.length > 0) error(409, m.owner_problem());
	return service.configOf(gateway, { origin: originOf(event), author });
};

export async function changeGateway(event: Event) {
	const { gateway, author, service } = await ownGateway(event);
	const { field } = await readFields(event.request);
	const [entry, version] = [readOwnInput(field), field('version')];
	try {
		await service.change(gateway, entry, author, version);
	} catch (refused) {
		if (!(refused instanceof InputError)) throw refused;
		const isMoved = refused.problems.some((one) => one.field === 'moved');
		const shown = { entry, version: isMoved ? null : version };
		return fail(isMoved ? 409 : 400, { ...shown, ...gatewayErrors(refused) });
	}
	return done(event, 'changed');
}

export async function rotateGateway(event: Event) {
	const { gateway, author, service } = await ownGateway(event);
	const { field } = await readFields(event.request);
	const apiKey = field('newKey').trim();
	const isRotated =
		gateway.kind === 'unifi'
			? gateway.unreadable.length === 0 && apiKey === gateway.credentials.apiKey
			: field('secrets') !== service.secretsVersion(gateway);
	// The form was sent twice, or is older than the secrets.
	if (isRotated) return done(event, 'unchanged');
	try {
		await service.rotate(gateway, apiKey, author);
	} catch (refused) {
		if (!(refused instanceof InputError)) throw refused;
		return fail(400, { rotate: m.owner_gateway_bad_key() });
	}
	return done(event, 'rotated');
}

export async function removeGateway(event: Event) {
	const router = await ownRouter(event, await requireActiveOwner(event));
	const done = link(`/owner/routers/${router.id}?done=gateway`);
	// The form was sent twice.
	if (!(await event.locals.app.gateways.byId(idOf(event.params.gateway)))) redirect(303, done);
	const { gateway, author, service } = await ownGateway(event);
	try {
		await service.remove(gateway, author);
	} catch (refused) {
		if (!(refused instanceof InputError)) throw refused;
		const isInUse = refused.problems.some(({ field }) => field === 'in_use' || field === 'name');
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

export async function testGateway(event: Event) {
	const { gateway, service } = await ownGateway(event);
	const { result, problems } = await service.test(gateway);
	return { test: { isGood: result === 'ready' || result === 'seen', text: TEST_TEXTS[result](), problems } };
}
