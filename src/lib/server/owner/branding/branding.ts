import { accentOf, parseColour } from '#lib/branding/accent.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { BrandBody } from '#lib/server/api/contract/schemas.ts';
import type { Database, Queries } from '#lib/server/db/database.ts';
import { sha256Bytes } from '#lib/server/platform/secrets.ts';
import { LogoRefused, type LogoPicture } from './logo.ts';
import { readLogo } from './read-logo.ts';
import * as store from './store.ts';

/**
 * How an owner looks to buyers: a name, a logo and a colour, for all routers of the account or for one. What one
 * router sets goes before what the account sets, field by field. Whose brand may be changed by whom is decided by
 * the caller (http/owner.ts).
 */
export interface Branding {
	/** The brands of routers, by their ids; a router without one is not in the map. */
	ofRouters(
		queries: Queries,
		routers: readonly { id: number; owner_account_id: number }[]
	): Promise<ReadonlyMap<number, BrandBody>>;
	/** What is set for exactly this subject, and nothing that it inherits. */
	read(subject: BrandSubject): Promise<BrandSettings>;
	/** Changes what is given. @throws BrandRefused */
	change(subject: BrandSubject, change: BrandChange, byAccountId: number): Promise<void>;
	/** A logo by its file name; null when there is none. */
	logo(file: string): Promise<{ type: LogoPicture['type']; bytes: Buffer } | null>;
}

/** Whose brand: one router's, or with null that of all of the account's. */
export interface BrandSubject {
	accountId: number;
	routerId: number | null;
}

export interface BrandSettings {
	name: string | null;
	/** `#rrggbb` */
	accent: string | null;
	logo: BrandBody['logo'];
}

export interface BrandChange {
	/** An empty one takes the name away. */
	name: string;
	/** null takes the colour away. */
	accent: string | null;
	/** The bytes of a file; `keep` and `remove` say what becomes of the logo that is there. */
	logo: Buffer | 'keep' | 'remove';
}

/** Why a brand is not changed; of a logo the message says more, for its owner. */
export class BrandRefused extends Error {
	readonly reason: 'name_unseen' | 'name_long' | 'colour_format' | 'colour_grey' | 'logo';

	constructor(reason: BrandRefused['reason'], message: string) {
		super(message);
		this.name = 'BrandRefused';
		this.reason = reason;
	}
}

export const MAX_BRAND_NAME = 40;
const LOGO_FILE = /^[0-9a-f]{32}\.(svg|png)$/;
const HASH_LENGTH = 32;

const subjectOf = ({ accountId, routerId }: BrandSubject) =>
	routerId === null ? `account ${accountId}` : `router ${routerId}`;

export function createBranding(database: Database, clock: Clock): Branding {
	return {
		async ofRouters(queries, routers) {
			const subjects = new Set(
				routers.flatMap(({ id, owner_account_id }) => [`router ${id}`, `account ${owner_account_id}`])
			);
			const rows = new Map((await store.find(queries, [...subjects])).map((row) => [row.subject, row]));
			const brands = new Map<number, BrandBody>();
			if (rows.size === 0) return brands;
			for (const { id, owner_account_id } of routers) {
				const brand = merged(rows.get(`router ${id}`), rows.get(`account ${owner_account_id}`));
				if (brand) brands.set(id, brand);
			}
			return brands;
		},
		async read(subject) {
			const [row] = await store.find(database.db, [subjectOf(subject)]);
			return { name: row?.name ?? null, accent: row?.accent ?? null, logo: logoOf(row) };
		},
		async change(subject, change, byAccountId) {
			const name = checkedName(change.name);
			const accent = change.accent === null ? null : checkedAccent(change.accent);
			const logo = typeof change.logo === 'string' ? change.logo : await checkedLogo(change.logo);
			await store.save(database.db, {
				subject: subjectOf(subject),
				account_id: subject.accountId,
				router_id: subject.routerId,
				name,
				accent,
				...logoColumns(logo),
				updated_at: clock.now(),
				updated_by: byAccountId
			});
		},
		async logo(file) {
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

/** The router's own fields before those of the account. */
function merged(own: store.BrandRow | undefined, general: store.BrandRow | undefined): BrandBody | null {
	const brand = {
		name: own?.name ?? general?.name ?? null,
		accent: own?.accent ?? general?.accent ?? null,
		logo: logoOf(own) ?? logoOf(general)
	};
	return brand.name === null && brand.accent === null && brand.logo === null ? null : brand;
}

function logoOf(row: store.BrandRow | undefined): BrandBody['logo'] {
	if (!row?.logo_file || row.logo_width === null || row.logo_height === null) return null;
	return { url: `/logos/${row.logo_file}`, width: row.logo_width, height: row.logo_height };
}

function logoColumns(logo: LogoPicture | 'keep' | 'remove') {
	if (logo === 'keep') return {};
	if (logo === 'remove') return { logo_file: null, logo_data: null, logo_width: null, logo_height: null };
	const { bytes, extension, width, height } = logo;
	return {
		logo_file: `${sha256Bytes(bytes).slice(0, HASH_LENGTH)}.${extension}`,
		logo_data: bytes.toString('base64'),
		logo_width: width,
		logo_height: height
	};
}

function checkedName(text: string): string | null {
	// Marks of direction come along when a name is copied from elsewhere; it needs none.
	const name = text
		.normalize('NFC')
		.replace(/[\u200e\u200f\u061c]/g, '')
		.replace(/\s+/g, ' ')
		.trim();
	// Characters that are not seen, or turn the text around them; joiners belong to some scripts.
	if (/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u.test(name.replace(/[\u200c\u200d]/g, ''))) {
		throw new BrandRefused('name_unseen', 'The name has characters that cannot be seen.');
	}
	if ([...name].length > MAX_BRAND_NAME) {
		throw new BrandRefused('name_long', `Use a name of at most ${MAX_BRAND_NAME} characters.`);
	}
	return name === '' ? null : name;
}

function checkedAccent(text: string): string {
	const colour = parseColour(text.trim());
	if (colour === null) throw new BrandRefused('colour_format', 'Use a colour such as #0a6b4b.');
	if (!accentOf(colour)) {
		throw new BrandRefused('colour_grey', 'A grey: links and buttons could not be told from text.');
	}
	return colour;
}

async function checkedLogo(bytes: Buffer): Promise<LogoPicture> {
	try {
		return await readLogo(bytes);
	} catch (error) {
		if (error instanceof LogoRefused) throw new BrandRefused('logo', error.message);
		throw error;
	}
}
