/** Pull Transactions: the settled payments of the last 48 hours. */
import type { Books } from '../books.ts';
import type { SimulatorAnswer } from '../frame/protocol.ts';
import { field, invalid, isUrl, receipt } from './answers.ts';

const KEPT_MS = 48 * 60 * 60 * 1000;
const PAGE = 100;

type Body = Record<string, unknown>;

export interface Pull {
	register(body: Body): SimulatorAnswer;
	query(body: Body, books: Books): SimulatorAnswer;
}

export function createPull(parties: readonly string[]): Pull {
	const registered = new Set<string>();
	let count = 0;
	const id = () => `${18_000 + (count += 1)}-7271215-1`;

	return {
		register(body) {
			const shortCode = field(body, 'ShortCode') ?? '';
			if (!parties.includes(shortCode)) return invalid('ShortCode');
			if (field(body, 'RequestType') !== 'Pull') return invalid('RequestType');
			if (!field(body, 'NominatedNumber')) return invalid('NominatedNumber');
			if (!isUrl(field(body, 'CallBackURL'))) return invalid('CallBackURL');
			const isNew = !registered.has(shortCode);
			registered.add(shortCode);
			return {
				status: 200,
				body: {
					ResponseRefID: id(),
					'Response Status': isNew ? '1000' : '1001',
					ShortCode: shortCode,
					'Response Description': isNew
						? `Shortcode ${shortCode} Registered Successfully`
						: 'ShortCode already Registered'
				}
			};
		},
		query(body, books) {
			const shortCode = field(body, 'ShortCode') ?? '';
			if (!parties.includes(shortCode)) return invalid('ShortCode');
			const from = timeOf(field(body, 'StartDate'));
			const to = timeOf(field(body, 'EndDate'));
			if (from === null) return invalid('StartDate');
			if (to === null || to < from) return invalid('EndDate');
			const offset = Number(field(body, 'OffSetValue'));
			if (!Number.isInteger(offset) || offset < 0) return invalid('OffSetValue');
			const rows = books.payments
				.filter((payment) => books.outcomeOf(payment) === 'success')
				.filter((payment) => payment.request['PartyB'] === shortCode)
				.map((payment) => ({ payment, at: books.outcomeAt(payment) ?? 0 }))
				.filter(({ at }) => at >= Math.max(from, books.now() - KEPT_MS) && at <= to)
				.slice(offset, offset + PAGE)
				.map(({ payment, at }) => ({
					transactionId: receipt('payment', payment.number),
					trxDate: new Date(at).toISOString().replace(/\.\d+Z$/, 'Z'),
					msisdn: Number(payment.phone),
					sender: 'MPESA',
					transactiontype: 'c2b-pay-bill-debit',
					// A till has no account numbers.
					billreference: payment.request['isTill'] === true ? '' : payment.reference,
					amount: books.takenOf(payment).toFixed(2),
					organizationname: 'Simulated Shop'
				}));
			return {
				status: 200,
				body: {
					ResponseRefID: id(),
					ResponseCode: rows.length > 0 ? '1000' : '1001',
					ResponseMessage: rows.length > 0 ? 'Success' : 'No transactions found',
					Response: rows.length > 0 ? [rows] : []
				}
			};
		}
	};
}

/** `YYYY-MM-DD HH:mm:ss` in Nairobi, hours with one digit or two. */
function timeOf(text: string | null): number | null {
	const match = /^(\d{4}-\d{2}-\d{2})[ T](\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(text ?? '');
	if (!match) return null;
	const [, day = '', hour = '', minute = '', second = '00'] = match;
	const at = Date.parse(`${day}T${hour.padStart(2, '0')}:${minute}:${second}+03:00`);
	return Number.isNaN(at) ? null : at;
}
