import { error, type RequestEvent } from '@sveltejs/kit';
import { formatMinor } from '#lib/domain/money.ts';
import { timeAt } from '#lib/domain/time.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import type { App } from '../../app.ts';
import type { Claim } from '../../gateways/gateways.ts';
import { importedId } from '../../routers/store.ts';
import {
	type OwnedRouter,
	type RouterRow,
	findChangeableRouter,
	findRouterOrThrow,
	readOwnedRouter,
	searchRouters
} from '../../routers/routers.ts';
import { kindWords, readTypedPrice, routerState } from '../owner/router.ts';
import { routerUse } from '../owner/figures.ts';
import { idOf } from '../page-links.ts';
import type { Visitor } from '../sign-in/sign-in.ts';
import { auditLines } from './audit.ts';
import { changeForm, changesOf, type Change } from './changes.ts';
import { titleOf } from './reviews.ts';
import { findAccount, findAccountByEmail } from '../../accounts/accounts.ts';
import { changePrice, markRouter } from '../../routers/edit-router.ts';
import { Refused } from '#lib/server/platform/errors.ts';

type RouterEvent = RequestEvent<{ id: string }>;

const SHOWN_ENTRIES = 5;

/** Finds routers by one text: the id, words of the name, address or network, an owner's email address, or a gateway's name. */
export async function findRouters(
	{ locals: { app } }: RequestEvent,
	text: string,
	page: { afterId: number; limit: number }
) {
	const { gateways, routers } = app;
	if (text === '') return searchRouters(routers, {}, page);
	const owner = text.includes('@') ? await findAccountByEmail(app, text) : null;
	if (owner) return searchRouters(routers, { ownerAccountId: owner.id }, page);
	const gateway = await gateways.byName(text);
	const ids = [idOf(text), gateway?.routerId ?? 0].filter((id) => id > 0);
	return searchRouters(routers, { name: text, ids }, page);
}

/** Why a router sells nothing, and what to do. */
const ADVICE: Readonly<Record<string, string>> = {
	closed: 'It was imported as closed. Import it again with the status online.',
	access_unverified:
		'None of its gateways has responded yet. It sells when one responds, or when you confirm that buyers get access.',
	gateway_unresponsive:
		'None of its gateways responds. Check the power, the internet connection and the configuration.',
	network_password_missing:
		'It sells the network’s own password, and Airtill does not know it. The owner’s page of the router takes it.'
};

const disabledText = ({ canEnable }: OwnedRouter) =>
	canEnable
		? 'Its owner has disabled it, and can enable it again.'
		: 'An administrator has disabled it. Its owner cannot enable it.';

export async function routerLines(app: App, routers: readonly OwnedRouter[]) {
	const owners = new Map<number, string>();
	for (const id of new Set(routers.map(({ ownerAccountId }) => ownerAccountId))) {
		owners.set(id, (await findAccount(app, id))?.email ?? `account ${id}`);
	}
	return routers.map((router) => ({
		...{ id: router.id, name: router.name, ssid: router.ssid, address: router.address },
		owner: owners.get(router.ownerAccountId) ?? '',
		state: stateOf(app, router)
	}));
}

function stateOf({ clock, config }: App, router: OwnedRouter) {
	const { tone, label, text } = routerState(router, { now: clock.now(), timeZone: config.reportTimezone });
	const advice = router.disabled ? disabledText(router) : ADVICE[router.status_reason ?? ''];
	return { tone, label, text: router.opensAt === null ? (advice ?? null) : text };
}

async function routerOf({ params, locals: { app } }: RouterEvent, { account }: Visitor): Promise<RouterRow> {
	try {
		const administrator = { accountId: account.id, role: 'admin' } as const;
		return await findChangeableRouter(app.database.db, administrator, idOf(params.id));
	} catch (problem) {
		if (!(problem instanceof Refused)) throw problem;
	}
	error(404, 'Not found');
}

const mark =
	(column: 'disabled_at' | 'access_confirmed_at', isSet: boolean): Change<RouterRow>['run'] =>
	async ({ event, subject, author }) => {
		await markRouter(event.locals.app.routers, subject.id, column, { isSet, ...author });
		return 'done';
	};

/** With the claims of other accounts on its access points. */
type RouterFacts = RouterRow & { claims: Claim[] };

const CHANGES = {
	price: {
		title: 'Set the price',
		text: 'Sets the price of one hour for new orders. The owner sees who changed it, and the reason.',
		button: 'Set the price',
		isOffered: () => true,
		done: (row) => `The price is ${formatMinor(row.price_minor, row.currency)} an hour.`,
		async run({ event, admin, subject, author, field }) {
			const { config, routers } = event.locals.app;
			const { maxPrice } = config;
			const typed = readTypedPrice(field('price'), { currency: subject.currency, maxPrice });
			if ('problem' in typed) return { status: 400, problem: `Price: ${typed.problem}` };
			const administrator = { accountId: admin.account.id, role: 'admin', keyId: null } as const;
			await changePrice(routers, { ...administrator, reason: author.note }, subject.id, typed.price);
			return 'done';
		}
	},
	disable: {
		title: 'Disable',
		text: 'Takes the router off sale and out of all lists, and only an administrator can enable it. Running time does not change. Money that arrives later is refunded.',
		button: 'Disable the router',
		isDangerous: true,
		// Also one that its owner has disabled, so that the owner cannot enable it.
		isOffered: (row) => row.disabled_at === null || row.disabled_by_owner === 1,
		done: (row) => row.disabled_at !== null && 'The router is disabled.',
		run: mark('disabled_at', true)
	},
	enable: {
		title: 'Enable',
		text: 'Puts the router back on sale and into the lists.',
		button: 'Enable the router',
		isOffered: (row) => row.disabled_at !== null,
		done: (row) => row.disabled_at === null && 'The router is enabled again.',
		run: mark('disabled_at', false)
	},
	withdraw: {
		title: 'Withdraw the confirmed access',
		text: 'The router sells again only when a gateway has responded. Payments and running time do not change.',
		button: 'Withdraw the confirmation',
		isOffered: (row) => row.access_confirmed_at !== null,
		done: (row) => row.access_confirmed_at === null && 'The confirmation is withdrawn.',
		run: mark('access_confirmed_at', false)
	},
	confirm: {
		title: 'Confirm that buyers get access',
		text: 'The router sells although no gateway has responded. Confirm only what you have tried: another system connects the buyers, or accepts their passwords. Say in the reason which one, and how you tried it.',
		button: 'Confirm the access',
		isOffered: (row) => row.access_confirmed_at === null && row.responded_at === null,
		done: (row) => row.access_confirmed_at !== null && 'The access is confirmed.',
		run: mark('access_confirmed_at', true)
	},
	points: {
		title: 'Decide whose the access points are',
		text: 'Another account has registered access points of this router. From now on they belong to the account of this router: it sells there, the other one does not. Say in the reason what proves it.',
		button: 'Give them to this account',
		isOffered: ({ claims }) => claims.length > 0,
		done: ({ claims }) => claims.length === 0 && 'The access points belong to the account of this router.',
		async run({ event, subject, author: { by, note } }) {
			const { audit, database, gateways } = event.locals.app;
			const own = await gateways.ofRouter(database.db, subject.id);
			await gateways.decideClaims(own, (trx, accessPoints) =>
				audit.record(trx, {
					...{ actor: by, action: 'gateway.access_points_decided', reason: note },
					after: { router_id: subject.id, access_points: accessPoints }
				})
			);
			return 'done';
		}
	}
} satisfies Record<string, Change<RouterRow, RouterFacts>>;

export const routerForm = (which: keyof typeof CHANGES) => changeForm(which, CHANGES[which], routerOf);

export async function routerPage(event: RouterEvent, admin: Visitor) {
	const { app } = event.locals;
	const row = await routerOf(event, admin);
	const claims = await claimsOf(app, row.id);
	const [router, owner, use, money, audited] = await Promise.all([
		readOwnedRouter(app.routers, { accountId: admin.account.id, role: 'admin' }, row.id),
		findAccount(app, row.owner_account_id),
		app.usage.ofRouters([row.id]),
		moneyOf(app, row.id),
		app.audit.search(
			app.database.db,
			{
				...{ actor: null, action: null, paymentId: null, routerId: row.id },
				from: 0,
				to: app.clock.now() + 1
			},
			{ after: null, limit: SHOWN_ENTRIES }
		)
	]);
	return {
		router: {
			...{ id: row.id, name: row.name, address: row.address, ssid: row.ssid, security: row.security },
			...{ lat: row.lat, lon: row.lon, externalId: importedId(row) },
			kind: kindWords(row.access_kind, row.security, row.ssid).title,
			...{ createdAt: row.created_at, respondedAt: row.responded_at, confirmedAt: row.access_confirmed_at },
			currency: row.currency,
			price: router.hourly ? formatMinor(row.price_minor, row.currency) : null,
			offers: router.offers.length
		},
		owner: { id: row.owner_account_id, email: owner?.email ?? '' },
		state: stateOf(app, router),
		use: routerUse(use.get(row.id), app.config.reportTimezone),
		gateways: await gatewaysOf(app, row.id),
		claims: await claimLines(app, claims),
		money,
		entries: await auditLines(event, audited.entries),
		...changesOf(event, CHANGES, { ...row, claims })
	};
}

async function claimsOf({ database, gateways }: App, routerId: number): Promise<Claim[]> {
	const own = await gateways.ofRouter(database.db, routerId);
	return (await Promise.all(own.map((gateway) => gateways.claimsOn(gateway)))).flat();
}

async function claimLines(app: App, claims: readonly Claim[]) {
	const nameOf = async (routerId: number) => {
		const { owner_account_id: owner } = await findRouterOrThrow(app.database.db, routerId);
		return `router ${routerId} of ${(await findAccount(app, owner))?.email ?? `account ${owner}`}`;
	};
	return Promise.all(
		claims.map(async ({ accessPoint, state, rivals }) => {
			const others = (await Promise.all(rivals.map(nameOf))).join(', ');
			const what = state === 'disputed' ? 'is sold by nobody until you decide' : 'belongs to another account';
			return `The access point ${accessPoint} ${what}.${others === '' ? '' : ` Also registered by ${others}.`}`;
		})
	);
}

/** Faults of the gateways, and devices that wait there, by the gateway's name. */
async function gatewaysOf({ access, database, gateways }: App, routerId: number) {
	const faults: Record<string, string[]> = {};
	for (const { id, name, trouble } of await gateways.ofRouter(database.db, routerId)) {
		const { granting, revoking, failed, lastError } = await access.pendingAt(id);
		const counts = [
			...(granting > 0 ? [`Devices that wait to be connected: ${granting}.`] : []),
			...(revoking > 0 ? [`Devices that wait to be disconnected: ${revoking}.`] : []),
			...(failed > 0 ? [`Devices that could not be disconnected: ${failed}.`] : [])
		];
		const errors = [trouble, lastError].filter((one) => one !== null);
		faults[name] = [...new Set(errors), ...counts];
	}
	return faults;
}

async function moneyOf({ monitoring, config }: App, routerId: number) {
	const { payments, reviews, refunds, notConnected } = await monitoring.moneyOf(routerId);
	const when = (at: number) => timeAt(at, config.reportTimezone);
	const line = (row: { id: number; amount_minor: number; currency: string }, at: number) => ({
		...{ id: row.id, when: when(at), amount: formatMinor(row.amount_minor, row.currency) }
	});
	return {
		payments: payments.map((payment) => ({
			...line(payment, payment.created_at),
			...{ status: payment.status, operator: payment.operator, phone: maskPhone(payment.phone) }
		})),
		reviews: reviews.map((review) => ({
			...{ id: review.id, title: titleOf(review), when: when(review.opened_at) }
		})),
		refunds: refunds.map((refund) => ({
			...line(refund, refund.created_at),
			paymentId: refund.payment_id
		})),
		notConnected: notConnected.map((session) => line(session, session.updated_at))
	};
}
