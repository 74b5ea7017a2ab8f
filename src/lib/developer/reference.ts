/** What the components of the API reference show; lib/server/docs makes it from the OpenAPI document. */

export interface FieldView {
	name: string;
	/** "integer", "array of", "string or null"; before the name of an object when there is one. */
	type: string;
	object: { name: string; href: string | null } | null;
	required: boolean;
	/** Limits and defaults: "1 to 100", "default 20". */
	facts: string[];
	/** The values that it can have; empty when they are not listed. */
	values: string[];
	description: string;
}

export interface ObjectView {
	name: string;
	/** Its anchor. */
	id: string;
	description: string;
	fields: FieldView[];
}

/** An operation in a list. */
export interface OperationLink {
	/** Its anchor. */
	id: string;
	href: string;
	method: string;
	/** With the version: "/v1/routers/{id}". */
	path: string;
	summary: string;
	role: string;
	scope: string;
	isDeprecated: boolean;
}

export interface ErrorLink {
	code: string;
	title: string;
	status: string;
	/** As this operation answers it. */
	example: string;
}

export interface SuccessView {
	status: string;
	description: string;
	object: { name: string; href: string | null } | null;
	/** Headers that not every answer has. */
	headers: { name: string; description: string }[];
	examples: { summary: string; json: string }[];
}

export interface OperationView extends OperationLink {
	description: string;
	parameters: { title: string; fields: FieldView[] }[];
	body: { name: string | null; fields: FieldView[] } | null;
	/** Examples of calls that run as they stand. */
	calls: { curl: string; typescript: string };
	successes: SuccessView[];
	errors: ErrorLink[];
	/** Codes that this operation shares with every other one. */
	shared: { code: string; status: string }[];
}

export interface Transition {
	/** null: it is created. */
	from: string | null;
	to: string;
	trigger: string;
	/** `status_reason` or `refund_reason`. */
	reason?: string;
	/** Event that tells of it. */
	event?: string;
}

export interface Node {
	state: string;
	/** Left upper corner in the picture. */
	x: number;
	y: number;
	/** Nothing leads out of it. */
	isFinal: boolean;
	description: string;
}

export interface Edge {
	/** Path in the picture. */
	d: string;
	/** Numbers of its transitions, and where they stand. */
	label: string;
	x: number;
	y: number;
}

export interface Machine {
	/** Part of an address. */
	id: string;
	title: string;
	/** Of the picture; it is 360 wide. */
	height: number;
	nodes: Node[];
	edges: Edge[];
	/** Numbered from 1. */
	transitions: Transition[];
}
