import { countSessionsForOwner, listSessionsForOwner } from '../billing/owner-sessions.ts';
import { sumEarnings } from '../billing/earnings.ts';
import * as example from '#lib/server/contract/examples.ts';
import { idParams } from '#lib/server/contract/fields.ts';
import {
	earnings,
	earningsQuery,
	ownerUserList,
	ownerUsersQuery,
	priceUpdate
} from '#lib/server/contract/owner.ts';
import { offersUpdate, ownerOfferList } from '#lib/server/contract/offer.ts';
import { router } from '#lib/server/contract/router.ts';
import { endpoint, listPage } from './call.ts';
import { defineRoute, describeJson, describeJsonBody } from './route.ts';
import { changePrice } from '../routers/edit-router.ts';
import { readOwnOffers, replaceOffers } from '../offers.ts';

const getEarnings = defineRoute({
	method: 'get',
	path: '/owner/earnings',
	operationId: 'getEarnings',
	tags: ['Router owner'],
	summary: "Sum up the earnings of the caller's routers",
	description:
		"Sums up the earnings of the caller's routers by day, ISO week (from Monday) or month, in the time zone of the installation. A sale counts on the day of its payment, a refund on its own day. Without `from` and `to`: the last 30 days, 12 weeks or 12 months up to today. At most 366 buckets.",
	scope: 'owner:read',
	request: { query: earningsQuery },
	responses: {
		200: describeJson(earnings, 'All buckets of the period, including empty ones.', {
			weekly: ['Two weeks', example.earnings]
		})
	}
});

const listOwnerUsers = defineRoute({
	method: 'get',
	path: '/owner/users',
	operationId: 'listOwnerUsers',
	tags: ['Router owner'],
	summary: "List active and expired sessions on the caller's routers",
	description:
		"Lists the sessions on the caller's routers that are active or over, latest start first. Numbers are masked, passwords never shown.",
	scope: 'owner:read',
	request: { query: ownerUsersQuery },
	responses: {
		200: describeJson(ownerUserList, 'The sessions of this page, and the number of each group.', {
			active: [
				'One active session',
				{ ...example.lastPage(example.ownerUser), counts: { active: 1, expired: 0 } }
			]
		})
	}
});

const setRouterPrice = defineRoute({
	method: 'put',
	path: '/owner/routers/{id}/price',
	operationId: 'setRouterPrice',
	tags: ['Router owner'],
	summary: "Set a router's hourly price for new sessions",
	description:
		'Sets the price of one hour. It applies at once and only to new sessions; every change is stored with its time and author.',
	scope: 'owner:write',
	errors: ['not_router_owner', 'router_not_found'],
	request: {
		params: idParams('Id of the router.', 42),
		body: describeJsonBody(priceUpdate, '600 an hour', { price: 600 })
	},
	responses: {
		200: describeJson(router, 'The router with its new price.', {
			changed: ['The new price', { ...example.router, price: 600, updated_at: '2026-11-21T12:00:00.000Z' }]
		})
	}
});

const getRouterOffers = defineRoute({
	method: 'get',
	path: '/owner/routers/{id}/offers',
	operationId: 'getRouterOffers',
	tags: ['Router owner'],
	summary: 'Read the offers of a router',
	description: 'Reads all offers of a router, also those that are not sold now, with the last change.',
	scope: 'owner:read',
	errors: ['not_router_owner', 'router_not_found'],
	request: { params: idParams('Id of the router.', 42) },
	responses: {
		200: describeJson(ownerOfferList, 'The offers in the order of sale.', {
			offers: ['A day for three devices', example.ownerOffers]
		})
	}
});

const setRouterOffers = defineRoute({
	method: 'put',
	path: '/owner/routers/{id}/offers',
	operationId: 'setRouterOffers',
	tags: ['Router owner'],
	summary: "Set a router's offers for new sessions",
	description:
		'Replaces the whole list of offers. It is checked together and applies at once, only to new sessions. Every change is stored with its time and author. A limit that a gateway of the router cannot hold is refused.',
	scope: 'owner:write',
	errors: ['not_router_owner', 'router_not_found', 'offers_changed'],
	request: {
		params: idParams('Id of the router.', 42),
		body: describeJsonBody(offersUpdate, 'A day for three devices', example.offersUpdate)
	},
	responses: {
		200: describeJson(ownerOfferList, 'The new offers with their ids.', {
			changed: ['A day for three devices', example.ownerOffers]
		})
	}
});

export const owner = [
	endpoint(getEarnings, async ({ app, caller, query }) => ({
		body: await sumEarnings(app, caller, query)
	})),
	endpoint(listOwnerUsers, async (call) => {
		const { app, caller, query } = call;
		const { status: group = null, limit } = query;
		const filters = ['owner/users', caller.accountId, group];
		const [{ body, headers }, active, expired] = await Promise.all([
			listPage(call, filters, (after) => listSessionsForOwner(app, caller, { group, limit, after })),
			countSessionsForOwner(app, caller, 'active'),
			countSessionsForOwner(app, caller, 'expired')
		]);
		return { body: { ...body, counts: { active, expired } }, headers };
	}),
	endpoint(setRouterPrice, async ({ app, caller, params, body }) => ({
		body: await changePrice(app.routers, { ...caller, reason: body.reason }, params.id, body.price)
	})),
	endpoint(getRouterOffers, async ({ app, caller, params }) => ({
		body: await readOwnOffers(app.offers, caller, params.id)
	})),
	endpoint(setRouterOffers, async ({ app, caller, params, body: { reason, ...list } }) => ({
		body: await replaceOffers(app.offers, { ...caller, reason }, params.id, list)
	}))
];
