import type { Config } from '#lib/server/config/config.ts';
import { indented, json } from './code.ts';

/** Programs of the guides. They are run by tests/api/docs-examples.test.ts as the pages show them. */

/** Where a first purchase looks for a router: around the centre of the installation's map. */
const SEARCH_RADIUS_M = 5_000;

/** A number that pays at once in a sandbox; on a live installation a person's own. */
const EXAMPLE_PHONE = '+256772123456';

export interface Step {
	title: string;
	text: string;
	curl: string;
	/** What comes back, as far as the next step needs it. */
	answer: string;
}

type Place = Pick<Config, 'centre'>;

const nearby = ({ centre }: Place) => `lat=${centre.lat}&lon=${centre.lon}&radius=${SEARCH_RADIUS_M}`;

const curl = (baseUrl: string, path: string, body?: object) =>
	[
		`curl '${baseUrl}${path}'`,
		'-H "Authorization: Bearer $AIRTILL_KEY"',
		...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${indented(json(body))}'`])
	].join(' \\\n  ');

/** Some of the members of an answer. */
const shortened = (members: object) => json(members).replace(/\n}$/, ',\n  …\n}');

/** The five calls of a purchase. The ids are those of the examples of the reference. */
export function purchaseSteps(baseUrl: string, place: Place): Step[] {
	return [
		{
			title: 'Find a router',
			text: 'Routers near a place, the nearest first, in `data`. Take the `id` of one that is `online`.',
			curl: curl(baseUrl, `/routers?${nearby(place)}`),
			answer: shortened({ id: 42, name: 'Kisementi Cafe', price: 500, currency: 'UGX', status: 'online' })
		},
		{
			title: 'Order time on it',
			text: 'This charges nothing yet. The answer has the `id` of the session and the `amount` to pay.',
			curl: curl(baseUrl, '/sessions', {
				router_id: 42,
				duration: '2h',
				payment_method: 'mobile_money',
				phone: EXAMPLE_PHONE
			}),
			answer: shortened({ id: 9001, status: 'pending_payment', amount: 1000, currency: 'UGX' })
		},
		{
			title: 'Ask the payer',
			text: 'The prompt appears on the phone. The answer is always a `pending` payment.',
			curl: curl(baseUrl, '/payments/mobile-money', { session_id: 9001, amount: 1000, phone: EXAMPLE_PHONE }),
			answer: shortened({ id: 7001, session_id: 9001, status: 'pending' })
		},
		{
			title: 'Wait for the money',
			text: '`wait` holds the answer for up to 20 seconds, until the payment leaves `pending`. Still `pending`? Ask again.',
			curl: curl(baseUrl, '/payments/7001/status?wait=20'),
			answer: shortened({ id: 7001, status: 'success', applied: true })
		},
		{
			title: 'Read the password',
			text: 'The session is `active`, and its time runs.',
			curl: curl(baseUrl, '/sessions/9001'),
			answer: shortened({
				id: 9001,
				status: 'active',
				ssid: 'Kisementi-WiFi',
				password: 'k7mq-x2vd-9hta',
				expires_at: '2026-11-21T11:16:21.000Z'
			})
		}
	];
}

/** The same as one program. */
export const purchaseProgram = (baseUrl: string, place: Place) => `// first-purchase.ts
const baseUrl = '${baseUrl}';
const phone = '${EXAMPLE_PHONE}';

type Router = { id: number; name: string; status: string };
type Session = { id: number; amount: number; status: string; ssid: string; password: string | null };
type Payment = { id: number; status: string; applied: boolean; failure_message: string | null };

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const headers = {
    authorization: \`Bearer \${process.env.AIRTILL_KEY}\`,
    'content-type': 'application/json',
    'idempotency-key': crypto.randomUUID()
  };
  const send = () => fetch(baseUrl + path, { method, headers, body: JSON.stringify(body) });
  // When the line breaks, nobody knows what arrived. The same key again: nothing is ordered or asked for twice.
  const response = await send().catch(send);
  const answer = await response.json();
  if (!response.ok) throw new Error(\`\${answer.code}: \${answer.detail} (\${answer.request_id})\`);
  return answer;
}

// 1. Find a router.
const { data } = await call<{ data: Router[] }>('GET', '/routers?${nearby(place)}');
const router = data.find(({ status }) => status === 'online');
if (!router) throw new Error('No router near this place sells time now.');

// 2. Order time on it.
const order = await call<Session>('POST', '/sessions', {
  router_id: router.id,
  duration: '2h',
  payment_method: 'mobile_money',
  phone
});

// 3. Ask the payer.
let payment = await call<Payment>('POST', '/payments/mobile-money', {
  session_id: order.id,
  amount: order.amount,
  phone
});

// 4. Wait for the money. Each answer comes when something changed, or after 20 seconds.
while (payment.status === 'pending') {
  payment = await call<Payment>('GET', \`/payments/\${payment.id}/status?wait=20\`);
}
if (!payment.applied) throw new Error(payment.failure_message ?? \`The payment is \${payment.status}.\`);

// 5. Read the password.
const session = await call<Session>('GET', \`/sessions/\${order.id}\`);
console.log(\`\${router.name}: join \${session.ssid} with \${session.password}\`);
`;

/** A receiver of webhooks with the package. */
export const VERIFY_WITH_PACKAGE = `// receiver.ts: npm install standardwebhooks
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.AIRTILL_WEBHOOK_SECRET ?? ''); // whsec_…

createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  // The bytes as they came: JSON that was parsed and written again has another signature.
  const body = Buffer.concat(chunks).toString('utf8');
  try {
    const event = webhook.verify(body, request.headers as Record<string, string>);
    response.writeHead(200).end();
    console.log('received', event);
  } catch {
    response.writeHead(400).end();
  }
}).listen(Number(process.env.PORT ?? 8080));
`;

/** The same with what Node has. */
export const VERIFY_WITH_NODE = `// receiver.ts
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';

const secret = process.env.AIRTILL_WEBHOOK_SECRET ?? ''; // whsec_…
const key = Buffer.from(secret.replace('whsec_', ''), 'base64');

function isGenuine(headers: IncomingHttpHeaders, body: string): boolean {
  const id = String(headers['webhook-id']);
  const timestamp = String(headers['webhook-timestamp']);
  // An old request may have been recorded and sent again by somebody else.
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
  const expected = createHmac('sha256', key).update(\`\${id}.\${timestamp}.\${body}\`).digest();
  // For a day after a rotation there are two signatures; one that fits is enough.
  return String(headers['webhook-signature']).split(' ').some((signature) => {
    const [version, text = ''] = signature.split(',');
    const given = Buffer.from(text, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString('utf8');
  if (!isGenuine(request.headers, body)) {
    response.writeHead(400).end();
    return;
  }
  response.writeHead(200).end();
  console.log('received', JSON.parse(body));
}).listen(Number(process.env.PORT ?? 8080));
`;
