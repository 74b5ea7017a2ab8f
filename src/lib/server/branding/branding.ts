import { accentOf, parseColour } from '#lib/branding/accent.ts';
import { isPhone } from '#lib/domain/contact.ts';
import { hiddenCharacter, readLine } from '#lib/domain/plain-text.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { BrandBody } from '#lib/server/contract/schemas.ts';
import type { Database, Queries } from '#lib/server/db/database.ts';
import { Refusal } from '#lib/server/platform/errors.ts';
import { sha256, sha256Bytes } from '#lib/server/platform/secrets.ts';
import { drawLogo, LogoRefused, type LogoPicture, type LogoProblem } from './logo.ts';
import * as store from './store.ts';

export { MAX_UPLOAD_BYTES, MAX_UPLOAD_SIDE, type LogoProblem } from './logo.ts';

/** One router's brand; with `routerId: null`, the brand of all routers of the account. */
export interface BrandSubject {
	accountId: number;
	routerId: number | null;
}

interface BrandChange {
	name: string;
	/** Phone number for buyers; '' for none. */
	contact: string;
	accent: string | null;
	/** An uploaded file, or the action for the current logo. */
	logo: Buffer | 'keep' | 'remove';
	/** Of the brand that the form showed; '' if it is not known. */
	version: string;
}

/** A brand has an invalid field, or is newer than the form (`moved`).  */
export class BrandRefused extends Refusal<
	'name_unseen' | 'name_long' | 'contact' | 'colour_format' | 'colour_grey' | LogoProblem | 'moved'
> {}

export const MAX_BRAND_NAME = 40;
export const MAX_CONTACT = 30;
const LOGO_FILE = /^[0-9a-f]{32}\.(svg|png)$/;
const HASH_LENGTH = 32;

/** Names what a form shows of a brand. */
const versionOf = ({ name, contact, accent, logo_file }: Partial<store.BrandRow> = {}): string =>
	sha256(JSON.stringify([name, contact, accent, logo_file].map((value) => value ?? null)));

const subjectOf = ({ accountId, routerId }: BrandSubject) =>
	routerId === null ? `account ${accountId}` : `router ${routerId}`;

export type Branding = ReturnType<typeof createBranding>;

/** A field of the router replaces the account's. The caller checks who may change a brand. */
export function createBranding(database: Database, clock: Clock) {
	return {
		/** Routers without a brand are missing. */
		async ofRouters(
			queries: Queries,
			routers: readonly { id: number; owner_account_id: number }[]
		): Promise<ReadonlyMap<number, BrandBody>> {
			const subjects = new Set(
				routers.flatMap(({ id, owner_account_id }) => [`router ${id}`, `account ${owner_account_id}`])
			);
			const found = await store.find(database.kind, queries, [...subjects]);
			const rows = new Map(found.map((row) => [row.subject, row]));
			const brands = new Map<number, BrandBody>();
			if (rows.size === 0) return brands;
			for (const { id, owner_account_id } of routers) {
				const brand = merged(rows.get(`router ${id}`), rows.get(`account ${owner_account_id}`));
				if (brand) brands.set(id, brand);
			}
			return brands;
		},
		/** Omits settings inherited from the account. */
		async read(subject: BrandSubject) {
			const [row] = await store.find(database.kind, database.db, [subjectOf(subject)]);
			const { name = null, contact = null, accent = null } = row ?? {};
			return { name, contact, accent, logo: logoOf(row), version: versionOf(row) };
		},
		/** @throws BrandRefused */
		async change(subject: BrandSubject, change: BrandChange, byAccountId: number): Promise<void> {
			const name = checkedName(change.name);
			const contact = checkedContact(change.contact);
			const accent = change.accent === null ? null : checkedAccent(change.accent);
			const logo = typeof change.logo === 'string' ? change.logo : await checkedLogo(change.logo);
			const key = subjectOf(subject);
			const shown = { name, contact, accent, ...logoColumns(logo) };
			await database.transact(async (trx) => {
				const [before] = await store.find(database.kind, trx, [key]);
				const isOld = change.version !== '' && change.version !== versionOf(before);
				// They are the same if the form was sent twice.
				if (isOld && versionOf({ ...before, ...shown }) !== versionOf(before))
					throw new BrandRefused('moved');
				await store.save(trx, {
					...{ subject: key, account_id: subject.accountId, router_id: subject.routerId },
					...shown,
					...{ updated_at: clock.now(), updated_by: byAccountId }
				});
			});
		},
		/** Stored SVG logos were rewritten when they were uploaded. */
		async logo(file: string) {
			const extension = LOGO_FILE.exec(file)?.[1];
			const data = extension === undefined ? null : await store.logo(database.db, file);
			if (data === null) return null;
			return {
				type: extension === 'svg' ? 'image/svg+xml' : 'image/png',
				bytes: Buffer.from(data, 'base64')
			};
		}
	};
}

function merged(own: store.BrandRow | undefined, general: store.BrandRow | undefined): BrandBody | null {
	const brand = {
		name: own?.name ?? general?.name ?? null,
		contact: own?.contact ?? general?.contact ?? null,
		accent: own?.accent ?? general?.accent ?? null,
		logo: logoOf(own) ?? logoOf(general)
	};
	return Object.values(brand).every((part) => part === null) ? null : brand;
}

function logoOf(row: store.BrandRow | undefined): BrandBody['logo'] {
	if (!row?.logo_file || row.logo_width === null || row.logo_height === null) return null;
	return { url: `/logos/${row.logo_file}`, width: row.logo_width, height: row.logo_height };
}

function logoColumns(logo: LogoPicture | 'keep' | 'remove') {
	if (logo === 'keep') return {};
	if (logo === 'remove') return { logo_file: null, logo_data: null, logo_width: null, logo_height: null };
	const { bytes, width, height } = logo;
	return {
		logo_file: `${sha256Bytes(bytes).slice(0, HASH_LENGTH)}.png`,
		logo_data: bytes.toString('base64'),
		logo_width: width,
		logo_height: height
	};
}

function checkedName(text: string): string | null {
	const name = readLine(text);
	if (hiddenCharacter(name) !== null) throw new BrandRefused('name_unseen');
	if ([...name].length > MAX_BRAND_NAME) throw new BrandRefused('name_long');
	return name === '' ? null : name;
}

function checkedContact(text: string): string | null {
	const contact = text.replace(/\s+/g, ' ').trim();
	if (contact.length > MAX_CONTACT || (contact !== '' && !isPhone(contact)))
		throw new BrandRefused('contact');
	return contact === '' ? null : contact;
}

function checkedAccent(text: string): string {
	const colour = parseColour(text.trim());
	if (colour === null) throw new BrandRefused('colour_format');
	if (!accentOf(colour)) throw new BrandRefused('colour_grey');
	return colour;
}

const checkedLogo = (bytes: Buffer): Promise<LogoPicture> =>
	drawLogo(bytes).catch((error: unknown) => {
		throw error instanceof LogoRefused ? new BrandRefused(error.reason) : error;
	});
