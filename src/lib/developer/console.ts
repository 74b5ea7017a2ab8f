/**
 * The console of the API page (Swagger UI). Its forms hold values that work as they are: a router of this
 * installation, a number that pays, and ids of the document's examples. In a sandbox, those ids stand for the newest
 * objects of this page, and the console makes one when there is none.
 */

/** From `apiDefaults` of the server. */
interface Defaults {
	isSandbox: boolean;
	lat: number;
	lon: number;
	radius: number;
	duration: string;
	phone: string;
	router: {
		id: number;
		price: number;
		amount: number;
		hourly: boolean;
		offers: { name: string; duration: string; price: number }[];
	} | null;
}

/** Demo keys: `app` for all endpoints except those of router owners. */
export interface Keys {
	app: string;
	owner: string;
}

interface Parameter {
	name: string;
	example?: unknown;
	schema?: { default?: unknown };
}

export interface ApiDocument {
	paths: Record<
		string,
		Record<
			string,
			{
				operationId: string;
				parameters?: Parameter[];
				requestBody?: {
					content: { 'application/json': { examples: Record<string, { summary: string; value: unknown }> } };
				};
			}
		>
	>;
}

/** Ids of the document's examples. */
const EXAMPLE = { session: 9001, payment: 7001, webhook: 301, batch: 12, code: 'K7MQ-29XT-4HWB' };

/** Another number at each visit: a number gets few payment prompts in 15 minutes. Its last digits decide the result. */
function varied(phone: string): string {
	const digits = String(Math.floor(Math.random() * 1000)).padStart(3, '0');
	return phone.slice(0, -6) + digits + phone.slice(-3);
}

/** Puts the values of this installation into the examples of the document. */
export function fillDefaults(document: ApiDocument, defaults: Defaults): ApiDocument {
	const { router, lat, lon, radius, duration } = defaults;
	const phone = varied(defaults.phone);
	const id = router?.id ?? 1;
	const offers = router?.offers.length
		? router.offers
		: [{ name: 'Day', duration: '1d', price: (router?.price ?? 500) * 4 }];
	const bodies: Readonly<Record<string, unknown>> = {
		createSession: { router_id: id, duration, payment_method: 'mobile_money', phone },
		startMobileMoneyPayment: { amount: router?.amount ?? 1000, phone, session_id: EXAMPLE.session },
		setRouterPrice: { price: router?.price ?? 500 },
		redeemVoucher: { code: EXAMPLE.code, router_id: id },
		createVoucherBatch: { router_id: id, offer_id: 1, count: 3 },
		setRouterOffers: { hourly: router?.hourly ?? true, offers }
	};
	const parameters: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
		listRouters: { lat, lon },
		getRouter: { id },
		setRouterPrice: { id },
		getRouterOffers: { id },
		setRouterOffers: { id }
	};
	for (const { operationId, parameters: own = [], requestBody } of Object.values(document.paths).flatMap(
		(item) => Object.values(item)
	)) {
		for (const parameter of own) {
			const value = parameters[operationId]?.[parameter.name];
			if (value !== undefined) parameter.example = value;
			if (operationId === 'listRouters' && parameter.name === 'radius') parameter.example = radius;
		}
		const body = bodies[operationId];
		const examples = requestBody?.content['application/json'].examples;
		if (body !== undefined && examples) examples['request'] = { summary: 'Works here', value: body };
	}
	return document;
}

/** As Swagger UI hands them to its interceptors. */
export interface Call {
	url: string;
	method: string;
	headers: Record<string, string>;
	body?: string;
}

interface Answer {
	url: string;
	status: number;
	text?: string;
}

interface Made {
	id: number;
	amount?: number;
	session_id?: number;
	codes?: { code: string }[];
}

interface Offers {
	data: { id: number; active: boolean }[];
}

export function createConsole(document: ApiDocument, defaults: Defaults, keys: Keys | null) {
	/** The newest objects of this page. `open`: a session that nobody has paid or ended. */
	let session: Made | null = null;
	let open: Made | null = null;
	let payment: Made | null = null;
	let webhook: Made | null = null;
	let batch: Made | null = null;

	const defaultBody = (operationId: string) => {
		for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item))) {
			if (operation.operationId === operationId) {
				return operation.requestBody?.content['application/json'].examples['request']?.value;
			}
		}
		return null;
	};

	async function send<Body = Made>(
		call: Call,
		path: string,
		body?: unknown,
		method = 'POST'
	): Promise<Body | null> {
		const response = await fetch(new URL(path, call.url), {
			method,
			headers: { authorization: keyFor(call, path), 'content-type': 'application/json' },
			...(body !== undefined && { body: JSON.stringify(body) })
		});
		return response.ok ? ((await response.json()) as Body) : null;
	}

	/** The demo key of the app serves all but the endpoints of router owners. */
	function keyFor({ headers }: Call, path: string): string {
		const own = headers['Authorization'] ?? '';
		const isDemoKey = keys !== null && own === `Bearer ${keys.app}`;
		return isDemoKey && path.startsWith('/v1/owner/') ? `Bearer ${keys.owner}` : own;
	}

	const order = async (call: Call) =>
		(session = open = await send(call, '/v1/sessions', defaultBody('createSession')));

	async function pay(call: Call): Promise<Made | null> {
		const wanted = open ?? (await order(call));
		open = null;
		const { phone } = Object(defaultBody('startMobileMoneyPayment')) as { phone?: string };
		const body = { amount: wanted?.amount, phone, session_id: wanted?.id };
		return (payment = await send(call, '/v1/payments/mobile-money', body));
	}

	const register = async (call: Call) =>
		(webhook = await send(call, '/v1/webhooks/register', defaultBody('registerWebhook')));

	const makeBatch = async (call: Call) =>
		(batch = await send(call, '/v1/owner/voucher-batches', await batchBody(call, null)));

	/** The order of a batch, with an offer that its router has. */
	async function batchBody(call: Call, text: string | null): Promise<unknown> {
		const body = (text === null ? null : parsed(text)) ?? Object(defaultBody('createVoucherBatch'));
		const path = `/v1/owner/routers/${String(body['router_id'])}/offers`;
		const listed = await send<Offers>(call, path, undefined, 'GET');
		const isSold = ({ active }: { active: boolean }) => active;
		if (!listed || listed.data.some(({ id, active }) => active && id === body['offer_id'])) return body;
		const offers = listed.data.some(isSold)
			? listed
			: await send<Offers>(call, path, defaultBody('setRouterOffers'), 'PUT');
		return { ...body, offer_id: offers?.data.find(isSold)?.id ?? body['offer_id'] };
	}

	/** The object for which the id of an example stands in a path. */
	function standIn(call: Call, path: string): Promise<Made | null> | Made | null {
		if (path === `/v1/sessions/${EXAMPLE.session}`) {
			return call.method === 'DELETE' ? (open ?? order(call)) : (session ?? order(call));
		}
		if (path === `/v1/payments/${EXAMPLE.payment}/status`) return payment ?? pay(call);
		if (path === `/v1/webhooks/${EXAMPLE.webhook}`) return webhook ?? register(call);
		if (path === `/v1/owner/voucher-batches/${EXAMPLE.batch}/vouchers`) return batch ?? makeBatch(call);
		return null;
	}

	return {
		async request(call: Call): Promise<Call> {
			const url = new URL(call.url);
			const key = keyFor(call, url.pathname);
			if (key) call.headers['Authorization'] = key;
			// In live mode nothing is made that was not asked for.
			if (!defaults.isSandbox) return call;
			const found = await standIn(call, url.pathname);
			if (found) {
				url.pathname = url.pathname.replace(/\d{2,}/, String(found.id));
				call.url = url.href;
			}
			if (url.pathname === '/v1/payments/mobile-money' && call.body) {
				call.body = await paidBody(call, call.body);
			}
			if (url.pathname === '/v1/owner/voucher-batches' && call.body) {
				call.body = JSON.stringify(await batchBody(call, call.body), null, 2);
			}
			if (url.pathname === '/v1/vouchers/redeem' && call.body?.includes(EXAMPLE.code)) {
				const [fresh] = (await makeBatch(call))?.codes ?? [];
				call.body = call.body.replace(EXAMPLE.code, fresh?.code ?? EXAMPLE.code);
			}
			return call;
		},
		response(answer: Answer): Answer {
			const path = new URL(answer.url).pathname;
			if (answer.status >= 300 || !answer.text) return answer;
			const body = JSON.parse(answer.text) as Made & { status?: string };
			if (path === '/v1/sessions' && answer.status === 201) session = open = body;
			if (path === '/v1/webhooks/register') webhook = body;
			if (path === '/v1/owner/voucher-batches' && answer.status === 201) batch = body;
			if (path === '/v1/payments/mobile-money') {
				payment = body;
				if (open?.id === body.session_id) open = null;
			}
			if (path === `/v1/sessions/${open?.id}` && body.status !== 'pending_payment') open = null;
			// It was deleted, or it is gone.
			if (path === `/v1/webhooks/${webhook?.id}`) webhook = null;
			return answer;
		}
	};

	/** The session of the example becomes one that can be paid; its amount, if it is still that of the example. */
	async function paidBody(call: Call, text: string): Promise<string> {
		const body = parsed(text);
		if (body?.['session_id'] !== EXAMPLE.session) return text;
		const wanted = open ?? (await order(call));
		if (!wanted) return text;
		const { amount } = Object(defaultBody('startMobileMoneyPayment')) as { amount?: unknown };
		return JSON.stringify(
			{
				...body,
				amount: body['amount'] === amount ? wanted.amount : body['amount'],
				session_id: wanted.id
			},
			null,
			2
		);
	}
}

function parsed(text: string): Record<string, unknown> | null {
	try {
		return Object(JSON.parse(text)) as Record<string, unknown>;
	} catch {
		return null;
	}
}
