import { afterAll, beforeAll } from 'vitest';
import { asJson, at } from '../../../support/api/document.ts';
import { page, type Html } from '../../../support/pages/pages.ts';
import { startServer, type TestServer } from '../../../support/server/server.ts';

export const OWN = /^\/(docs|problems)(\/|$|#)/;
/** Loads Swagger UI, the only hydrated page of the documentation. */
export const CONSOLE = '/docs/api';

/** Starts a server, and reads its OpenAPI document and every page that leads on from `/docs`. */
export function useDocumentation(env: Record<string, string>) {
	let server: TestServer;
	const pages = new Map<string, Html>();
	let document: Readonly<Record<string, unknown>> = {};

	const pathOf = (link: string, from: string) => {
		const { pathname, hash, origin } = new URL(link, server.url + from);
		return { path: pathname, anchor: decodeURIComponent(hash.slice(1)), isOwn: origin === server.url };
	};

	async function crawl(path: string): Promise<void> {
		if (pages.has(path)) return;
		const found = await page(server.url, path);
		pages.set(path, found);
		for (const link of found.links) {
			const { path: next, isOwn } = pathOf(link, path);
			if (isOwn && OWN.test(next)) await crawl(next);
		}
	}

	beforeAll(async () => {
		server = await startServer({ env });
		document = asJson(await (await fetch(`${server.url}/openapi.json`)).json());
		await crawl('/docs');
	});
	afterAll(() => server?.stop());

	const names = (...steps: string[]) => Object.keys(asJson(at(document, ...steps)));

	const codes = () => names('components', 'examples');

	const get = (path: string): Html => {
		const found = pages.get(path);
		if (!found) throw new Error(`${path} is not linked from the documentation`);
		return found;
	};

	/** The operations of the document, those of webhooks included. */
	function operations(): {
		name: string;
		path: string;
		method: string;
		operation: Record<string, unknown>;
	}[] {
		return ['paths', 'webhooks'].flatMap((kind) =>
			names(kind).flatMap((path) =>
				names(kind, path).map((method) => {
					const operation = { ...asJson(at(document, kind, path, method)) };
					return { name: String(operation['operationId']), path, method, operation };
				})
			)
		);
	}

	return { server: () => server, document: () => document, pages, pathOf, names, codes, get, operations };
}
