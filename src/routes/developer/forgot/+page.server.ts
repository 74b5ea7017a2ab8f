import { mailLink, mailProblem } from '../link.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = (event) => ({ mailProblem: mailProblem(event) });

export const actions: Actions = { default: (event) => mailLink(event, { isNew: false }) };
