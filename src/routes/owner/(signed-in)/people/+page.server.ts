import { ownerPage } from '#lib/server/web/owner/owner.ts';
import { peoplePage } from '#lib/server/web/owner/people.ts';

/** /owner/people?group=active|expired */
export const load = ownerPage(peoplePage);
