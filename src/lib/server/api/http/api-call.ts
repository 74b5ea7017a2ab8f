import type { App } from '#lib/server/app.ts';

/** One request of the API. */
export interface ApiRequest {
	readonly app: App;
	/** `req_<ULID>` */
	readonly requestId: string;
	/** In capitals. */
	readonly method: string;
	/** The path as it was asked for, with its percent-encoding. */
	readonly pathname: string;
	readonly search: URLSearchParams;
	/** The host under which the call came in, with its port if it has one. */
	readonly host: string;
	/** Public address of this installation, without a slash at the end. */
	readonly origin: string;
	/** Aborts when the client goes away. */
	readonly signal: AbortSignal;
	/** A header by its name in small letters; null when it was not sent. */
	header(name: string): string | null;
	/** @throws Error when the proxy that names addresses did not name this one */
	getClientAddress(): string;
	/** The body, at most so many bytes. @throws AppError `body_too_large | invalid_json` */
	readBody(maxBytes: number): Promise<Uint8Array>;
}

export interface ApiAnswer {
	status: number;
	/** Names in small letters. */
	headers: Record<string, string>;
	body: string;
}
