import { env } from 'node:process';
import type { Handle, HandleServerError, RequestEvent, ServerInit } from '@sveltejs/kit';
import { createApp, type App } from '#lib/server/app.ts';
import { loadConfig, loadDatabaseConfig } from '#lib/server/config/config.ts';
import { loadDemo, printWelcome } from '#lib/server/demo/demo.ts';
import { answerAuthmon, isAuthmon } from '#lib/server/web/gateway-requests.ts';
import { fillRules } from '#lib/server/portal/brand.ts';
import { createApi, type Api } from '#lib/server/api/api.ts';
import {
	createAddressReader,
	createProxyWarning,
	type ReadAddress
} from '#lib/server/http/client-address.ts';
import { normaliseIp } from '#lib/domain/address.ts';
import { createAlertWriter } from '#lib/server/web/owner/alerts.ts';
import { compressPage } from '#lib/server/web/compress.ts';
import { createSharedPages } from '#lib/server/web/shared-pages.ts';
import {
	createLeadToOrigin,
	isApiPath,
	isForeignForm,
	isGatewayEntry,
	limitForm,
	publicOrigin,
	setCommonHeaders
} from '#lib/server/http/requests.ts';
import { createFrontDoor } from '#lib/server/http/front-door.ts';
import { requestId } from '#lib/server/platform/secrets.ts';
import { observeRequest } from '#lib/server/api/call.ts';
import { paraglideMiddleware } from '#lib/i18n/generated/server.js';
import { directionOf, isLocale } from '#lib/i18n/locales.ts';
import * as m from '#lib/i18n/messages.js';
import { inLanguage, isEnglishOnly, meantPath } from '#lib/i18n/path.ts';
import { configureLocale } from '#lib/i18n/request-language.ts';

let app: App;
let api: Api;
let answerShared: ReturnType<typeof createSharedPages>;
let addressOf: ReadAddress;
let warnOfProxy: ReturnType<typeof createProxyWarning>;
let leadToOrigin: ReturnType<typeof createLeadToOrigin>;

/** A configuration error ends the process here. */
export const init: ServerInit = async () => {
	configureLocale();
	loadDatabaseConfig(env);
	app = await createApp(loadConfig(env));
	await app.openPortal();
	const demo = await loadDemo(app);
	const hasStreets = (await app.basemap.describe()).kind !== 'none';
	app.startJobs(createAlertWriter(app.config.reportTimezone));
	addressOf = createAddressReader(env, app.log);
	api = createApi(app, addressOf);
	answerShared = createSharedPages(app);
	warnOfProxy = createProxyWarning(app, env);
	leadToOrigin = createLeadToOrigin(app.config, app.log);
	Object.assign(globalThis, {
		// For src/server.js, which imports nothing from lib/.
		[Symbol.for('airtill.api')]: {
			fetch: api.fetch,
			enter: createFrontDoor(env),
			opened() {
				printWelcome(app.config, demo, hasStreets);
				logFatalErrors();
			},
			draining: () => app.drain(),
			closing: () => app.beginStop(),
			closed: () => app.stop()
		}
	});
};

/** Logs fatal errors through pino, which redacts secrets, before exiting. */
function logFatalErrors(): void {
	process.prependListener('uncaughtException', (error) => {
		app.log.fatal({ err: error }, 'uncaught error');
		process.exit(1);
	});
}

export const handle: Handle = async (request) => {
	const { event } = request;
	// The API observes its own requests.
	if (isApiPath(event.url.pathname)) return answer(request);
	const { method } = event.request;
	const findRoute = () => event.route.id ?? 'none';
	return observeRequest(app, { method, findRoute }, () => answer(request));
};

async function answer({ event, resolve }: Parameters<Handle>[0]): Promise<Response> {
	warnOfProxy(event.request);
	event.locals.app = app;
	event.locals.requestId = requestId();
	event.locals.clientAddress = () => clientAddressOf(event);
	event.locals.origin = publicOrigin(event, app.config);
	let response: Response;
	if (isGatewayEntry(event.url.pathname) && isAuthmon(event)) {
		response = await answerAuthmon(event);
	} else if (isForeignForm(event)) {
		response = await refusal(event, 403, m.common_form_foreign);
	} else if (isApiPath(event.url.pathname)) {
		return api.fetch(event.request, { clientAddress: event.locals.clientAddress });
	} else if (!(await limitForm(event))) {
		response = await refusal(event, 413, m.common_form_too_large);
	} else if (event.isDataRequest) {
		// No page asks for its data apart from its HTML, which shows only what is for people.
		response = await refusal(event, 404, m.common_error_unknown_address);
	} else if (event.request.method === 'POST' && event.url.searchParams.has('/default')) {
		// SvelteKit answers this reserved name of an action with 500.
		response = await refusal(event, 400, m.common_address_broken);
	} else {
		response =
			leadToOrigin(event) ??
			askedLanguage(event) ??
			typedAddress(event) ??
			(await resolvePage(event, resolve));
	}
	setCommonHeaders(response, event.locals);
	return event.isSubRequest ? response : compressPage(event.request, response);
}

/** The development server has no `platform`. */
const clientAddressOf = (event: RequestEvent) =>
	event.platform ? addressOf(event.platform.req) : normaliseIp(event.getClientAddress());

const refusal = ({ request }: RequestEvent, status: number, text: () => string) =>
	paraglideMiddleware(request, () => new Response(`${text()}\n`, { status }));

function askedLanguage({ request, url }: RequestEvent): Response | null {
	const asked = url.searchParams.get('lang') ?? '';
	if (request.method !== 'GET' || !isLocale(asked)) return null;
	// English pages have one address. Gateways and programs use `lang` themselves.
	if (isGatewayEntry(url.pathname) || isEnglishOnly(url.pathname)) return null;
	const search = new URLSearchParams(url.searchParams);
	search.delete('lang');
	const query = search.size > 0 ? `?${search}` : '';
	return new Response(null, { status: 303, headers: { location: inLanguage(asked, url.pathname) + query } });
}

/** Leads an address that a person has typed or pasted, such as /R/3 or /r/3%20, to its page. */
function typedAddress({ request, url }: RequestEvent): Response | null {
	if (request.method !== 'GET' && request.method !== 'HEAD') return null;
	const location = meantPath(url.pathname);
	if (location === null) return null;
	return new Response(null, { status: 308, headers: { location: location + url.search } });
}

function resolvePage(event: RequestEvent, resolve: Parameters<Handle>[0]['resolve']): Promise<Response> {
	return paraglideMiddleware(event.request, ({ request, locale }) => {
		// For browsers and proxies that accept everything alike, SvelteKit would answer a form with JSON.
		if (request.method === 'POST') request.headers.set('accept', 'text/html');
		event.request = request;
		return answerShared(event, locale, () =>
			resolve(event, {
				transformPageChunk: ({ html }) =>
					fillRules(html, event.locals)
						.replace('%airtill.lang%', locale)
						.replace('%airtill.dir%', directionOf(locale))
			})
		);
	});
}

export const handleError: HandleServerError = ({ error, event, status }) => {
	if (status === 404) return { message: 'Not found' };
	// A broken address or body is the sender's mistake and is not logged.
	if (status < 500) return { message: m.common_address_broken() };
	app.log.error({ err: error, request: event.locals.requestId, route: event.route.id }, 'page failed');
	return { message: 'Internal error' };
};
