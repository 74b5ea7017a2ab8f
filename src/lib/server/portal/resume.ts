import { VOUCHER_CODE_LENGTH, readCode } from '#lib/domain/codes.ts';
import { parseMobile } from '#lib/domain/phone.ts';
import { plainText } from '#lib/domain/text.ts';
import type { PaymentBody } from '#lib/server/contract/payment.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import { LONGEST_WINDOW_MS, TURN_SECONDS } from '#lib/server/rate-limits.ts';
import { Refused } from '../platform/errors.ts';
import type { ApiClient } from './api-client.ts';
import {
	findPageRow,
	findRowByCode,
	openToken,
	parsePaymentIds,
	type PurchaseRow,
	type Purchases
} from './purchases.ts';

/** Opens a purchase on another device: by its code, or by the operator's transaction id with the number that paid. */

/** An SMS has 160 characters, and operators join several. */
const MAX_TYPED = 1_000;
/** Between words, so that a Wi-Fi password in the same message is none. */
const CODE_IN_TEXT = /(?<![\w-])[\da-z]{4} ?[-‐-―] ?[\da-z]{4}(?![\w-])/gi;
const VOUCHER_IN_TEXT = /(?<![\w-])[\da-z]{4}(?:[-‐-―][\da-z]{4}){2}(?![\w-])/i;
/** "Code: K7MQ-29XT", "Pass K7MQ29XT": with a word of four letters it has as many characters as a voucher. */
const WORD_AND_CODE = /^[\p{L} ]+[ :.#]+([\da-z]{4}(?: ?[-‐-―] ?)?[\da-z]{4})[^\p{L}\p{N}]*$/iu;
/** The address of a purchase. */
const PAGE_IN_TEXT = /\/s\/([\w-]{24})(?![\w-])/;

/** Not the first half of a code. Each part begins with what the one before cannot have: a long text is read only once. */
const ID = String.raw`(?![\p{L}\p{N}])[\s.:#-]*(?=[\da-z])([a-z.]*\d[\da-z.]*)(?<!\.)(?![\w-])`;
/**
 * How operators name their transaction, the surest first: a message can name an amount, a merchant and an order, too.
 * "Transaction ID: 1234567890", "TxId:123", "TID 123", "Numéro de transaction : 123", "رقم العملية: 123"; "Transaction:
 * 1234567890"; "ID 123"; "Ref. 7XK2L5M".
 */
const NAMED_TRANSACTION = [
	String.raw`(?:\btrans(?:action)?\.? ?(?:id|no|n[o°º]|number)|\btxn? ?id|\btid|\b(?:id|num[eé]ro|n[uú]mero) d[ea] (?:la )?transa[cç]\p{L}*|العملية|المعاملة)${ID}`,
	String.raw`\b(?:transa[cç]\p{L}*|txn?)(?=[\s.:#-]+[\da-z.]{6})${ID}`,
	String.raw`\bid${ID}`,
	String.raw`\br[eé]f(?:[eé]rence)?${ID}`
].map((pattern) => new RegExp(pattern, 'iu'));
/** M-Pesa begins its messages with the ID: "QGR7XK2L5M Confirmed." */
const BARE_TRANSACTION = /\b(?=\w*\d)(?=\w*[A-Z])[\dA-Z]{9,}\b/;
/** With more words it is a message. */
const MAX_WORDS = 4;

/** Returns the token of a purchase whose address is in a typed or pasted text; null without one. */
export const readPageToken = (text: string): string | null =>
	PAGE_IN_TEXT.exec(text.slice(0, MAX_TYPED))?.[1] ?? null;

/**
 * Finds the code in a typed or pasted text, the code of a voucher, or the transaction ID in an operator's message.
 * @param isWhole a text without either is a transaction ID all the same
 */
export function readTyped(
	text: string,
	isWhole: boolean
): { code: string | null; voucher: string | null; transaction: string | null } {
	const typed = plainText(text.slice(0, MAX_TYPED));
	const isMessage = typed.split(' ').length > MAX_WORDS;
	const named = NAMED_TRANSACTION.flatMap((pattern) => pattern.exec(typed)?.[1] ?? [])[0] ?? null;
	const bare = BARE_TRANSACTION.exec(isMessage ? typed : '')?.[0] ?? null;
	const spelled = readCode(typed, VOUCHER_CODE_LENGTH);
	const behindWord =
		spelled !== null && named === null ? readCode(WORD_AND_CODE.exec(typed)?.[1] ?? '') : null;
	const voucher = behindWord === null ? spelled : null;
	const code = voucher === null ? (behindWord ?? readCode(typed) ?? findCode(typed, { named, bare })) : null;
	const inText = code === null && named === null ? VOUCHER_IN_TEXT.exec(typed)?.[0] : undefined;
	// Of a short text all is the ID, which people group.
	const whole = isWhole || /^(?:\d{6,}|(?=.*\d)[\da-z.]{9,})$/i.test(typed) ? typed : null;
	return {
		code,
		voucher: voucher ?? readCode(inText ?? '', VOUCHER_CODE_LENGTH),
		transaction: named ?? bare ?? (isMessage ? null : whole)
	};
}

/** Spells the transaction ID of a typed or pasted text as it is and in capitals: people group it, and type small letters. */
export function spellTransaction(text: string): string[] {
	const id = plainText(readTyped(text, true).transaction ?? text).replaceAll(' ', '');
	return [...new Set([id, id.toUpperCase()])];
}

/** A name such as "BLUE CAFE - WIFI" is no code beside an ID; elsewhere one with a digit is more likely one. */
function findCode(
	typed: string,
	{ named, bare }: { named: string | null; bare: string | null }
): string | null {
	if (named !== null) return null;
	const found = (typed.match(CODE_IN_TEXT) ?? []).filter((text) => readCode(text) !== null);
	const likely = found.findLast((text) => /\d/.test(text));
	return readCode(likely ?? (bare === null ? (found.at(-1) ?? '') : ''));
}

/** What a try opened, or why it did not. */
export type Resumed = Opened | Limited | Crowded;

type Opened = { kind: 'found'; token: string } | { kind: 'unknown' };

interface Limited {
	kind: 'limited';
	retryAfterSeconds: number;
}

/** A limit is used up, and the phone number is missing or does not match. */
interface Crowded {
	kind: 'crowded';
}

/**
 * Tries to open a purchase by its code in a minute: of a captive session, otherwise of a network, and of all together. With
 * 2^40 codes and 100,000 purchases, constant guessing finds one in about four months.
 */
const TRIES = { visitor: 10, total: 60 };

export interface Visitor {
	/** IP address, or /64 of IPv6. After a power cut all guests of a venue can share it. */
	network: string;
	/** Names a captive session that has not expired. */
	captiveSession: string | null;
}

/**
 * Security: a limit per captive session, otherwise per network, and a total limit count each try, so codes cannot be
 * guessed. Anybody can use them up, for the others of the network too. A code then opens only with the number of the
 * order, so buyers are not locked out: nobody guesses one of 2^40 codes of one number.
 * @param typed `phone` is the number as typed; '' if none was requested
 */
export async function resumeByCode(
	purchases: Purchases,
	api: ApiClient,
	typed: { code: string; phone: string },
	from: Visitor
): Promise<Opened | Crowded> {
	const { region } = purchases;
	const code = readCode(typed.code);
	// A text that cannot be a code does not count.
	if (code === null) return { kind: 'unknown' };
	const isCrowded = !(await takeTry(purchases, from)) || !(await takeOfTotal(purchases, from));
	const number = isCrowded ? parseMobile(typed.phone, region) : null;
	if (isCrowded && number === null) return { kind: 'crowded' };
	const row = await findRowByCode(purchases, code);
	if (number !== null && !(row && (await hasOrderedFrom(api, row, number, region))))
		return { kind: 'crowded' };
	return toOpened(row && openToken(purchases, row));
}

const toOpened = (token: string | null): Opened =>
	token === null ? { kind: 'unknown' } : { kind: 'found', token };

export const takeTry = async (
	{ rateLimits }: Purchases,
	{ network, captiveSession }: Visitor
): Promise<boolean> => (await rateLimits.take(`code:${captiveSession ?? network}`, TRIES.visitor)).admitted;

/**
 * Counts a try toward the total limit. Returns false if it is used up, or if the captive sessions of this network have
 * used half of it: one device can have many.
 */
async function takeOfTotal({ rateLimits }: Purchases, { network, captiveSession }: Visitor) {
	const half = TRIES.total / 2;
	if (captiveSession !== null && !(await rateLimits.take(`codes:${network}`, half)).admitted) return false;
	return (await rateLimits.take('code', TRIES.total)).admitted;
}

/** Also money that goes back: the page says so. */
const PAID: ReadonlySet<PaymentBody['status']> = new Set([
	'success',
	'refund_pending',
	'refunded',
	'refund_failed'
]);
/** Tries with one number, and with one transaction ID, in LONGEST_WINDOW_MS. */
const MAX_OF_PAYMENT = { source: 5, total: 10 };
/** No operator's IDs have other characters; PostgreSQL and the API refuse some. */
const TRANSACTION = /^[!-~]{1,64}$/;

/**
 * Opens the purchase of a payment, for a buyer whose page closed before it showed the code.
 *
 * Security: some operators count their transactions, so an ID is guessed from one near it, and people know each other's
 * numbers. So each number and each ID has a few tries, per network and in total. Whoever knows a number can use them up.
 * Further tries with it run one after another, and a wrong one holds the next up for some seconds: the right pair still
 * opens its purchase, and a guesser has at most 720 tries an hour. One who knows the time of a payment to ten seconds has
 * to try thousands of IDs, and most passes are over by then. An unknown pair, a payment that is not paid and one of another
 * program have the same answer.
 * @param typed as the buyer typed them
 */
export async function resumeByPayment(
	purchases: Purchases,
	api: ApiClient,
	typed: { transaction: string; phone: string },
	from: Visitor
): Promise<Opened | Limited> {
	const { rateLimits, region } = purchases;
	const number = parseMobile(typed.phone, region);
	const transaction = typed.transaction.replaceAll(/[\s\p{Cf}]/gu, '').replace(/[.,:;]+$/, '');
	// A number or transaction that no payment can have is not counted as a try.
	if (number === null || !TRANSACTION.test(transaction)) return { kind: 'unknown' };
	const tried = async () => {
		const result = await findByPayment(purchases, api, transaction, number);
		return { result, isRight: result.kind === 'found' };
	};
	const line = await takePaymentTries(purchases, from, [number, transaction.toUpperCase()]);
	if (line === null) return (await tried()).result;
	const opened = await rateLimits.inTurn(line, tried);
	return opened ?? { kind: 'limited', retryAfterSeconds: TURN_SECONDS };
}

/** Counts a try. Returns the first subject that has none left, or null. */
async function takePaymentTries(purchases: Purchases, from: Visitor, pair: readonly string[]) {
	const source = from.captiveSession ?? from.network;
	if (!(await takeTry(purchases, from))) return `payments:${source}`;
	for (const half of pair) {
		const subject = `payment:${sha256(half)}`;
		const limits = [
			[`${subject}:${source}`, MAX_OF_PAYMENT.source],
			[subject, MAX_OF_PAYMENT.total]
		] as const;
		for (const [counted, most] of limits) {
			const { admitted } = await purchases.rateLimits.take(counted, most, LONGEST_WINDOW_MS);
			if (!admitted) return subject;
		}
	}
	return null;
}

async function findByPayment(purchases: Purchases, api: ApiClient, transaction: string, number: string) {
	const tokens = new Set<string>();
	for (const id of await readSessionsPaidBy(api, transaction, number)) {
		const row = await findPageRow(purchases, id);
		const token = row && openToken(purchases, row);
		if (token !== null) tokens.add(token);
	}
	// An operator may use an ID twice.
	const [token = null, ...others] = tokens;
	return toOpened(others.length > 0 ? null : token);
}

/** Reads the sessions of paid payments from a number (E.164) with the ID as it is typed, or in capitals. */
async function readSessionsPaidBy(api: ApiClient, transaction: string, number: string): Promise<Set<number>> {
	const spellings = [...new Set([transaction, transaction.toUpperCase()])];
	const lists = await Promise.all(
		spellings.map(async (provider_reference) => {
			try {
				return (await api.listPayments({ provider_reference })).data;
			} catch (problem) {
				// An API with only the fields of the wire format has no list of payments.
				if (problem instanceof Refused) return [];
				throw problem;
			}
		})
	);
	const paid = lists
		.flat()
		// An older API ignores the filter.
		.filter(({ provider_reference: id }) => id !== null && spellings.includes(id))
		.filter(({ status, phone }) => PAID.has(status) && phone === number);
	return new Set(paid.map(({ session_id }) => session_id));
}

/** Whether a payment of the purchase was requested from this number (E.164). */
async function hasOrderedFrom(api: ApiClient, row: PurchaseRow, number: string, region: string) {
	if (parseMobile(row.phone, region) === number) return true;
	for (const id of parsePaymentIds(row).reverse()) {
		if ((await api.getPayment(id)).phone === number) return true;
	}
	return false;
}
