/** The page on which an owner connects a gateway. */
import { beforeEach, expect } from 'vitest';
import { fieldValue, type Page } from '../../../support/pages/browsing.ts';
import { addRouter, newOwner, type Owner } from '../../../support/pages/owners.ts';
import type { Fixture } from '../../../support/server/fixture.ts';

let fixture: () => Fixture;
export let owner: Owner;
export let router: number;
export let path: string;

/** A new owner with a router for each test. */
export function useNewOwners(started: () => Fixture): void {
	beforeEach(async () => {
		fixture = started;
		owner = await newOwner(fixture());
		router = await newRouter(owner);
		path = `/owner/routers/${router}/gateway`;
	});
}

export const newRouter = ({ accountId }: Owner) =>
	addRouter(fixture(), accountId, { access_kind: 'portal_login', security: 'nopass' });

export const OPENNDS = { kind: 'opennds', loginHost: '192.168.1.1' };
const UNIFI = { kind: 'unifi', api: 'https://console.example', apiKey: 'fake-key', site: 'default' };
/** Each owner has access points of their own. */
export const accessPoint = (id = router) =>
	`02:00:5e:10:${String(Math.floor(id / 100)).padStart(2, '0')}:${String(id % 100).padStart(2, '0')}`;
export const unifi = () => ({
	...UNIFI,
	api: `https://console${router}.example`,
	accessPoints: accessPoint()
});
/** Each owner has a router of its own. */
export const mikrotik = () => ({
	...{ kind: 'mikrotik', loginHost: '10.5.50.1', api: `https://router${router}.example` }
});

/** Sends the form of the page for a new gateway. */
export async function add(fields: Record<string, string>, person: Owner = owner, at = path): Promise<Page> {
	const form = await person.get(`${at}?kind=${fields['kind']}`);
	return person.post(at, { key: fieldValue(form, 'key'), ...fields });
}

/** @returns the path of its page */
export async function added(fields: Record<string, string>): Promise<string> {
	const page = await add(fields);
	expect(page.path, page.text).toMatch(/\?done=added$/);
	return page.path.replace(/\?.*/, '');
}

const COLUMNS = 'id, name, kind, settings, login_hosts, secret_sealed, credentials_sealed, updated_at';
export const rows = (id = router) =>
	fixture().sql.all(`select ${COLUMNS} from gateways where router_id = ? order by id`, id);
export const settings = async () => JSON.parse(String((await rows())[0]?.['settings']));
export const audit = () =>
	fixture().sql.all("select * from audit_log where action like 'gateway.%' order by id");
export const portalOf = ({ html }: Page) => /http:\/\/[\w.:]+\/splash\/[\w-]+/.exec(html)?.[0] ?? '';
/** The files that a page shows. */
export const codeOf = ({ html }: Page) =>
	[...html.matchAll(/<code>([^]*?)<\/code>/g)].map(([, code = '']) =>
		code.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
	);
export const faskeyOf = (page: Page) => /option faskey '(\w+)'/.exec(codeOf(page)[0] ?? '')?.[1] ?? '';
