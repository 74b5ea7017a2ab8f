import type {
	ErrorLink,
	ObjectView,
	OperationLink,
	OperationView,
	SuccessView
} from '#lib/developer/reference.ts';
import { COMMON_ERRORS } from '../contract/routes.ts';
import { callExamples, json, parametersOf } from './code.ts';
import {
	nameOf,
	operationsOf,
	resolved,
	slug,
	type ApiDocument,
	type Located,
	type Media,
	type Response
} from './document.ts';
import { fieldsOf, parameterOf } from './fields.ts';
import { hrefOf, namesBelow, objectId, placesOf, schemasOf, tagPage, type Places } from './objects.ts';

/** The endpoints of the reference: one page for each group of operations. */

export interface Group {
	slug: string;
	href: string;
	name: string;
	description: string;
	operations: OperationLink[];
}

export interface GroupView extends Omit<Group, 'operations'> {
	operations: OperationView[];
	objects: ObjectView[];
}

/** Headers of every answer; they are explained with the limits. */
const EVERYWHERE = /^(X-Request-Id|Cache-Control|RateLimit|X-RateLimit)/i;

/** Codes that say the same wherever they are answered; what is wrong with a value differs from one to the next. */
const COMMON: readonly string[] = COMMON_ERRORS.filter((code) => code !== 'validation_failed');
const isCommon = ({ code }: ErrorLink) => COMMON.includes(code);

const versionOf = (document: ApiDocument) => new URL(document.servers[0]?.url ?? '').pathname;

function linkOf(document: ApiDocument, { method, path, operation }: Located): OperationLink {
	const id = slug(operation.operationId);
	return {
		id,
		href: `${tagPage(operation.tags[0] ?? '')}#${id}`,
		method,
		path: `${versionOf(document)}${path}`,
		summary: operation.summary,
		role: operation['x-role'] ?? '',
		scope: operation['x-scope'] ?? '',
		isDeprecated: operation.deprecated ?? false
	};
}

export const operationLinks = (document: ApiDocument): OperationLink[] =>
	operationsOf(document).map((located) => linkOf(document, located));

const located = (document: ApiDocument, tag: string) =>
	operationsOf(document).filter(({ operation }) => operation.tags.includes(tag));

/** The groups that have operations. */
export function groupsOf(document: ApiDocument): Group[] {
	return document.tags
		.map(({ name, description }) => ({
			slug: slug(name),
			href: tagPage(name),
			name,
			description,
			operations: located(document, name).map((one) => linkOf(document, one))
		}))
		.filter(({ operations }) => operations.length > 0);
}

const mediaOf = (response: Response): Media[] => Object.values(response.content ?? {});

const examplesOf = (media: readonly Media[]) => media.flatMap(({ examples }) => Object.entries(examples));

export function errorsOf(document: ApiDocument, responses: Located['operation']['responses']): ErrorLink[] {
	return Object.entries(responses)
		.filter(([status]) => !status.startsWith('2'))
		.flatMap(([status, response]) =>
			examplesOf(mediaOf(resolved<Response>(document, response))).map(([code, { summary, value }]) => ({
				code,
				title: summary,
				status,
				example: json(value)
			}))
		);
}

function successesOf(document: ApiDocument, places: Places, one: Located): SuccessView[] {
	return Object.entries(one.operation.responses)
		.filter(([status]) => status.startsWith('2'))
		.map(([status, reference]) => {
			const response = resolved<Response>(document, reference);
			const media = mediaOf(response);
			const name = media[0] ? nameOf(media[0].schema) : null;
			return {
				status,
				description: response.description,
				object: name === null ? null : { name, href: hrefOf(places, name) },
				headers: Object.entries(response.headers ?? {})
					.filter(([header]) => !EVERYWHERE.test(header))
					.map(([header, value]) => ({ name: header, description: resolved(document, value).description })),
				examples: examplesOf(media).map(([, { summary, value }]) => ({ summary, json: json(value) }))
			};
		});
}

const PLACES = [
	['path', 'Path'],
	['query', 'Query'],
	['header', 'Header']
] as const;

function viewOf(document: ApiDocument, places: Places, one: Located): OperationView {
	const { operation } = one;
	const context = { document, places };
	const parameters = parametersOf(document, one);
	const errors = errorsOf(document, operation.responses);
	const body = Object.values(operation.requestBody?.content ?? {})[0];
	return {
		...linkOf(document, one),
		// The last paragraph says role and scope, which stand apart here.
		description: operation.description.replace(/\n\nNeeds an API key[^\n]*$/, ''),
		parameters: PLACES.map(([place, title]) => ({
			title,
			fields: parameters.filter((each) => each.in === place).map((each) => parameterOf(each, context))
		})).filter(({ fields }) => fields.length > 0),
		body: body ? { name: nameOf(body.schema), fields: fieldsOf(body.schema, context) } : null,
		calls: callExamples(document, one),
		successes: successesOf(document, places, one),
		errors: errors.filter((error) => !isCommon(error)),
		shared: errors.filter(isCommon).map(({ code, status }) => ({ code, status }))
	};
}

/** The named shape as the reference shows it. */
export function objectView(document: ApiDocument, places: Places, name: string): ObjectView {
	const schema = document.components.schemas[name] ?? {};
	return {
		name,
		id: objectId(name),
		description: schema.description ?? '',
		fields: fieldsOf(schema, { document, places })
	};
}

/** One page of endpoints; null when there is no such group. */
export function groupView(document: ApiDocument, wanted: string): GroupView | null {
	const group = groupsOf(document).find((one) => one.slug === wanted);
	if (!group) return null;
	const places = placesOf(document);
	const operations = located(document, group.name);
	const bodies = operations.flatMap(({ operation }) =>
		Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => nameOf(schema))
	);
	const names = operations
		.flatMap(({ operation }) => schemasOf(document, operation))
		.flatMap((schema) => namesBelow(document, schema));
	return {
		...group,
		operations: operations.map((one) => viewOf(document, places, one)),
		// What is sent stands at its operation already.
		objects: [...new Set(names)]
			.filter((name) => places.get(name) === group.href && !bodies.includes(name))
			.map((name) => objectView(document, places, name))
	};
}

/** What operations of a group have in common with all others, each once. */
export function sharedErrors(document: ApiDocument, wanted: string): ErrorLink[] {
	const errors = located(document, document.tags.find(({ name }) => slug(name) === wanted)?.name ?? '')
		.flatMap(({ operation }) => errorsOf(document, operation.responses))
		.filter(isCommon);
	const byCode = new Map(errors.map((error) => [error.code, error]));
	return [...byCode.values()].sort((one, other) => one.status.localeCompare(other.status));
}
