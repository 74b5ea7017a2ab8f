import type { z } from 'zod';
import type { ProblemCode } from './problems.ts';
import * as schemas from './schemas.ts';

/**
 * The single place that describes an endpoint: where it is, who may call it, what goes in and out, which
 * errors it adds to the common ones. Handlers, validation, tests and the OpenAPI document read it.
 */

export type Role = 'app' | 'owner' | 'admin';

export const SCOPES = [
	'routers:read',
	'sessions:read',
	'sessions:write',
	'payments:read',
	'payments:write',
	'webhooks:write',
	'owner:read',
	'owner:write'
] as const;

export type Scope = (typeof SCOPES)[number];
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** When an endpoint was deprecated and when it goes away (ISO dates, in that order), and what replaces it. */
export interface Deprecation {
	since: string;
	sunset: string;
	/** Path or address of the operation that replaces it. */
	successor: string | null;
}

export interface Route {
	method: Method;
	/** Path below /v1, with parameters in braces as the specification writes them. */
	path: string;
	operationId: string;
	summary: string;
	role: Role;
	scope: Scope;
	params?: z.ZodType;
	query?: z.ZodType;
	body?: z.ZodType;
	/** The one success status, and the shape of its body. */
	status: 200 | 201;
	response: z.ZodType;
	/** A second success: the same body when what should be created was there already. */
	repeated?: 200;
	/** `Location` of what was created, with its id in braces. */
	location?: string;
	/** Takes an Idempotency-Key: a repeated request has one effect. */
	idempotent?: true;
	deprecation?: Deprecation;
	/** Errors beyond COMMON_ERRORS. */
	errors: readonly ProblemCode[];
}

/** Every endpoint may answer these. */
export const COMMON_ERRORS = [
	'invalid_json',
	'unsupported_media_type',
	'body_too_large',
	'validation_failed',
	'missing_api_key',
	'invalid_api_key',
	'account_suspended',
	'insufficient_scope',
	'route_not_found',
	'rate_limit_exceeded',
	'internal_error'
] as const satisfies readonly ProblemCode[];

const IDEMPOTENCY_ERRORS = ['idempotency_key_reused', 'idempotency_key_in_use'] as const;

export const listRouters = {
	method: 'GET',
	path: '/routers',
	operationId: 'listRouters',
	summary: 'List the routers near a location',
	role: 'app',
	scope: 'routers:read',
	query: schemas.routerListQuery,
	status: 200,
	response: schemas.routerList,
	errors: ['invalid_cursor']
} as const satisfies Route;

export const getRouter = {
	method: 'GET',
	path: '/routers/{id}',
	operationId: 'getRouter',
	summary: 'Read one router',
	role: 'app',
	scope: 'routers:read',
	params: schemas.idParams,
	status: 200,
	response: schemas.router,
	errors: ['router_not_found']
} as const satisfies Route;

export const createSession = {
	method: 'POST',
	path: '/sessions',
	operationId: 'createSession',
	summary: 'Order access time on a router; charges nothing',
	role: 'app',
	scope: 'sessions:write',
	body: schemas.sessionCreation,
	idempotent: true,
	status: 201,
	response: schemas.session,
	location: '/v1/sessions/{id}',
	errors: [
		'router_not_found',
		'session_not_found',
		'router_unavailable',
		'session_not_extendable',
		'duration_not_allowed',
		'payment_method_not_supported',
		'invalid_phone',
		...IDEMPOTENCY_ERRORS
	]
} as const satisfies Route;

export const getSession = {
	method: 'GET',
	path: '/sessions/{id}',
	operationId: 'getSession',
	summary: 'Read a session and, while it is active, its Wi-Fi password',
	role: 'app',
	scope: 'sessions:read',
	params: schemas.idParams,
	status: 200,
	response: schemas.session,
	errors: ['session_not_found']
} as const satisfies Route;

export const endSession = {
	method: 'DELETE',
	path: '/sessions/{id}',
	operationId: 'endSession',
	summary: 'End an active session, or cancel one that is not paid',
	role: 'app',
	scope: 'sessions:write',
	params: schemas.idParams,
	query: schemas.sessionEndQuery,
	status: 200,
	response: schemas.session,
	errors: ['session_not_found', 'session_not_active']
} as const satisfies Route;

export const startPayment = {
	method: 'POST',
	path: '/payments/mobile-money',
	operationId: 'startMobileMoneyPayment',
	summary: 'Start a mobile-money payment for a session',
	role: 'app',
	scope: 'payments:write',
	body: schemas.paymentStart,
	idempotent: true,
	status: 201,
	response: schemas.payment,
	location: '/v1/payments/{id}/status',
	errors: [
		'session_not_found',
		'amount_mismatch',
		'payment_in_progress',
		'session_already_paid',
		'session_not_payable',
		'router_unavailable',
		'invalid_phone',
		'payment_attempts_exceeded',
		'payer_prompt_limit',
		...IDEMPOTENCY_ERRORS
	]
} as const satisfies Route;

export const getPaymentStatus = {
	method: 'GET',
	path: '/payments/{id}/status',
	operationId: 'getPaymentStatus',
	summary: 'Read the status of a payment, at once or as soon as it changes',
	role: 'app',
	scope: 'payments:read',
	params: schemas.idParams,
	query: schemas.paymentStatusQuery,
	status: 200,
	response: schemas.payment,
	errors: ['payment_not_found']
} as const satisfies Route;

export const getEarnings = {
	method: 'GET',
	path: '/owner/earnings',
	operationId: 'getEarnings',
	summary: "Sum up what the caller's routers earned",
	role: 'owner',
	scope: 'owner:read',
	query: schemas.earningsQuery,
	status: 200,
	response: schemas.earnings,
	errors: ['owner_role_required']
} as const satisfies Route;

export const listOwnerUsers = {
	method: 'GET',
	path: '/owner/users',
	operationId: 'listOwnerUsers',
	summary: "List active and expired sessions on the caller's routers",
	role: 'owner',
	scope: 'owner:read',
	query: schemas.ownerUsersQuery,
	status: 200,
	response: schemas.ownerUserList,
	errors: ['owner_role_required', 'invalid_cursor']
} as const satisfies Route;

export const setRouterPrice = {
	method: 'PUT',
	path: '/owner/routers/{id}/price',
	operationId: 'setRouterPrice',
	summary: "Set a router's hourly price for new sessions",
	role: 'owner',
	scope: 'owner:write',
	params: schemas.idParams,
	body: schemas.priceUpdate,
	status: 200,
	response: schemas.router,
	errors: ['owner_role_required', 'not_router_owner', 'router_not_found']
} as const satisfies Route;

export const registerWebhook = {
	method: 'POST',
	path: '/webhooks/register',
	operationId: 'registerWebhook',
	summary: 'Register a webhook URL for the listed events',
	role: 'app',
	scope: 'webhooks:write',
	body: schemas.webhookRegistration,
	idempotent: true,
	status: 201,
	repeated: 200,
	response: schemas.webhookEndpoint,
	errors: ['webhook_url_not_allowed', 'webhook_limit_reached', ...IDEMPOTENCY_ERRORS]
} as const satisfies Route;

export const ROUTES: readonly Route[] = [
	listRouters,
	getRouter,
	createSession,
	getSession,
	endSession,
	startPayment,
	getPaymentStatus,
	getEarnings,
	listOwnerUsers,
	setRouterPrice,
	registerWebhook
];

const pathPattern = (path: string) =>
	new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`);

const PATTERNS = ROUTES.map((route) => ({ route, pattern: pathPattern(route.path) }));

/** Methods that exist for a path below /v1 (HEAD with GET), for the `Allow` header; empty when unknown. */
export function methodsFor(path: string): string[] {
	const methods = PATTERNS.filter(({ pattern }) => pattern.test(path)).map(({ route }) => route.method);
	return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}
