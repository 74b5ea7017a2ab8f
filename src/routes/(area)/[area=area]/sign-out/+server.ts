import { pathIn, signOut } from '#lib/server/web/sign-in/sign-in.ts';
import type { RequestHandler } from './$types';

export const POST: RequestHandler = (event) => {
	const { area } = event.params;
	return signOut(event, pathIn(area, `/${area}/sign-in${event.url.search}`));
};
