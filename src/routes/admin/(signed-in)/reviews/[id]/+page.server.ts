import { adminForm, adminPage } from '#lib/server/web/admin/admin.ts';
import { decideReview, reviewPage } from '#lib/server/web/admin/reviews.ts';

export const load = adminPage(reviewPage);

export const actions = { default: adminForm(decideReview) };
