import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { accentOf, logoBox } from '#lib/domain/brand.ts';
import * as m from '#lib/i18n/messages.js';
import {
	type BrandProblem,
	type LogoProblem,
	MAX_BRAND_NAME,
	MAX_CONTACT,
	MAX_UPLOAD_BYTES,
	MAX_UPLOAD_SIDE
} from '../../branding.ts';
import { attempt, Refused } from '#lib/server/platform/errors.ts';
import { readFields } from '#lib/server/web/form.ts';
import type { OwnerVisitor } from './owner.ts';

const MAX_UPLOAD_MEGABYTES = MAX_UPLOAD_BYTES / 1024 ** 2;
const LOGO_PREVIEW = { tall: 96, widest: 256 };

export async function brandForm(event: RequestEvent, { actor }: OwnerVisitor) {
	const { name, contact, accent, logo, version } = await event.locals.app.branding.read(actor.accountId);
	return {
		name: name ?? '',
		contact: contact ?? '',
		colour: accent,
		version,
		logo: logo && { url: logo.url, ...logoBox(logo, LOGO_PREVIEW.tall, LOGO_PREVIEW.widest) },
		shown: accent === null ? null : accentOf(accent),
		maxName: MAX_BRAND_NAME,
		maxContact: MAX_CONTACT,
		maxMegabytes: MAX_UPLOAD_MEGABYTES,
		done: event.url.searchParams.get('done') === 'brand'
	};
}

export async function saveBrand(event: RequestEvent, { actor }: OwnerVisitor) {
	const { field, file } = await readFields(event.request);
	const [name, contact, version] = [field('name'), field('contact'), field('version')];
	// Without script, choosing another colour than the shown one does not select "Your own colour".
	const isChosen = field('shown') !== '' && field('colour') !== field('shown');
	const colour = field('which') === 'own' || isChosen ? field('colour') : null;
	const sent = await file('logo');
	const logo = sent ?? (field('remove') === '1' ? ('remove' as const) : ('keep' as const));
	const change = { name, contact, accent: colour, logo, version };
	const refused = await attempt(() =>
		event.locals.app.branding.change(actor.accountId, change, actor.personId)
	);
	if (refused instanceof Refused) {
		const isMoved = refused.reason === 'moved';
		const shown = { name, contact, colour, version: isMoved ? null : version };
		return fail(isMoved ? 409 : 400, { ...describeProblem(refused.reason as BrandProblem), ...shown });
	}
	redirect(303, `${event.url.pathname}?done=brand#brand`);
}

function describeProblem(reason: BrandProblem) {
	switch (reason) {
		case 'name_unseen':
			return { field: 'name', problem: m.owner_brand_name_unseen() } as const;
		case 'name_long':
			return { field: 'name', problem: m.owner_brand_name_long({ count: String(MAX_BRAND_NAME) }) } as const;
		case 'contact':
			return { field: 'contact', problem: m.owner_brand_contact_bad() } as const;
		case 'colour_format':
			return { field: 'colour', problem: m.owner_brand_colour_bad() } as const;
		case 'colour_grey':
			return { field: 'colour', problem: m.owner_brand_colour_grey() } as const;
		case 'moved':
			return { field: null, problem: m.owner_moved() } as const;
		default:
			return {
				field: 'logo',
				problem: m.owner_brand_logo_refused({ reason: LOGO_PROBLEMS[reason]() })
			} as const;
	}
}

const LOGO_PROBLEMS: Record<LogoProblem, () => string> = {
	logo_large: () => m.owner_logo_large({ size: String(MAX_UPLOAD_MEGABYTES) }),
	logo_pixels: () => m.owner_logo_pixels({ side: String(MAX_UPLOAD_SIDE) }),
	logo_narrow: m.owner_logo_narrow,
	logo_details: m.owner_logo_details,
	logo_svg: m.owner_logo_svg,
	logo_unreadable: m.owner_logo_unreadable
};
