import {
	type Change,
	adminPage,
	changeForm,
	describeRouterState,
	formatReviewTitle,
	listAuditLines,
	listChanges,
	shownNumber
} from '#lib/server/web/admin.ts';
import { type RequestEvent, error } from '@sveltejs/kit';
import { formatMinor } from '#lib/domain/money.ts';
import { timeAt } from '#lib/domain/time.ts';
import type { App } from '#lib/server/app.ts';
import { findRouterUses } from '#lib/server/owner/usage.ts';
import { type Claim, decideClaims, findGatewaysOfRouter, findClaims } from '#lib/server/gateways/gateways.ts';
import {
	type RouterRow,
	findChangeableRouter,
	findImportedId,
	findRouterOrThrow,
	readOwnedRouter
} from '#lib/server/routers/routers.ts';
import { kindWords, readTypedPrice } from '#lib/server/web/owner/router.ts';
import { routerUse } from '#lib/server/web/owner/figures.ts';
import { idOf } from '#lib/server/web/page-links.ts';
import type { Visitor } from '#lib/server/web/sign-in/sign-in.ts';
import { findAccount } from '#lib/server/accounts/accounts.ts';
import { changePrice, markRouter } from '#lib/server/routers/edit-router.ts';
import { Refused } from '#lib/server/platform/errors.ts';
import { countPending } from '#lib/server/access/admissions.ts';

export const load = adminPage(routerPage);

type RouterEvent = RequestEvent<{ id: string }>;

const SHOWN_ENTRIES = 5;

async function findShownRouter(
	{ params, locals: { app } }: RouterEvent,
	{ account }: Visitor
): Promise<RouterRow> {
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
			const own = await findGatewaysOfRouter(gateways, database.db, subject.id);
			await decideClaims(gateways, own, (trx, accessPoints) =>
				audit.record(trx, {
					...{ actor: by, action: 'gateway.access_points_decided', reason: note },
					after: { router_id: subject.id, access_points: accessPoints }
				})
			);
			return 'done';
		}
	}
} satisfies Record<string, Change<RouterRow, RouterFacts>>;

const routerForm = (which: keyof typeof CHANGES) => changeForm(which, CHANGES[which], findShownRouter);

export const actions = {
	price: routerForm('price'),
	disable: routerForm('disable'),
	enable: routerForm('enable'),
	confirm: routerForm('confirm'),
	withdraw: routerForm('withdraw'),
	points: routerForm('points')
};

async function routerPage(event: RouterEvent, admin: Visitor) {
	const { app } = event.locals;
	const row = await findShownRouter(event, admin);
	const claims = await listClaims(app, row.id);
	const [router, owner, use, money, audited] = await Promise.all([
		readOwnedRouter(app.routers, { accountId: admin.account.id, role: 'admin' }, row.id),
		findAccount(app, row.owner_account_id),
		findRouterUses(app, [row.id]),
		listMoney(app, row.id),
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
			...{ lat: row.lat, lon: row.lon, externalId: findImportedId(row) },
			kind: kindWords(row.access_kind, row.security, row.ssid).title,
			...{ createdAt: row.created_at, respondedAt: row.responded_at, confirmedAt: row.access_confirmed_at },
			currency: row.currency,
			price: router.hourly ? formatMinor(row.price_minor, row.currency) : null,
			offers: router.offers.length
		},
		owner: { id: row.owner_account_id, email: owner?.email ?? '' },
		state: describeRouterState(app, router),
		use: routerUse(use.get(row.id), app.config.reportTimezone),
		gateways: await listFaults(app, row.id),
		claims: await claimLines(app, claims),
		money,
		entries: await listAuditLines(event, audited.entries),
		...listChanges(event, CHANGES, { ...row, claims })
	};
}

async function listClaims({ database, gateways }: App, routerId: number): Promise<Claim[]> {
	const own = await findGatewaysOfRouter(gateways, database.db, routerId);
	return (await Promise.all(own.map((gateway) => findClaims(database.db, gateway)))).flat();
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
async function listFaults({ clock, database, gateways }: App, routerId: number) {
	const faults: Record<string, string[]> = {};
	for (const { id, name, trouble } of await findGatewaysOfRouter(gateways, database.db, routerId)) {
		const { connecting, disconnecting, problem } = await countPending(database.db, id, clock.now());
		const counts = [
			...(connecting > 0 ? [`Devices that wait to be connected: ${connecting}.`] : []),
			...(disconnecting > 0 ? [`Devices that wait to be disconnected: ${disconnecting}.`] : [])
		];
		const errors = [trouble, problem].filter((one) => one !== null);
		faults[name] = [...new Set(errors), ...counts];
	}
	return faults;
}

async function listMoney({ monitoring, config }: App, routerId: number) {
	const { payments, reviews, refunds, notConnected } = await monitoring.moneyOf(routerId);
	const when = (at: number) => timeAt(at, config.reportTimezone);
	const line = (row: { id: number; amount_minor: number; currency: string }, at: number) => ({
		...{ id: row.id, when: when(at), amount: formatMinor(row.amount_minor, row.currency) }
	});
	return {
		payments: payments.map((payment) => ({
			...line(payment, payment.created_at),
			...{ status: payment.status, operator: payment.operator, phone: shownNumber(payment.phone) }
		})),
		reviews: reviews.map((review) => ({
			...{ id: review.id, title: formatReviewTitle(review), when: when(review.opened_at) }
		})),
		refunds: refunds.map((refund) => ({
			...line(refund, refund.created_at),
			paymentId: refund.payment_id
		})),
		notConnected: notConnected.map((session) => line(session, session.updated_at))
	};
}
