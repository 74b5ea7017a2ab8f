import type { FieldView, ObjectView, OperationLink } from '#lib/developer/reference.ts';
import { ITEM_CODE_TEXTS, PROBLEM_TEXTS } from '../contract/describe-problems.ts';
import { operationsOf, type ApiDocument, type Schema } from './document.ts';
import { fieldsOf } from './fields.ts';
import { placesOf } from './objects.ts';
import { errorsOf, objectView, operationLinks } from './operations.ts';

/** The catalogue of errors: one entry for each code of the document. */

export interface ProblemLink {
	code: string;
	status: number;
	title: string;
	meaning: string;
}

export interface ProblemView extends ProblemLink {
	advice: string;
	/** Members that only this code has. */
	members: FieldView[];
	/** The endpoints that answer it; null: all of them. */
	operations: OperationLink[] | null;
	/** The answer, as an endpoint gives it. */
	example: string;
	/** For validation_failed: what an entry of `errors` can say. */
	items: ItemView[];
}

export interface ItemView {
	code: string;
	meaning: string;
	advice: string;
}

const COMMON = ['type', 'title', 'status', 'detail', 'code', 'request_id'];

/** The constants and own members of a code: the second part of its shape. */
function ownPart(schema: Schema): Schema | null {
	return schema.allOf?.find(({ properties }) => properties?.['code']?.const !== undefined) ?? null;
}

function partsOf(document: ApiDocument): { code: string; part: Schema }[] {
	return Object.values(document.components.schemas).flatMap((schema) => {
		const part = ownPart(schema);
		return part ? [{ code: String(part.properties?.['code']?.const), part }] : [];
	});
}

function linkOf(code: string, { properties = {} }: Schema): ProblemLink {
	return {
		code,
		status: Number(properties['status']?.const),
		title: String(properties['title']?.const),
		meaning: PROBLEM_TEXTS[code]?.meaning ?? ''
	};
}

/** All codes: by status, then as the document has them. */
export const problemLinks = (document: ApiDocument): ProblemLink[] =>
	partsOf(document)
		.map(({ code, part }) => linkOf(code, part))
		.sort((one, other) => one.status - other.status);

export const itemCodes = (): ItemView[] =>
	Object.entries(ITEM_CODE_TEXTS).map(([code, text]) => ({ code, ...text }));

/** One entry; null when there is no such code. */
export function problemView(document: ApiDocument, code: string): ProblemView | null {
	const found = partsOf(document).find((one) => one.code === code);
	if (!found) return null;
	const { part } = found;
	const answering = operationsOf(document).flatMap(({ operation }) =>
		errorsOf(document, operation.responses)
			.filter((error) => error.code === code)
			.map(({ example }) => ({ operationId: operation.operationId, example }))
	);
	const links = operationLinks(document).filter((_link, index) => {
		const operation = operationsOf(document)[index]?.operation;
		return answering.some(({ operationId }) => operationId === operation?.operationId);
	});
	const own = Object.keys(part.properties ?? {}).filter((name) => !COMMON.includes(name));
	return {
		...linkOf(code, part),
		advice: PROBLEM_TEXTS[code]?.advice ?? '',
		members: fieldsOf(part, { document, places: placesOf(document) }).filter(({ name }) =>
			own.includes(name)
		),
		operations: links.length === operationsOf(document).length ? null : links,
		example:
			(answering.find(({ example }) => example.includes('"in": "body"')) ?? answering[0])?.example ?? '',
		items: code === 'validation_failed' ? itemCodes() : []
	};
}

/** What every problem looks like. */
export const problemObjects = (document: ApiDocument): ObjectView[] =>
	['Problem', 'ProblemItem'].map((name) => objectView(document, placesOf(document), name));
