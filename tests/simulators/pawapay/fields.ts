import { objectIn } from '../json.ts';

/** Validation of request fields (docs.pawapay.io/v2/api-reference). */
export interface Refusal {
	code: string;
	message: string;
}

export type Body = Record<string, unknown>;

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
export const isUuid = (value: unknown): value is string => typeof value === 'string' && UUID_V4.test(value);

/** "5", "5.0" and "0.5" are right; "5.", ".5", "05" and "5.555" are not. */
const AMOUNT = /^(0|[1-9]\d{0,17})(\.\d{1,2})?$/;
const MAX_METADATA = 10;

type Rule = (value: unknown) => boolean;
const matches =
	(pattern: RegExp): Rule =>
	(value) =>
		typeof value === 'string' && pattern.test(value);
const isObject = (value: unknown): value is Body =>
	typeof value === 'object' && value !== null && !Array.isArray(value);
const isText: Rule = matches(/^[\s\S]{1,255}$/);

interface Fields {
	required: Readonly<Record<string, Rule>>;
	optional: Readonly<Record<string, Rule>>;
}

const DEPOSIT: Fields = {
	required: { depositId: isUuid, amount: matches(AMOUNT), currency: matches(/^[A-Z]{3}$/), payer: isObject },
	optional: {
		preAuthorisationCode: matches(/^\w{1,36}$/),
		clientReferenceId: isText,
		customerMessage: matches(/^[A-Za-z0-9 ]{4,22}$/),
		metadata: Array.isArray
	}
};
const PAYER: Fields = { required: { type: matches(/^MMO$/), accountDetails: isObject }, optional: {} };
const ACCOUNT: Fields = { required: { phoneNumber: isText, provider: isText }, optional: {} };
const REFUND: Fields = {
	required: { refundId: isUuid, depositId: isUuid },
	optional: {
		amount: matches(AMOUNT),
		currency: matches(/^[A-Z]{3}$/),
		clientReferenceId: isText,
		metadata: Array.isArray
	}
};

/** @returns the body, or what is wrong with it */
export function readBody(text: string, contentType: string | undefined): Body | Refusal {
	const invalid = { code: 'INVALID_INPUT', message: 'The request body could not be read as JSON.' };
	if (!/^application\/json\b/i.test(contentType ?? '')) return invalid;
	return objectIn(text) ?? invalid;
}

export const isRefusal = (read: Body | Refusal): read is Refusal =>
	typeof read['code'] === 'string' && typeof read['message'] === 'string';

export function depositRefusal(body: Body): Refusal | null {
	const payer = (body['payer'] ?? {}) as Body;
	return (
		wrongField(DEPOSIT, body, '') ??
		wrongField(PAYER, payer, 'payer.') ??
		wrongField(ACCOUNT, payer['accountDetails'] as Body, 'payer.accountDetails.') ??
		wrongMetadata(body['metadata'])
	);
}

export const refundRefusal = (body: Body): Refusal | null =>
	wrongField(REFUND, body, '') ?? wrongMetadata(body['metadata']);

function wrongField({ required, optional }: Fields, body: Body, at: string): Refusal | null {
	for (const name of Object.keys(body)) {
		if (!Object.hasOwn(required, name) && !Object.hasOwn(optional, name)) {
			return { code: 'UNSUPPORTED_PARAMETER', message: `The parameter '${at}${name}' is not supported.` };
		}
	}
	for (const name of Object.keys(required)) {
		if (body[name] === undefined || body[name] === null) {
			return { code: 'MISSING_PARAMETER', message: `Please specify the parameter '${at}${name}'.` };
		}
	}
	for (const [name, rule] of Object.entries({ ...required, ...optional })) {
		if (body[name] !== undefined && !rule(body[name])) {
			return { code: 'INVALID_PARAMETER', message: `The parameter '${at}${name}' is not valid.` };
		}
	}
	return null;
}

function wrongMetadata(list: unknown): Refusal | null {
	if (!Array.isArray(list)) return null;
	const names = new Set<string>();
	for (const entry of list as unknown[]) {
		const [name, ...others] = isObject(entry) ? Object.keys(entry).filter((key) => key !== 'isPII') : [];
		if (name === undefined || others.length > 0 || list.length > MAX_METADATA) {
			return { code: 'INVALID_PARAMETER', message: "The parameter 'metadata' is not valid." };
		}
		if (names.has(name)) {
			return { code: 'DUPLICATE_METADATA_FIELD', message: `The metadata field '${name}' is there twice.` };
		}
		names.add(name);
	}
	return null;
}

/** As it is repeated: one object. */
export function metadataOf(list: unknown): Body | undefined {
	if (!Array.isArray(list)) return undefined;
	const entries = (list as Body[]).flatMap((entry) => Object.entries(entry));
	return Object.fromEntries(entries.filter(([name]) => name !== 'isPII'));
}
